"""Sections with a wrong name, in the wrong file, out of order, or in two parts."""

from collections.abc import Iterator

from pddlego_local.pddl.domain import OF_A_PROBLEM
from pddlego_local.pddl.problem import ORDER
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Word, source
from pddlego_local.pddl.repair.actions import field_of
from pddlego_local.pddl.repair.text import Change, Text

_RENAMED = {"domain": {":objects": ":constants"}, "problem": {":constants": ":objects"}}
_LISTS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":objects", ":init")


def renamed(file: Text, _other: Text) -> Iterator[Change]:
    """`(types …)` becomes `(:types …)`; `(:actions (:action …) …)` its actions; objects of the
    domain become constants, and constants of the problem objects."""
    for section in file.block.items[2:] if file.block else ():
        word = section.items[0] if isinstance(section, Block) and section.items else None
        if not isinstance(section, Block) or not isinstance(word, Word):
            continue
        if word.name in (":actions", "actions") and all(map(_is_action, section.items[1:])):
            why = f"{file.file}: put the actions of `({word} …)` beside the other sections"
            yield file.change(section.offset, word.offset + len(word.text), "", why)
            yield file.change(section.end, section.end + 1, "", why)
            for action in section.items[1:]:
                if isinstance(action, Block) and action.head not in (":action", "action"):
                    yield file.change(action.offset, action.offset + 1, "(:action ", why)
            continue
        meant = _RENAMED[file.file].get(word.name) or _section_meant(word.name)
        if meant != word.name:
            why = f"{file.file}: renamed the section `{word}` to `{meant}`"
            yield file.replaced(word, meant, why)


def _is_action(item: Node) -> bool:
    """Whether the item is `(:action name …)`, or `(name :parameters …)` for it."""
    if not isinstance(item, Block) or not item.head:
        return False
    return item.head in (":action", "action") or any(map(field_of, item.items[1:]))


def _section_meant(name: str) -> str:
    if name in SECTIONS:
        return name
    guesses = (f":{name}", name.rstrip("s"), f":{name.rstrip('s')}", f"{name}s", f":{name}s")
    return next((guess for guess in guesses if guess in SECTIONS), name)


def moved_to_domain(problem: Text, domain: Text) -> Iterator[Change]:
    """`:types` and `:predicates` of the problem go to the domain, as far as it lacks them."""
    read = domain.domain
    if read is None or not read.whole:
        return
    declared = {predicate.word.name for predicate in read.predicates or ()}
    types: list[str] = []
    predicates: list[str] = []
    for section in problem.sections(":types", ":predicates"):
        why = "problem: moved what belongs to the domain there, or removed what it had already"
        yield problem.replaced(section, "", why)
        if section.head == ":predicates":
            lacking = [block for block in section.blocks if block.head not in declared]
            predicates += [source(problem.text, block) for block in lacking]
        elif not read.types:
            types.append(problem.inside(section))
    yield from added(domain, ":types", " ".join(filter(None, types)))
    yield from added(domain, ":predicates", " ".join(predicates))


def added(file: Text, section: str, entries: str, *why: str) -> Iterator[Change]:
    """Entries at the end of a section; a file that lacks it gains it at its top."""
    if not entries or file.block is None or len(file.block.items) < 2:
        return
    present = file.sections(section)
    if present:
        end = present[-1].end
        yield file.change(len(file.text[:end].rstrip()), end, f" {entries}", *why)
        return
    earlier = (":domain", ":requirements", *([] if section == ":types" else [":types"]))
    before = [file.block.items[1], *file.sections(*earlier)]
    end = max(node.end if isinstance(node, Block) else node.offset for node in before) + 1
    yield file.change(end, end, f"\n  ({section} {entries})", *why)


def in_order(file: Text, _other: Text) -> Iterator[Change]:
    """Sections stand in the planner's order; the parts of a list that stands twice are joined."""
    items = file.block.items[2:] if file.block else []
    blocks = [item for item in items if isinstance(item, Block)]
    allowed = SECTIONS - OF_A_PROBLEM if file.file == "domain" else frozenset(ORDER)
    if len(blocks) < len(items) or any(item.head not in allowed for item in blocks):
        return
    written = [(section.head, source(file.text, section)) for section in blocks]
    parts: list[tuple[str, str]] = []
    for section, (head, text) in zip(blocks, written, strict=True):
        earlier = next((n for n, (other, _) in enumerate(parts) if other == head), None)
        if earlier is not None and head in _LISTS:
            parts[earlier] = head, f"{parts[earlier][1][:-1].rstrip()} {file.inside(section)})"
        elif earlier is None or text != parts[earlier][1]:
            parts.append((head, text))
    parts.sort(key=lambda part: _rank(part[0], file))
    if parts != written:
        body = "\n  ".join(text for _, text in parts)
        why = f"{file.file}: put the sections in order and joined double ones"
        yield file.change(blocks[0].offset, blocks[-1].end + 1, body, why)


def _rank(section: str, file: Text) -> int:
    if file.file == "problem":
        return ORDER.index(section)
    return section in (":action", ":derived", ":durative-action")

"""Sections with a wrong name, in the wrong file, out of order, or in two parts."""

from pddlego_local.pddl.domain import OF_A_PROBLEM, REQUIREMENTS
from pddlego_local.pddl.problem import ORDER
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Patch, Word, source
from pddlego_local.pddl.repair.actions import field_of
from pddlego_local.pddl.repair.pair import Pair, Repair, Text

_RENAMED = {"domain": {":objects": ":constants"}, "problem": {":constants": ":objects"}}
_LISTS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":objects", ":init")


def renamed(file: Text) -> Repair:
    """`(types …)` becomes `(:types …)`; `(:actions (:action …) …)` its actions; objects of the
    domain become constants, and constants of the problem objects."""
    patches: list[Patch] = []
    changes: list[str] = []
    for section in file.block.items[2:] if file.block else ():
        word = section.items[0] if isinstance(section, Block) and section.items else None
        if not isinstance(section, Block) or not isinstance(word, Word):
            continue
        if word.name in (":actions", "actions") and all(map(_is_action, section.items[1:])):
            patches.append((section.offset, word.offset + len(word.text), ""))
            patches.append((section.end, section.end + 1, ""))
            for action in section.items[1:]:
                if isinstance(action, Block) and action.head not in (":action", "action"):
                    patches.append((action.offset, action.offset + 1, "(:action "))
            changes.append(
                f"{file.file}: put the actions of `({word} …)` beside the other sections"
            )
            continue
        meant = _RENAMED[file.file].get(word.name) or _section_meant(word.name)
        if meant != word.name:
            patches.append((word.offset, word.offset + len(word.text), meant))
            changes.append(f"{file.file}: renamed the section `{word}` to `{meant}`")
    return file.patched(patches), tuple(changes)


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


def without_unknown_requirements(file: Text) -> Repair:
    """What the planner does not know under `:requirements` goes."""
    unknown = [
        word
        for section in file.sections(":requirements")
        for word in section.items[1:]
        if isinstance(word, Word) and word.name not in REQUIREMENTS and word.name not in SECTIONS
    ]
    patches: list[Patch] = [(word.offset, word.offset + len(word.text), "") for word in unknown]
    changes = (f"{file.file}: removed the requirement `{word}`" for word in unknown)
    return file.patched(patches), tuple(changes)


def moved_to_domain(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """`:types` and `:predicates` of the problem go to the domain, as far as it lacks them."""
    domain = pair.domain.domain
    if domain is None or not domain.whole:
        return pair, ()
    declared_types = {entry.name for entry in domain.types}
    declared_predicates = {predicate.word.name for predicate in domain.predicates or ()}
    patches: list[Patch] = []
    lacking: dict[str, list[str]] = {":types": [], ":predicates": []}
    for section in pair.problem.sections(":types", ":predicates"):
        patches.append((section.offset, section.end + 1, ""))
        if section.head == ":predicates":
            lacking[":predicates"] += [
                source(pair.problem.text, item)
                for item in section.items[1:]
                if isinstance(item, Block) and item.head not in declared_predicates
            ]
        elif not declared_types:
            lacking[":types"].append(pair.problem.inside(section))
    if not patches:
        return pair, ()
    text = pair.domain
    for name, parts in lacking.items():
        text = with_added(text, name, " ".join(filter(None, parts)))
    changes = ("problem: moved what belongs to the domain there, or removed what it had already",)
    return Pair(text, pair.problem.patched(patches)), changes


def with_added(file: Text, section: str, entries: str) -> Text:
    """The file with entries put at the end of a section; one that lacks it gains it at its top."""
    text = file.text
    if not entries or file.block is None or len(file.block.items) < 2:
        return file
    present = file.sections(section)
    if present:
        end = present[-1].end
        return file.with_text(f"{text[:end].rstrip()} {entries}{text[end:]}")
    earlier = (":domain", ":requirements", *([] if section == ":types" else [":types"]))
    before = [file.block.items[1], *file.sections(*earlier)]
    end = max(node.end if isinstance(node, Block) else node.offset for node in before) + 1
    return file.with_text(f"{text[:end]}\n  ({section} {entries}){text[end:]}")


def in_order(file: Text) -> Repair:
    """Sections stand in the planner's order; the parts of a list that stands twice are joined."""
    items = file.block.items[2:] if file.block else []
    blocks = [item for item in items if isinstance(item, Block)]
    allowed = SECTIONS - OF_A_PROBLEM if file.file == "domain" else frozenset(ORDER)
    if len(blocks) < len(items) or any(item.head not in allowed for item in blocks):
        return file, ()
    parts: list[tuple[str, str]] = []
    for section in blocks:
        earlier = next((n for n, (head, _) in enumerate(parts) if head == section.head), None)
        if earlier is not None and section.head in _LISTS:
            joined = f"{parts[earlier][1][:-1].rstrip()} {file.inside(section)})"
            parts[earlier] = section.head, joined
        elif earlier is None or source(file.text, section) != parts[earlier][1]:
            parts.append((section.head, source(file.text, section)))
    ordered = sorted(parts, key=lambda part: _rank(part[0], file))
    if ordered == [(section.head, source(file.text, section)) for section in blocks]:
        return file, ()
    body = "\n  ".join(part for _, part in ordered)
    repaired = file.patched([(blocks[0].offset, blocks[-1].end + 1, body)])
    return repaired, (f"{file.file}: put the sections in order and joined double ones",)


def _rank(section: str, file: Text) -> int:
    if file.file == "problem":
        return ORDER.index(section)
    return section in (":action", ":derived", ":durative-action")

"""Sections with a wrong name, in the wrong file, out of order, or in two parts."""

from pddlego_local.pddl.domain import OF_A_PROBLEM, REQUIREMENTS
from pddlego_local.pddl.faults import File
from pddlego_local.pddl.problem import ORDER
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Patch, Word, source
from pddlego_local.pddl.repair.actions import field_of
from pddlego_local.pddl.repair.pair import (
    Mended,
    Pair,
    block_of,
    domain_of,
    inside,
    patched,
    problem_of,
    sections,
)

_RENAMED = {"domain": {":objects": ":constants"}, "problem": {":constants": ":objects"}}
_LISTS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":objects", ":init")


def renamed(text: str, file: File) -> Mended:
    """`(types …)` becomes `(:types …)`; `(:actions (:action …) …)` its actions; objects of the
    domain become constants, and constants of the problem objects."""
    block = block_of(text)
    patches: list[Patch] = []
    changes: list[str] = []
    for section in block.items[2:] if block is not None else ():
        word = section.items[0] if isinstance(section, Block) and section.items else None
        if not isinstance(section, Block) or not isinstance(word, Word):
            continue
        if word.name in (":actions", "actions") and all(map(_is_action, section.items[1:])):
            patches.append((section.offset, word.offset + len(word.text), ""))
            patches.append((section.end, section.end + 1, ""))
            for action in section.items[1:]:
                if isinstance(action, Block) and action.head not in (":action", "action"):
                    patches.append((action.offset, action.offset + 1, "(:action "))
            changes.append(f"{file}: put the actions of `({word} …)` beside the other sections")
            continue
        meant = _RENAMED[file].get(word.name) or _section_meant(word.name)
        if meant != word.name:
            patches.append((word.offset, word.offset + len(word.text), meant))
            changes.append(f"{file}: renamed the section `{word}` to `{meant}`")
    return Mended(patched(text, patches), tuple(changes))


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


def without_unknown_requirements(text: str, file: File) -> Mended:
    """What the planner does not know under `:requirements` goes."""
    block = block_of(text)
    unknown = [
        word
        for section in (sections(block, ":requirements") if block is not None else ())
        for word in section.items[1:]
        if isinstance(word, Word) and word.name not in REQUIREMENTS and word.name not in SECTIONS
    ]
    patches: list[Patch] = [(word.offset, word.offset + len(word.text), "") for word in unknown]
    changes = (f"{file}: removed the requirement `{word}`" for word in unknown)
    return Mended(patched(text, patches), tuple(changes))


def moved_to_domain(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """`:types` and `:predicates` of the problem go to the domain, as far as it lacks them."""
    domain, problem = domain_of(pair.domain), problem_of(pair.problem)
    if domain is None or problem is None or not domain.whole:
        return pair, ()
    declared_types = {entry.name for entry in domain.types}
    declared_predicates = {predicate.word.name for predicate in domain.predicates or ()}
    patches: list[Patch] = []
    lacking: dict[str, list[str]] = {":types": [], ":predicates": []}
    for section in sections(problem.block, ":types") + sections(problem.block, ":predicates"):
        patches.append((section.offset, section.end + 1, ""))
        if section.head == ":predicates":
            lacking[":predicates"] += [
                source(pair.problem, item)
                for item in section.items[1:]
                if isinstance(item, Block) and item.head not in declared_predicates
            ]
        elif not declared_types:
            lacking[":types"].append(inside(pair.problem, section))
    if not patches:
        return pair, ()
    text = pair.domain
    for name, parts in lacking.items():
        text = with_added(text, name, " ".join(filter(None, parts)))
    changes = ("problem: moved what belongs to the domain there, or removed what it had already",)
    return Pair(text, patched(pair.problem, patches)), changes


def with_added(text: str, section: str, entries: str) -> str:
    """The file with entries put at the end of a section; one that lacks it gains it at its top."""
    block = block_of(text)
    if not entries or block is None or len(block.items) < 2:
        return text
    present = sections(block, section)
    if present:
        end = present[-1].end
        return f"{text[:end].rstrip()} {entries}{text[end:]}"
    before = [block.items[1], *sections(block, ":domain"), *sections(block, ":requirements")]
    if section != ":types":
        before += sections(block, ":types")
    end = max(node.end if isinstance(node, Block) else node.offset for node in before) + 1
    return f"{text[:end]}\n  ({section} {entries}){text[end:]}"


def in_order(text: str, file: File) -> Mended:
    """Sections stand in the planner's order; the parts of a list that stands twice are joined."""
    block = block_of(text)
    items = block.items[2:] if block is not None else []
    blocks = [item for item in items if isinstance(item, Block)]
    allowed = SECTIONS - OF_A_PROBLEM if file == "domain" else frozenset(ORDER)
    if len(blocks) < len(items) or any(item.head not in allowed for item in blocks):
        return Mended(text)
    parts: list[tuple[str, str]] = []
    for section in blocks:
        earlier = next((n for n, (head, _) in enumerate(parts) if head == section.head), None)
        if earlier is not None and section.head in _LISTS:
            joined = f"{parts[earlier][1][:-1].rstrip()} {inside(text, section)})"
            parts[earlier] = section.head, joined
        elif earlier is None or source(text, section) != parts[earlier][1]:
            parts.append((section.head, source(text, section)))
    ordered = sorted(parts, key=lambda part: _rank(part[0], file))
    if ordered == [(section.head, source(text, section)) for section in blocks]:
        return Mended(text)
    body = "\n  ".join(part for _, part in ordered)
    mended = text[: blocks[0].offset] + body + text[blocks[-1].end + 1 :]
    return Mended(mended, (f"{file}: put the sections in order and joined double ones",))


def _rank(section: str, file: File) -> int:
    if file == "problem":
        return ORDER.index(section)
    return section in (":action", ":derived", ":durative-action")

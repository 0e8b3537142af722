"""Lists of names with types: parentheses and dashes in them, missing types, names declared twice,
and objects that actions name."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pddlego_local.pddl.reader import Block, Node, Patch, Word
from pddlego_local.pddl.repair.pair import Pair, Repair, Text
from pddlego_local.pddl.repair.sections import with_added
from pddlego_local.pddl.task import Condition, Domain, TypedName

_RESERVED = frozenset({"object", "number", "either"})


def flattened(file: Text) -> Repair:
    """`(a - t) (b - t)` inside a list becomes `a - t b - t`, and `-t` becomes `- t`."""
    patches: list[Patch] = []
    for start, items in _typed_lists(file):
        before: Node | None = None
        for item in items[start:]:
            follows_dash = isinstance(before, Word) and before.name == "-"
            if isinstance(item, Block) and item.head != "either" and not follows_dash:
                patches.append((item.offset, item.offset + 1, " "))
                patches.append((item.end, item.end + 1, " "))
            elif isinstance(item, Word) and item.name[0] == "-" and len(item.name) > 1:
                patches.append((item.offset, item.offset + 1, "- "))
            before = item
    change = f"{file.file}: removed parentheses and set blanks in lists of names"
    return file.patched(patches), (change,) * bool(patches)


def _typed_lists(file: Text) -> Iterator[tuple[int, list[Node]]]:
    """Every list of typed names, with the number of items before the first name."""
    for section in file.sections(":types", ":constants", ":objects"):
        yield 1, section.items
    for section in file.sections(":predicates"):
        for predicate in section.items[1:]:
            if isinstance(predicate, Block):
                yield 1, predicate.items
    for action in file.sections(":action"):
        if len(action.items) > 3 and isinstance(action.items[3], Block):
            key = action.items[2]
            if isinstance(key, Word) and key.name == ":parameters":
                yield 0, action.items[3].items


def with_all_types(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """Types that are used but not declared are declared, under `object`."""
    domain, problem = pair.domain.domain, pair.problem.problem
    if domain is None or problem is None or not (domain.types_complete and domain.whole):
        return pair, ()
    declared = {entry.name for entry in domain.types} | _RESERVED
    missing: dict[str, Word] = {}
    for entry in (*problem.objects, *_typed_names(domain)):
        for word in entry.types:
            if word.name not in declared and word.name[0] not in "?:-":
                missing.setdefault(word.name, word)
    if not missing:
        return pair, ()
    entries = " ".join(word.text for word in missing.values())
    changes = (f"domain: declared {_quoted(missing.values())} under `:types`",)
    return Pair(with_added(pair.domain, ":types", entries), pair.problem), changes


def _quoted(words: Iterable[Word]) -> str:
    """The words as a change shows them: "`a`, `b`", eight at most."""
    names = [f"`{word}`" for word in words]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _typed_names(domain: Domain) -> Iterator[TypedName]:
    yield from domain.constants
    for predicate in domain.predicates or ():
        yield from predicate.parameters or ()
    for action in domain.actions:
        yield from action.parameters


def with_objects_declared_once(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """Objects that actions name become constants; of several declarations the first counts."""
    domain, problem = pair.domain.domain, pair.problem.problem
    if domain is None or problem is None:
        return pair, ()
    if not (domain.constants_complete and problem.objects_complete):
        return pair, ()
    constants = _first_of_each(domain.constants, ())
    objects = _first_of_each(problem.objects, constants)
    named = dict.fromkeys(_terms(domain))
    hoisted = {name: entry for name, entry in objects.items() if name in named}
    kept = {name: entry for name, entry in objects.items() if name not in hoisted}
    changes = []
    if hoisted:
        words = (entry.word for entry in hoisted.values())
        changes.append(f"moved {_quoted(words)} from `:objects` to `:constants`: actions name them")
    if len(constants) < len(domain.constants):
        changes.append("domain: removed constants that were declared twice")
    if len(objects) < len(problem.objects):
        changes.append("problem: removed objects that were declared already")
    all_constants = [*constants.values(), *hoisted.values()]
    if len(all_constants) != len(domain.constants) or len(constants) < len(domain.constants):
        pair = replace(pair, domain=_with_list(pair.domain, ":constants", all_constants))
    if len(kept) < len(problem.objects):
        pair = replace(pair, problem=_with_list(pair.problem, ":objects", list(kept.values())))
    return pair, tuple(changes)


def _first_of_each(entries: Iterable[TypedName], excluded: Iterable[str]) -> dict[str, TypedName]:
    first: dict[str, TypedName] = {}
    for entry in entries:
        if entry.name not in excluded:
            first.setdefault(entry.name, entry)
    return first


def _terms(domain: Domain) -> Iterator[str]:
    """Every term in the conditions and effects of a domain."""
    conditions: list[Condition] = [axiom.condition for axiom in domain.axioms]
    for action in domain.actions:
        conditions += [action.precondition, *action.effect.conditions]
        for change in action.effect.changes:
            yield from change.atom.key[1:]
    for condition in conditions:
        for literal in condition.literals:
            yield from literal.atom.key[1:]


def _with_list(file: Text, name: str, entries: list[TypedName]) -> Text:
    """The file with this section holding exactly these names."""
    written: list[str] = []
    for number, entry in enumerate(entries):
        following = entries[number + 1] if number + 1 < len(entries) else None
        written.append(entry.word.text)
        types = [word.name for word in entry.types]
        if following is None or types != [word.name for word in following.types]:
            kind = entry.types[0].text if entry.types else "object"
            written += ["-", kind] if entry.types or following is not None else []
    present = file.sections(name)
    if not present:
        return with_added(file, name, " ".join(written))
    list_ = f"({' '.join([name, *written])})"
    return file.patched([(present[0].offset, present[0].end + 1, list_)])

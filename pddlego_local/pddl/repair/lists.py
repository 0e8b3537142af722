"""Lists of names and facts: missing types, what is declared or stated twice, objects that actions
name."""

from collections.abc import Iterable, Iterator

from pddlego_local.pddl.reader import Block, Word, source
from pddlego_local.pddl.repair.sections import added
from pddlego_local.pddl.repair.text import Change, Text
from pddlego_local.pddl.task import Domain, TypedName

_RESERVED = frozenset({"object", "number", "either"})


def with_all_types(domain: Text, problem: Text) -> Iterator[Change]:
    """Types that are used but not declared are declared, under `object`."""
    read, beside = domain.domain, problem.problem
    if read is None or beside is None or ":types" in read.unreadable or not read.whole:
        return
    declared = {entry.name for entry in read.types} | _RESERVED
    missing: dict[str, Word] = {}
    for entry in (*beside.objects, *_typed_names(read)):
        for word in entry.types:
            if word.name not in declared and word.name[0] not in "?:-":
                missing.setdefault(word.name, word)
    entries = " ".join(word.text for word in missing.values())
    why = f"domain: declared {_quoted(missing.values())} under `:types`"
    yield from added(domain, ":types", entries, why)


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


def with_objects_declared_once(domain: Text, problem: Text) -> Iterator[Change]:
    """Objects that actions name become constants; of several declarations the first counts."""
    read, beside = domain.domain, problem.problem
    if read is None or beside is None:
        return
    if ":constants" in read.unreadable or ":objects" in beside.unreadable:
        return
    constants = _first_of_each(read.constants, ())
    objects = _first_of_each(beside.objects, constants)
    named = set(_terms(read))
    hoisted = [entry for name, entry in objects.items() if name in named]
    kept = [entry for name, entry in objects.items() if name not in named]
    if hoisted or len(constants) < len(read.constants):
        told = []
        if hoisted:
            words = _quoted(entry.word for entry in hoisted)
            told.append(f"moved {words} from `:objects` to `:constants`: actions name them")
        if len(constants) < len(read.constants):
            told.append("domain: removed constants that were declared twice")
        yield from _listing(domain, ":constants", [*constants.values(), *hoisted], *told)
    if len(kept) < len(beside.objects):
        twice = len(objects) < len(beside.objects)
        told = ["problem: removed objects that were declared already"] * twice
        yield from _listing(problem, ":objects", kept, *told)


def _first_of_each(entries: Iterable[TypedName], excluded: Iterable[str]) -> dict[str, TypedName]:
    first: dict[str, TypedName] = {}
    for entry in entries:
        if entry.name not in excluded:
            first.setdefault(entry.name, entry)
    return first


def _terms(domain: Domain) -> Iterator[str]:
    """Every term in the conditions and effects of a domain."""
    literals = [literal for axiom in domain.axioms for literal in axiom.condition.literals]
    for action in domain.actions:
        literals += action.effect.changes
        for condition in (action.precondition, *action.effect.conditions):
            literals += condition.literals
    for literal in literals:
        yield from literal.atom.key[1:]


def _listing(file: Text, name: str, entries: list[TypedName], *why: str) -> Iterator[Change]:
    """This section holding exactly these names."""
    written: list[str] = []
    for number, entry in enumerate(entries):
        following = entries[number + 1] if number + 1 < len(entries) else None
        written.append(entry.word.text)
        types = [word.name for word in entry.types]
        if following is None or types != [word.name for word in following.types]:
            kind = entry.types[0].text if entry.types else "object"
            written += ["-", kind] if entry.types or following is not None else []
    present = file.sections(name)
    if present:
        yield file.replaced(present[0], f"({' '.join([name, *written])})", *why)
    else:
        yield from added(file, name, " ".join(written), *why)


def with_plain_facts(problem: Text, _domain: Text) -> Iterator[Change]:
    """`:init` lists what is true, each fact once: no `(not …)`, which says nothing, no `and`."""
    joined: list[Block] = []
    seen: set[str] = set()
    for block in (block for section in problem.sections(":init") for block in section.blocks):
        joins = block.head == "and" and block.blocks == block.items[1:]
        if joins:
            joined.append(block)
        for fact in block.blocks if joins else [block]:
            tidied = " ".join(source(problem.text, fact).lower().split())
            if fact.head == "not":
                yield problem.replaced(fact, "", "problem: removed `(not …)` from `:init`")
            elif tidied in seen:
                why = "problem: removed facts that stood twice in `:init`"
                yield problem.replaced(fact, "", why)
            seen.add(tidied)
    for block in joined:
        why = "problem: removed `and` around the facts of `:init`"
        word = block.items[0]
        yield from problem.unwrapped(block, word.offset + len("and"), why)

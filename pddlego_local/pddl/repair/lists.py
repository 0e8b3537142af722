"""Lists of names and facts: parentheses and dashes in them, missing types, what is declared or
stated twice, objects that actions name, the domain's name, the goal."""

from collections.abc import Iterable, Iterator

from pddlego_local.pddl.reader import Block, Node, Word, source
from pddlego_local.pddl.repair.sections import added
from pddlego_local.pddl.repair.text import Change, Text
from pddlego_local.pddl.task import Domain, TypedName

_RESERVED = frozenset({"object", "number", "either"})


def flattened(file: Text, _other: Text) -> Iterator[Change]:
    """`(a - t) (b - t)` inside a list becomes `a - t b - t`, and `-t` becomes `- t`."""
    why = f"{file.file}: removed parentheses and set blanks in lists of names"
    for items in _typed_lists(file):
        before: Node | None = None
        for item in items:
            follows_dash = isinstance(before, Word) and before.name == "-"
            if isinstance(item, Block) and item.head != "either" and not follows_dash:
                yield from file.unwrapped(item, item.offset + 1, why)
            elif isinstance(item, Word) and item.name[0] == "-" and len(item.name) > 1:
                yield file.change(item.offset, item.offset + 1, "- ", why)
            before = item


def _typed_lists(file: Text) -> Iterator[list[Node]]:
    for section in file.sections(":types", ":constants", ":objects"):
        yield section.items[1:]
    for section in file.sections(":predicates"):
        for predicate in section.blocks:
            yield predicate.items[1:]
    for action in file.sections(":action"):
        match action.items[2:4]:
            case [Word(name=":parameters"), Block(items=parameters)]:
                yield parameters


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


def without_double_predicates(domain: Text, _problem: Text) -> Iterator[Change]:
    """Of a predicate declared twice with as many parameters the first declaration stays."""
    arities = {
        predicate.word.offset: (predicate.word.name, len(predicate.parameters))
        for predicate in (domain.domain.predicates or () if domain.domain else ())
        if predicate.parameters is not None
    }
    seen: set[tuple[str, int]] = set()
    for block in (b for section in domain.sections(":predicates") for b in section.blocks):
        arity = arities.get(block.items[0].offset) if block.items else None
        if arity in seen:
            yield domain.replaced(block, "", "domain: removed predicates that were declared twice")
        elif arity is not None:
            seen.add(arity)


def with_the_domains_name(problem: Text, domain: Text) -> Iterator[Change]:
    """`(:domain …)` names the domain that there is."""
    name = domain.domain.word if domain.domain is not None else None
    read = problem.problem
    if name is None or read is None or len(read.block.items) < 2:
        return
    word, title = read.domain_word, read.block.items[1]
    why = f"problem: wrote `(:domain {name})`, the domain's name"
    if word is not None and word.name != name.name:
        yield problem.replaced(word, name.text, why)
    elif not problem.sections(":domain") and isinstance(title, Block):
        yield problem.change(title.end + 1, title.end + 1, f"\n  (:domain {name.text})", why)


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


def with_one_goal(problem: Text, _domain: Text) -> Iterator[Change]:
    """The conditions of a goal are joined by `and`."""
    for goal in problem.sections(":goal"):
        parts = goal.items[1:]
        if len(parts) == 1 and isinstance(parts[0], Block) and not parts[0].head:
            parts = parts[0].items
        blocks = [part for part in parts if isinstance(part, Block)]
        if blocks and len(blocks) == len(parts) and parts != goal.items[1:2]:
            joined = " ".join(source(problem.text, part) for part in blocks)
            why = "problem: joined the conditions of `:goal` by `and`"
            yield problem.replaced(goal, f"(:goal (and {joined}))", why)

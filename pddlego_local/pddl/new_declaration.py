"""Declares a name that is used as an object and not declared, for a repair
(repair.py), with the type that its uses demand.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from pddlego_local.pddl.changes import Change, Edit, Pair
from pddlego_local.pddl.check import Examined
from pddlego_local.pddl.faults import File
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Atom, Literal

_DECLARED_IN: Mapping[File, str] = {"domain": ":constants", "problem": ":objects"}
_SECTIONS_AFTER: Mapping[File, Sequence[str]] = {
    "domain": (":predicates",),
    "problem": (":init", ":goal"),
}
_NEW_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def new_declaration(pair: Pair, word: Word) -> Change | None:
    """Declares a name that is used as an object: as a constant if the domain uses it.
    Returns None if the uses demand no type or several, or if the rung would not allow
    the name.
    """
    if not pair.knows.declared or word.name in pair.symbols.objects:
        return None
    uses = _uses_of(word.name, pair)
    if not any(use.term is word for use in uses):
        return None
    name = _new_name(word, pair.knows.names)
    kind = _type_demanded(uses, pair)
    if not name or not kind:
        return None
    file: File = "domain" if any(use.file == "domain" for use in uses) else "problem"
    return _with_declaration(pair, file, f"{name} - {kind}")


def _new_name(word: Word, names: Collection[str] | None) -> str:
    """The name as the rung may declare it; "" if it may not."""
    if names is None:
        return word.text if _NEW_NAME.fullmatch(word.name) else ""
    spelled = {name.lower(): name for name in names}
    return spelled.get(word.name, "")


def _with_declaration(pair: Pair, file: File, entry: str) -> Change | None:
    """Puts an entry at the beginning of the list of objects or constants, where it
    gives no other name its type. A list that is missing is written.
    """
    root = pair.roots[file]
    sections = {block.head: block for block in reversed(root.blocks)} if root else {}
    head = _DECLARED_IN[file]
    what = f"declared {entry}"
    if head in sections:
        after = sections[head].items[0].stop
        return Change(file, (Edit(after, after, f" {entry}"),), what)
    for name in _SECTIONS_AFTER[file]:
        if name in sections:
            before = sections[name].offset
            return Change(file, (Edit(before, before, f"({head} {entry}) "),), what)
    return None


# ---- The type that uses demand


class _Use(NamedTuple):
    """A use of a name as a term of a fact. `types` are those of which it must have
    one, empty if its predicate is not declared with so many parameters.
    """

    file: File
    term: Word
    types: frozenset[str]


def _uses_of(name: str, pair: Examined) -> list[_Use]:
    """Returns all uses of a name in both files."""
    found = []
    for file, atom in _atoms(pair):
        predicates = pair.symbols.predicates or {}
        predicate = predicates.get(atom.predicate.name)
        parameters = predicate.parameters if predicate else None
        is_declared = parameters is not None and len(parameters) == len(atom.terms)
        for place, term in enumerate(atom.terms):
            if term.name == name:
                types = frozenset[str]()
                if parameters is not None and is_declared:
                    types = parameters[place].type_names
                found.append(_Use(file, term, types))
    return found


def _type_demanded(uses: list[_Use], pair: Examined) -> str:
    """Returns the most specific type that all uses demand, as the domain spells it; ""
    if no use demands a type, if no demanded type fits all uses, or if several do.
    """
    types = pair.symbols.types
    demands = [use.types for use in uses if use.types]
    fitting = [
        own
        for own in frozenset[str]().union(*demands) & types.declared
        if all(wanted & types.with_ancestors(own) for wanted in demands)
    ]
    if len(fitting) != 1:
        return ""
    spelled = {entry.name: entry.word.text for entry in pair.domain.types}
    return spelled.get(fitting[0], fitting[0])


def _atoms(pair: Examined) -> Iterator[tuple[File, Atom]]:
    for literal in _literals_of_domain(pair):
        yield "domain", literal.atom
    goal = pair.problem.goal
    for literal in (*pair.problem.init, *(goal.literals if goal else ())):
        yield "problem", literal.atom


def _literals_of_domain(pair: Examined) -> Iterator[Literal]:
    for axiom in pair.domain.axioms:
        yield from axiom.condition.literals
    for action in pair.domain.actions:
        yield from action.precondition.literals
        yield from action.effect.changes
        for condition in action.effect.conditions:
            yield from condition.literals

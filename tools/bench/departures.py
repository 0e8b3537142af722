"""Why an answer that a planner solved lies outside the rung "typed": every reason there is.

The reasons are looked for in the answer's own structure, with the checker's reader and none of the
grammars. So they say independently what the rung means, and a departure without one is a bug.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pddlego_local.decoding.grammars.terminals import MOST_LETTERS, OPERATORS, looping_prefix
from pddlego_local.decoding.staged.declarations import ActionSchema, Declarations, declarations
from pddlego_local.decoding.staged.limits import (
    MOST_CONSTANTS,
    MOST_OBJECTS,
    MOST_PARAMETERS,
    MOST_PREDICATES,
    MOST_TYPES,
    most_facts,
)
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, Node, Word, read
from pddlego_local.pddl.task import Domain, Literal, Problem, TypedName

ORDER = (":types", ":constants", ":predicates", ":action")
NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)

Parameters = tuple[tuple[str, str], ...]
Terms = Mapping[str, str]


@dataclass(frozen=True)
class Pair:
    """A pair that the planner's translator takes; `told` are the environment's actions."""

    text: str
    domain: Domain
    problem: Problem
    declared: Declarations
    told: Mapping[str, Parameters]

    @classmethod
    def of(cls, domain: str, problem: str, told: Mapping[str, Parameters]) -> "Pair":
        block = read(problem, lambda *_: None)
        assert block is not None
        found, task = domain_of(domain), read_problem(block, FaultLog("problem", ""))
        return cls(
            f"{domain}\n{problem}", found, task, declarations(found).with_objects(task), told
        )


def told_parameters(actions: tuple[ActionSchema, ...]) -> dict[str, Parameters]:
    """From an action's name to its parameters as (variable, type); lower case but for variables."""
    return {
        action.name.lower(): tuple((name, kind.lower()) for name, kind in action.parameters)
        for action in actions
    }


def departures(pair: Pair) -> list[str]:
    """Titles of REASONS, none if the pair's structure is one that the rung can write."""
    return [title for title, holds in REASONS.items() if holds(pair)]


def _signatures(pair: Pair) -> Iterator[tuple[str, Parameters]]:
    for action in pair.domain.actions:
        parameters = ((entry.word.text, _type(entry)) for entry in action.parameters)
        yield action.word.name, tuple(parameters)


def _signature_departs(how: Callable[[Parameters, Parameters], bool]) -> Callable[[Pair], bool]:
    """Whether some action is told with other parameters, and departs from them so."""

    def holds(pair: Pair) -> bool:
        pairs = ((pair.told.get(name), own) for name, own in _signatures(pair))
        return any(told is not None and told != own and how(told, own) for told, own in pairs)

    return holds


def _no_such_action(pair: Pair) -> bool:
    return any(name not in pair.told for name, _ in _signatures(pair))


def _type_not_declared(pair: Pair) -> bool:
    """The rung adds the types of all action schemas, also of those that the answer leaves out."""
    declared = {entry.name for entry in pair.domain.types} | {"object"}
    return any(kind not in declared for told in pair.told.values() for _, kind in told)


def _other_domain_name(pair: Pair) -> bool:
    named = pair.problem.domain_word
    return named is not None and named.text != pair.declared.domain_name


def _sections(pair: Pair) -> list[str]:
    return [item.head for item in pair.domain.block.items if isinstance(item, Block)]


def _other_order(pair: Pair) -> bool:
    ranks = [ORDER.index(head) for head in _sections(pair) if head in ORDER]
    return ranks != sorted(ranks)


def _numbers(pair: Pair) -> bool:
    return bool(pair.problem.values) or not {":functions", ":derived"}.isdisjoint(_sections(pair))


def _repeated(pair: Pair) -> bool:
    lists = (
        [entry.name for entry in pair.domain.types],
        [predicate.word.name for predicate in pair.domain.predicates or ()],
        [action.word.name for action in pair.domain.actions],
        [entry.name for entry in (*pair.domain.constants, *pair.problem.objects)],
    )
    return any(len(set(names)) < len(names) for names in lists)


def _said_twice(pair: Pair) -> bool:
    """A fact, or an operand of `and` or `or`."""
    facts = [fact.atom.key for fact in pair.problem.init]
    bodies = [item for item in pair.domain.block.items if isinstance(item, Block)]
    goal = [pair.problem.goal_block] if pair.problem.goal_block else []
    twice = any(_repeats_operand(block) for block in (*bodies, *goal))
    return twice or len(set(facts)) < len(facts)


def _repeats_operand(block: Block) -> bool:
    blocks = [item for item in block.items if isinstance(item, Block)]
    if block.head in ("and", "or"):
        operands = [_words(item) for item in blocks]
        if len(set(operands)) < len(operands):
            return True
    return any(map(_repeats_operand, blocks))


def _words(node: Node) -> Any:
    return node.name if isinstance(node, Word) else tuple(map(_words, node.items))


def _parameter_twice(pair: Pair) -> bool:
    lists = [predicate.parameters or [] for predicate in pair.domain.predicates or ()]
    return any(len({entry.name for entry in own}) < len(own) for own in lists)


def _operator_as_predicate(pair: Pair) -> bool:
    return any(predicate.word.name in OPERATORS for predicate in pair.domain.predicates or ())


def _nothing_with_parameters(pair: Pair) -> bool:
    return any(pair.told.values()) and not any(p.parameters for p in pair.domain.predicates or ())


def _long_list(pair: Pair) -> bool:
    domain = pair.domain
    counts = (
        (len(domain.types), MOST_TYPES),
        (len(domain.constants), MOST_CONSTANTS),
        (len(domain.predicates or ()), MOST_PREDICATES),
        (
            max((len(p.parameters or ()) for p in domain.predicates or ()), default=0),
            MOST_PARAMETERS,
        ),
        (len(pair.problem.objects), MOST_OBJECTS),
        (len(pair.problem.init), most_facts(len(pair.declared.things))),
    )
    return any(count > most for count, most in counts)


def _long_name(pair: Pair) -> bool:
    """Or one that holds a part three times in a row."""
    words = re.findall(r"[\w-]+", pair.text)
    return any(len(word) > MOST_LETTERS or looping_prefix(word) for word in words)


def _literals(pair: Pair) -> Iterator[tuple[Literal, Terms]]:
    """Each with the type of every term that it may name."""
    constants = _types_of(pair.domain.constants)
    objects = constants | _types_of(pair.problem.objects)
    for action in pair.domain.actions:
        terms = constants | _types_of(action.parameters)
        conditions = [action.precondition, *action.effect.conditions]
        for literal in (*action.effect.changes, *(one for c in conditions for one in c.literals)):
            yield literal, terms | _types_of(literal.scope)
    for literal in (*pair.problem.init, *(pair.problem.goal.literals if pair.problem.goal else ())):
        yield literal, objects | _types_of(literal.scope)


def _types_of(entries: list[TypedName] | tuple[TypedName, ...]) -> dict[str, str]:
    return {entry.name: _type(entry) for entry in entries}


def _type(entry: TypedName) -> str:
    return entry.types[0].name if entry.types else "object"


def _wrong_type(pair: Pair) -> bool:
    wanted = {name.lower(): kinds for name, kinds in pair.declared.predicates}
    return any(
        not pair.declared.fits(terms[term.name], kind)
        for literal, terms in _literals(pair)
        for term, kind in zip(
            literal.atom.terms, wanted.get(literal.atom.predicate.name, ()), strict=False
        )
    )


def _variables(pair: Pair) -> Iterator[list[TypedName]]:
    """The lists of variables that are not actions' parameters."""
    yield from (predicate.parameters or [] for predicate in pair.domain.predicates or ())
    yield from _quantified(pair)


def _quantified(pair: Pair) -> Iterator[list[TypedName]]:
    for action in pair.domain.actions:
        yield from action.effect.quantified
        for condition in (action.precondition, *action.effect.conditions):
            yield from condition.quantified
    yield from pair.problem.goal.quantified if pair.problem.goal else ()


def _unknown_type(pair: Pair) -> bool:
    known = {name.lower() for name in pair.declared.known_types}
    return any(_type(entry) not in known for entries in _variables(pair) for entry in entries)


def _other_quantifier(pair: Pair) -> bool:
    return any(len(entries) > 1 or not entries[0].types for entries in _quantified(pair))


def _other_case(pair: Pair) -> bool:
    """Predicates, constants, objects and types are spelled as they are declared."""
    names = [*pair.declared.things, *(name for name, _ in pair.declared.predicates)]
    declared = {name.lower(): name for name in names}
    types = {name.lower(): name for name in pair.declared.known_types}
    used = [w for one, _ in _literals(pair) for w in (one.atom.predicate, *one.atom.terms)]
    lists = [pair.domain.constants, pair.problem.objects, *_variables(pair)]
    kinds = [word for entries in lists for entry in entries for word in entry.types]
    return _misspelled(used, declared) or _misspelled(kinds, types)


def _misspelled(words: list[Word], declared: Mapping[str, str]) -> bool:
    return any(declared.get(word.name, word.text) != word.text for word in words)


def _strange_name(pair: Pair) -> bool:
    entries = [*pair.domain.types, *pair.domain.constants, *pair.problem.objects]
    words = [entry.word for entry in entries]
    words += [predicate.word for predicate in pair.domain.predicates or ()]
    return any(not NAME.fullmatch(word.text) for word in words)


REASONS: dict[str, Callable[[Pair], bool]] = {
    "an action that was not told": _no_such_action,
    "an action with more or fewer parameters": _signature_departs(lambda a, b: len(a) != len(b)),
    "an action with its parameters in another order": _signature_departs(
        lambda a, b: sorted(a) == sorted(b)
    ),
    "an action with another variable or type": _signature_departs(
        lambda a, b: len(a) == len(b) and sorted(a) != sorted(b)
    ),
    "an action without effect": lambda p: any(not a.effect.changes for a in p.domain.actions),
    "a type of an action schema is not declared": _type_not_declared,
    "no `:types`": lambda p: ":types" not in _sections(p),
    "sections of the domain in another order": _other_order,
    "another `:domain` name": _other_domain_name,
    "numbers or axioms": _numbers,
    "a name declared twice": _repeated,
    "a name of other characters": _strange_name,
    "a name in another case than declared": _other_case,
    "an argument of the wrong type": _wrong_type,
    "a variable of an unknown type": _unknown_type,
    "a quantifier over several variables or untyped ones": _other_quantifier,
    "a fact or an operand said twice": _said_twice,
    "a predicate's parameter named twice": _parameter_twice,
    "an operator as predicate": _operator_as_predicate,
    "no predicate with parameters": _nothing_with_parameters,
    "a list longer than its bound": _long_list,
    "a name too long, or a loop": _long_name,
    "a negated initial fact": lambda p: any(fact.negated for fact in p.problem.init),
}

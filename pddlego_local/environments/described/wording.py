"""Puts PDDL into words: what holds at the start, the goal, and what each action needs,
makes true, and makes false.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Block, read, source
from pddlego_local.pddl.task import (
    ActionDefinition,
    Effect,
    Literal,
    Problem,
    TypedName,
    WrittenCondition,
)

Words = Mapping[str, str]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_START = (
    "At the start these facts hold, and no others; each is beside the first object it"
    " names:"
)


@dataclass(frozen=True)
class Vocabulary:
    """`phrases` are the words for predicates, such as "{0} is at {1}". A predicate
    without a phrase appears under its name. `spoken` are the words for terms, such as
    "the truck".
    """

    phrases: Words
    spoken: Words = field(default_factory=dict)

    def fact(self, fact: Sequence[str]) -> str:
        """Returns (predicate, term, …) in words."""
        predicate, *terms = fact
        things = [self.spoken.get(term, term) for term in terms]
        phrase = self.phrases.get(predicate, "")
        if predicate == "=" and len(things) == 2:
            phrase = phrase or "{0} is {1}"
        if phrase:
            return phrase.format(*things)
        if things:
            return f'"{predicate}" holds of {_list(things)}'
        return f'"{predicate}" holds'

    def facts(self, literals: Sequence[Literal]) -> str:
        said = []
        for literal in literals:
            fact = self.fact(literal.atom.key)
            said.append(f"not: {fact}" if literal.negated else fact)
        return "; ".join(said) or "nothing"

    def condition(self, condition: WrittenCondition, text: str) -> str:
        """Returns a conjunction of facts in words, and any other condition as `text`
        has it.
        """
        if condition.plain:
            return self.facts(condition.literals)
        return source(text, condition.block)


def task_in_words(domain: str, problem: str, phrases: Words) -> str:
    """Returns a line for each object on its type and the facts that begin with it, a
    line for the goal, and the lines of `rules_in_words`. Values of functions, the
    metric, derived predicates, and a goal that is not a conjunction of facts are quoted
    as PDDL. If a file has a syntax fault, the result is one line with the first fault.
    """
    for fault in check(domain, problem).faults:
        if fault.kind == "syntax":
            return f"The PDDL cannot be put into words: {fault}."
    constants = read_domain(read(domain)).constants
    task = read_problem(read(problem))
    things = {thing.name: thing for thing in (*constants, *task.objects)}
    spoken = {name: thing.word.text for name, thing in things.items()}
    vocabulary = Vocabulary(phrases, spoken)
    values = [source(problem, value.block) for value in task.values]
    lines = [_START, *_start_in_words(task, things, values, vocabulary)]
    if task.goal:
        goal = vocabulary.condition(task.goal, problem)
        lines.append(f"The goal: {goal}.")
    quoted = [source(problem, block) for block in _sections(problem, ":metric")]
    quoted += [source(domain, block) for block in _sections(domain, ":derived")]
    for section in quoted:
        lines.append(f"The PDDL also says: {section}.")
    lines.append(rules_in_words(domain, phrases))
    return "\n".join(lines)


def _start_in_words(
    task: Problem,
    things: Mapping[str, TypedName],
    values: Sequence[str],
    vocabulary: Vocabulary,
) -> Iterator[str]:
    """Yields a line for each thing that is declared or that a fact begins with, and one
    for the facts that begin with none. `values` are the values of functions as PDDL.
    """
    begun: dict[str, list[str]] = {name: [] for name in things}
    loose = []
    named = set()
    for literal in task.init:
        said = vocabulary.facts([literal])
        _, *terms = literal.atom.key
        named.update(terms)
        if terms:
            begun.setdefault(terms[0], []).append(said)
        else:
            loose.append(said)
    for name, facts in begun.items():
        title = f"{name}, undeclared"
        if name in things:
            kind = _a(things[name].kind)
            title = f"{vocabulary.spoken[name]}, {kind}"
        if facts:
            title += f": {'; '.join(facts)}"
        elif name not in named:
            title += ": no fact names it"
        yield f"  {title}."
    loose += values
    if loose:
        yield f"  {'; '.join(loose)}."


def rules_in_words(domain: str, phrases: Words) -> str:
    """Returns a line for each type with a parent and for each constant, and for each
    action lines on the things that it takes, what it needs, and what it makes true and
    false. `phrases` has the words for a predicate, as in `Vocabulary`. A condition or
    effect that is not a conjunction of facts is quoted as PDDL. A text that is not a
    domain has no lines.
    """
    rules = read_domain(read(domain))
    lines = []
    for subtype in rules.types:
        if subtype.kind != "object":
            parent = _a(subtype.kind)
            lines.append(f"Every {subtype.word} is {parent}.")
    for constant in rules.constants:
        kind = _a(constant.kind)
        lines.append(f"There is always {constant.word}, {kind}.")
    blocks = _sections(domain, ":action")
    for action, block in zip(rules.actions, blocks, strict=False):
        lines += _action(action, block, domain, phrases)
    return "\n".join(lines)


def heads_of(domain: str) -> str:
    """Returns the actions of a domain, one per line, as "stack (?b - block ?under -
    block)".
    """
    lines = []
    for action in read_domain(read(domain)).actions:
        typed = [f"{entry.word} - {entry.kind}" for entry in action.parameters]
        parameters = " ".join(typed)
        lines.append(f"{action.word} ({parameters})")
    return "\n".join(lines)


def _sections(text: str, head: str) -> list[Block]:
    root = read(text)
    if root is None:
        return []
    return [block for block in root.blocks if block.head == head]


def _action(
    action: ActionDefinition, block: Block, domain: str, phrases: Words
) -> list[str]:
    """Returns the lines about one action, which is written as `block`."""
    vocabulary = Vocabulary(phrases, _spoken(action.parameters))
    told = {"needs": vocabulary.condition(action.precondition, domain)}
    effect = action.effect
    if effect.conditions or effect.quantified or not effect.complete:
        told["changes"] = _written_effect(block, domain)
    else:
        told |= _changes(effect, vocabulary)
    name = str(action.word).capitalize()
    things = _list(list(vocabulary.spoken.values())) or "nothing"
    lines = [f"{name} is done with {things}."]
    for does, what in told.items():
        lines.append(f"  {name} {does}: {what}.")
    return lines


def _changes(effect: Effect, vocabulary: Vocabulary) -> dict[str, str]:
    told = {}
    made = [change for change in effect.changes if not change.negated]
    if made:
        told["makes true"] = vocabulary.facts(made)
    gone = [Literal(change.atom) for change in effect.changes if change.negated]
    if gone:
        told["makes false"] = vocabulary.facts(gone)
    if effect.cost:
        cost = effect.cost if effect.cost.terms else effect.cost.predicate
        told["costs"] = str(cost)
    return told


def _written_effect(action: Block, domain: str) -> str:
    for key, value in pairwise(action.items):
        if str(key).lower() == ":effect":
            return source(domain, value)
    return "nothing"


def _spoken(parameters: Sequence[TypedName]) -> dict[str, str]:
    """Returns "the truck" for a parameter, or "the first place" if there are two
    places.
    """
    nouns = []
    for parameter in parameters:
        name = parameter.name.lstrip("?")
        nouns.append(parameter.kind if parameter.types else name)
    so_far: Counter[str] = Counter()
    spoken = {}
    for parameter, noun in zip(parameters, nouns, strict=True):
        so_far[noun] += 1
        title = noun
        if nouns.count(noun) > 1:
            title = f"{_ordinal(so_far[noun])} {noun}"
        spoken[parameter.name] = f"the {title}"
    return spoken


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    return f"{number}th"


def _list(things: Sequence[str]) -> str:
    *others, last = things or [""]
    if not others:
        return last
    return f"{', '.join(others)} and {last}"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"

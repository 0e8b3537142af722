"""The rungs "typed" and "grounded": a domain and a problem, part by part, each part under a grammar
made from the parts before it.

    types → constants and predicates → actions → objects → initial facts → goal

What no grammar of a part can know beforehand is looked at when the part is written: a name declared
twice is taken back and another one drawn; what later parts cannot do without is added at the end of
a list. "grounded" takes names from the observations alone and asks for a goal that does not hold.
"""

import json
from collections.abc import Callable, Collection, Generator, Sequence

from pddlego_local.core import Grammar, Names
from pddlego_local.decoding.staged import parts, signatures
from pddlego_local.decoding.staged.declared import (
    Signature,
    Symbols,
    after_type,
    domain_in,
    domain_of,
    end_before,
    end_of_objects,
    has_section,
    open_blocks,
    problem_in,
    repeated,
    symbols,
)
from pddlego_local.decoding.staged.goals import Facts, can_be_new, goal, goal_terms, holds, lacking
from pddlego_local.decoding.stages import Scene, Script, Stage, Stages
from pddlego_local.pddl.check import check
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Domain, Literal

MOST_ADDED = 10

Part = Generator[Stage, str, None]


def pddl_script(rung: str, scene: Scene) -> Script:
    """A domain and a problem: {"df": …, "pf": …}."""
    if rung == "signatures":
        return signatures.pddl_script(scene)
    return Script(rung, lambda: _pddl(scene, _names(rung, scene)), _accepted)


def problem_script(rung: str, scene: Scene) -> Script:
    """A problem for the scene's domain: {"pf": …}."""
    if rung == "signatures":
        return signatures.problem_script(scene)
    names = _names(rung, scene)
    return Script(
        rung, lambda: _problem_alone(scene, names), lambda text: _accepted(text, scene.domain)
    )


def _accepted(text: str, domain: str = "") -> bool:
    """Whether the static check, a reader of its own, finds nothing wrong with an answer."""
    try:
        answer = json.loads(text)
        return check(domain or answer["df"], answer["pf"]).accepted
    except (ValueError, LookupError, TypeError):
        return False


def _names(rung: str, scene: Scene) -> Names | None:
    """The names that there are; None where the model may make them up."""
    return scene.names if rung == "grounded" else None


def _pddl(scene: Scene, names: Names | None) -> Stages:
    draft = _Draft()
    told = [Signature.of(action) for action in scene.actions]
    yield from _types(draft, told)
    declared = yield from _declarations(draft, told, names)
    yield from _actions(draft, told, declared)
    yield from _problem(draft, declared, names, parts.NEXT_PROBLEM, own_goal=True)


def _problem_alone(scene: Scene, names: Names | None) -> Stages:
    declared = symbols(domain_of(scene.domain))
    opening, own_goal = parts.OPEN_PROBLEM, scene.own_goal
    yield from _problem(_Draft(), declared, names, opening, own_goal=own_goal)


class _Draft:
    """The answer so far."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, name: str, grammar: Grammar, drop: int = 0) -> Part:
        added = yield Stage(name, grammar, drop)
        self.text = self.text[: len(self.text) - drop] + added

    def replace_from(self, offset: int, name: str, grammar: Grammar) -> Part:
        yield from self.write(name, grammar, len(self.text) - offset)

    def without_repetition(
        self,
        name: str,
        words: Callable[[], Sequence[Word]],
        rest: Callable[[Collection[str], bool], Grammar],
        taken: Collection[str] = (),
        *,
        in_blocks: bool = False,
    ) -> Part:
        """Takes back the list of `words` from the first that comes again, and has its `rest` drawn:
        without the names that there are, after a type or not. `in_blocks`: each word heads a block
        of its own."""
        while word := repeated(words(), taken):
            cut = end_before(self.text, word.offset, block=in_blocks)
            before = [other.text for other in words() if other.offset < cut]
            excluded = [*taken, *before]
            grammar = rest(excluded, after_type(self.text[:cut]))
            yield from self.replace_from(cut, name, grammar)


def _types(draft: _Draft, told: Sequence[Signature]) -> Part:
    """Those of the actions' parameters are there in the end, the model's own besides."""

    def declared() -> list[Word]:
        return [entry.word for entry in domain_in(draft.text).types]

    yield from draft.write("types", parts.types())
    yield from draft.without_repetition("types", declared, parts.more_types)
    wanted = dict.fromkeys(kind for action in told for _, kind in action.parameters)
    present = {word.name for word in declared()} | {"object"}
    if missing := [kind for kind in wanted if kind.lower() not in present]:
        yield from draft.write("types", parts.added_types(missing), drop=1)


def _declarations(
    draft: _Draft, told: Sequence[Signature], names: Names | None
) -> Generator[Stage, str, Symbols]:
    """Constants and predicates; at least one predicate that an action can change."""

    def domain() -> Domain:
        return domain_in(draft.text)

    declared = symbols(domain())
    known = names.objects if names else None
    required = not has_section(draft.text, "requirements")
    yield from draft.write("predicates", parts.declarations(declared, known, required=required))
    yield from draft.without_repetition(
        "predicates",
        lambda: [entry.word for entry in domain().constants],
        lambda taken, typed: parts.more_constants(declared, known, taken, typed),
    )
    yield from draft.without_repetition(
        "predicates",
        lambda: [predicate.word for predicate in domain().predicates or ()],
        lambda taken, _: parts.more_predicates(declared, taken),
        in_blocks=True,
    )
    declared = symbols(domain())
    if not any(parts.can_change(action, declared) for action in told):
        yield from draft.write("predicates", parts.added_predicate(declared, told), drop=1)
        declared = symbols(domain())
    return declared


def _actions(draft: _Draft, told: Sequence[Signature], declared: Symbols) -> Part:
    """Each at most once, with the variables and constants that fit by type, and with an effect."""
    usable = {a.name.lower(): a for a in told if parts.can_change(a, declared)}

    def written() -> list[Word]:
        return [action.word for action in domain_in(draft.text).actions]

    def others(taken: Collection[str]) -> list[Signature]:
        names = {name.lower() for name in taken}
        return [action for name, action in usable.items() if name not in names]

    def remaining(taken: Collection[str], _: bool) -> Grammar:
        return parts.actions(declared, others(taken), least=0)

    yield from draft.write("actions", parts.actions(declared, others(()), least=1))
    while True:
        yield from draft.without_repetition("actions", written, remaining, in_blocks=True)
        if not (open_ := open_blocks(draft.text)):
            return
        names = [word.name for word in written()]
        rest = parts.rest_of_action(declared, usable[names[-1]], others(names), open_[1:])
        yield from draft.write("actions", rest)


def _problem(
    draft: _Draft, declared: Symbols, names: Names | None, opening: str, *, own_goal: bool
) -> Part:
    known = names.objects if names else None
    constants = declared.things

    def objects() -> list[Word]:
        return [entry.word for entry in problem_in(draft.text).objects]

    def rest(taken: Collection[str], typed: bool) -> Grammar:
        return parts.more_objects(declared, known, taken, typed)

    yield from draft.write("objects", parts.objects(declared, known, opening))
    yield from draft.without_repetition("objects", objects, rest, taken=constants)
    things = declared.with_objects(problem_in(draft.text))
    if names is None or not own_goal:
        yield from draft.write("facts", parts.facts_and_goal(things))
        while open_ := open_blocks(draft.text):
            yield from draft.write("facts", parts.rest_of_goal(things, open_[1:]))
        return
    yield from _missing_objects(draft, declared, names)
    yield from _facts_and_new_goal(draft, declared.with_objects(problem_in(draft.text)), names)


def _missing_objects(draft: _Draft, declared: Symbols, names: Names) -> Part:
    """Adds objects until a goal is possible that does not hold; the last one makes room if all
    names are taken. A few times only: some predicates want more objects than there are names."""
    for _ in range(MOST_ADDED):
        problem = problem_in(draft.text)
        things = declared.with_objects(problem)
        terms = goal_terms(things, names)
        left, types = lacking(things, names)
        hinted = set(left) <= set(names.goals) and not terms.needed
        if not types or (can_be_new(terms, {}) and not (left and hinted)):
            return
        cut = end_of_objects(problem)
        if not left and problem.objects:
            cut = problem.objects[-1].word.offset
            left = (problem.objects[-1].word.text,)
        if not left:
            return
        cut = end_before(draft.text, cut)
        grammar = parts.added_object(
            declared,
            left,
            types,
            first=not has_section(draft.text, "objects"),
            typed=after_type(draft.text[:cut]) or not problem.objects,
        )
        yield from draft.replace_from(cut, "objects", grammar)


def _facts_and_new_goal(draft: _Draft, declared: Symbols, names: Names) -> Part:
    """Facts that leave something to be reached, and a goal that does not hold. The grammar that
    leaves out what holds is large, and made only for a goal that is taken back."""
    terms = goal_terms(declared, names)
    yield from draft.write("facts", parts.facts(declared))
    while (facts := problem_in(draft.text).init) and not can_be_new(terms, _by_predicate(facts)):
        cut = end_before(draft.text, facts[-1].atom.block.offset)
        yield from draft.replace_from(cut, "facts", parts.no_more_facts())
    true = _by_predicate(facts)
    before = len(draft.text)
    yield from draft.write("goal", goal(terms, {}))
    if can_be_new(terms, true) and holds(problem_in(draft.text).goal, true):
        yield from draft.replace_from(before, "goal", goal(terms, true))


def _by_predicate(facts: Sequence[Literal]) -> Facts:
    found: dict[str, set[tuple[str, ...]]] = {}
    for fact in facts:
        name, *arguments = fact.atom.key
        found.setdefault(name, set()).add(tuple(arguments))
    return found

"""The stages of a problem: objects, then initial facts and goal, by the goals that are left out.

any       none are
unmet     those that the initial facts already make true
frontier  also those that lead to no place that the state tracker calls unvisited
"""

from collections.abc import Collection, Sequence

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammars.terminals import new_name, one_of
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.staged import parts
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.draft import Draft, Part
from pddlego_local.decoding.staged.goals import (
    GoalTerms,
    by_predicate,
    can_be_new,
    fitting_types,
    frontier,
    goal,
)
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    end_of_objects,
    has_section,
    open_blocks,
    problem_in,
)
from pddlego_local.pddl.initial_state import goal_already_true
from pddlego_local.pddl.reader import Word

MOST_ADDED = 10


def problem(
    draft: Draft,
    declared: Declarations,
    scene: Scene,
    allowed: Sequence[str] | None,
    opening: str,
) -> Part:
    """A problem that begins with the terminal `opening`. Its objects have `allowed` names; None
    allows any."""
    left_out = scene.goal if scene.own_goal else "any"
    yield from _objects(draft, declared, allowed, opening)
    if left_out == "frontier" and scene.names.goals:
        yield from _frontier(draft, declared, allowed, scene.names.goals)
        return
    yield from _facts_and_goal(draft, declared)
    if left_out != "any":
        yield from _unmet(draft, declared, allowed)


def _objects(
    draft: Draft, declared: Declarations, allowed: Sequence[str] | None, opening: str
) -> Part:
    def objects() -> list[Word]:
        return [entry.word for entry in problem_in(draft.text).objects]

    def rest(taken: Collection[str], typed: bool) -> Grammar:
        return parts.more_objects(declared, allowed, taken, typed)

    yield from draft.write("objects", parts.objects(declared, allowed, opening))
    yield from draft.without_repetition("objects", objects, rest, taken=declared.things)


def _facts_and_goal(draft: Draft, declared: Declarations) -> Part:
    things = declared.with_objects(problem_in(draft.text))
    yield from draft.write("facts", parts.facts_and_goal(things))
    while open_ := open_blocks(draft.text):
        yield from draft.write("facts", parts.rest_of_goal(things, open_[1:]))


def _unmet(draft: Draft, declared: Declarations, allowed: Sequence[str] | None) -> Part:
    """Rolls back a goal that is already true and resamples it: facts, at least one of which is not
    true yet. Where no fact can be written, objects are added first."""
    if not _goal_already_true(draft, declared):
        return
    before = draft.text
    if not can_be_new(GoalTerms(declared.with_objects(problem_in(before))), {}):
        yield from _missing_objects(draft, declared, allowed, ())
    parsed = problem_in(draft.text)
    things = declared.with_objects(parsed)
    if draft.text != before:
        yield from draft.write("facts", parts.facts(things))
        parsed = problem_in(draft.text)
    block = parsed.goal_block
    cut = end_before(draft.text, block.offset, block=True) if block else len(draft.text)
    grammar = goal(GoalTerms(things), by_predicate(parsed.init))
    yield from draft.resample_from(cut, "goal", grammar)


def _frontier(
    draft: Draft, declared: Declarations, allowed: Sequence[str] | None, unvisited: Sequence[str]
) -> Part:
    """Objects, facts and a goal of facts about unvisited places, one of which is not true yet. The
    grammar that leaves out true facts is large, and made only to resample."""
    yield from _missing_objects(draft, declared, allowed, unvisited)
    things = declared.with_objects(problem_in(draft.text))
    terms = frontier(things, unvisited)
    yield from draft.write("facts", parts.facts(things))
    while (facts := problem_in(draft.text).init) and not can_be_new(terms, by_predicate(facts)):
        cut = end_before(draft.text, facts[-1].atom.block.offset)
        yield from draft.resample_from(cut, "facts", parts.no_more_facts())
    before = len(draft.text)
    yield from draft.write("goal", goal(terms, {}))
    if _goal_already_true(draft, declared):
        yield from draft.resample_from(before, "goal", goal(terms, by_predicate(facts)))


def _goal_already_true(draft: Draft, declared: Declarations) -> bool:
    return goal_already_true(declared.domain, problem_in(draft.text))


def _missing_objects(
    draft: Draft, declared: Declarations, allowed: Sequence[str] | None, unvisited: Sequence[str]
) -> Part:
    """Adds objects until a fact can be written, about an unvisited place if there is one; the last
    object makes room if all names are taken. A few times only: some predicates want more objects
    than there are names."""
    for _ in range(MOST_ADDED):
        parsed = problem_in(draft.text)
        things = declared.with_objects(parsed)
        terms = frontier(things, unvisited)
        present = {name.lower() for name in things.things}
        first = [
            n for n in unvisited if n.lower() not in present and (allowed is None or n in allowed)
        ]
        if can_be_new(terms, {}) and (terms.needed or not first):
            return
        name = one_of(first) if first else new_name(allowed, present)
        cut = end_of_objects(parsed)
        if not name and parsed.objects:
            last = parsed.objects[-1].word
            name, cut = one_of([last.text]), last.offset
        types = fitting_types(things)
        if not name or not types:
            return
        cut = end_before(draft.text, cut)
        grammar = parts.added_object(
            declared,
            name,
            types,
            first=not has_section(draft.text, ":objects"),
            typed=after_type(draft.text[:cut]) or not parsed.objects,
        )
        yield from draft.resample_from(cut, "objects", grammar)

"""The stages of a problem: objects, then initial facts and goal, by the goals that are left out.

any       none are
unmet     those that the initial facts already make true
frontier  also those that lead to no place that the state tracker calls unvisited
"""

import itertools
from collections.abc import Collection, Sequence
from functools import partial

from pddlego_local.decoding.grammars.terminals import new_name, one_of
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.staged import goals, reviews
from pddlego_local.decoding.staged import problem_parts as parts
from pddlego_local.decoding.staged.bodies import More
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.goals import (
    GoalTerms,
    can_be_new,
    fitting_types,
    frontier,
    grouped,
)
from pddlego_local.decoding.staged.limits import most_objects
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    end_of_objects,
    problem_in,
    title_of,
)
from pddlego_local.decoding.staged.writing import Build, Part, Resample, Review, Writing
from pddlego_local.pddl.initial_state import goal_already_true
from pddlego_local.pddl.reader import Block, Word

MOST_ADDED = 10


def problem(
    writing: Writing,
    declared: Declarations,
    scene: Scene,
    names: NewNames,
    opening: str,
) -> Part:
    """A problem that begins with the terminal `opening`."""
    left_out = scene.goal if scene.own_goal else "any"
    most = most_objects(len(scene.names.objects))
    yield from _objects(writing, declared, names, most, opening)
    if left_out == "frontier" and scene.names.goals:
        yield from _frontier(writing, declared, names, scene.names.goals)
        return
    yield from _facts_and_goal(writing, declared)
    if left_out != "any":
        yield from _unmet(writing, declared, names)


def _objects(
    writing: Writing, declared: Declarations, names: NewNames, most: int, opening: str
) -> Part:
    def objects() -> list[Word]:
        return [entry.word for entry in problem_in(writing.text).objects]

    def more(taken: Collection[str], typed: bool) -> Build:
        return partial(
            parts.more_objects, names=names, declared=declared, taken=taken, typed=typed,
            most=most,
        )  # fmt: skip

    def title() -> Word | None:
        return title_of(problem_in(writing.text).block)

    build = partial(parts.objects, names=names, declared=declared, most=most)
    listed = reviews.listed(
        writing, names, objects, more, taken=declared.things, made_up=names.allowed is None
    )
    yield from writing.write_and_review(
        "objects",
        partial(build, opening=opening),
        (reviews.title(writing, names, title, build), listed),
    )


def _facts_and_goal(writing: Writing, declared: Declarations) -> Part:
    things = declared.with_objects(problem_in(writing.text))

    def goal() -> list[Block]:
        block = problem_in(writing.text).goal_block
        return [block] if block else []

    def rest_of_goal(open_: Sequence[Block], more: More) -> Build:
        if open_[-1].head == ":init":
            facts = problem_in(writing.text).init
            return partial(parts.more_facts_and_goal, declared=things, said={}, count=len(facts))
        return partial(parts.rest_of_goal, declared=things, open_=open_[1:], more=more)

    yield from writing.write_and_review(
        "facts",
        partial(parts.facts_and_goal, declared=things),
        (
            _repeated_fact(
                writing,
                partial(parts.more_facts_and_goal, declared=things),
                partial(parts.any_goal, declared=things),
            ),
            reviews.operands(writing, goal, rest_of_goal),
            reviews.unfinished(writing, rest_of_goal),
        ),
    )


def _repeated_fact(writing: Writing, rest: "partial[str]", end: Build | None = None) -> Review:
    """A fact that comes again is given up with what follows, and no fact comes again in the rest;
    the second time `:init` is closed, and `end` comes."""
    given_up = itertools.count()

    def review() -> Resample | None:
        facts = problem_in(writing.text).init
        seen: set[tuple[str, ...]] = set()
        for number, fact in enumerate(facts):
            if fact.atom.key in seen:
                cut = end_before(writing.text, fact.atom.block.offset)
                if next(given_up):
                    return Resample(cut, end, put=")")
                said = grouped(facts[:number])
                return Resample(cut, partial(rest, said=said, count=number))
            seen.add(fact.atom.key)
        return None

    return review


def _unmet(writing: Writing, declared: Declarations, names: NewNames) -> Part:
    """Rolls back a goal that is already true and resamples it: facts, at least one of which is not
    true yet. Where no fact can be written, objects are added first."""
    if not _goal_already_true(writing, declared):
        return
    before = writing.text
    if not can_be_new(GoalTerms(declared.with_objects(problem_in(before))), {}):
        yield from _missing_objects(writing, declared, names, ())
    things = declared.with_objects(problem_in(writing.text))
    if writing.text != before:
        yield from _facts(writing, things)
    block = problem_in(writing.text).goal_block
    cut = end_before(writing.text, block.offset, block=True) if block else len(writing.text)
    yield from _goal(writing, GoalTerms(things), cut)


def _facts(writing: Writing, things: Declarations) -> Part:
    yield from writing.write_and_review(
        "facts",
        partial(parts.facts, declared=things),
        [_repeated_fact(writing, partial(parts.more_facts, declared=things))],
    )


def _goal(writing: Writing, terms: GoalTerms, offset: int) -> Part:
    """A goal that the facts before it do not make true."""
    true = grouped(problem_in(writing.text[:offset]).init)

    def block() -> list[Block]:
        found = problem_in(writing.text).goal_block
        return [found] if found else []

    def rest(open_: Sequence[Block], _: More) -> Build:
        return partial(goals.rest_of_goal, terms=terms, true=true, said=open_[-1].items[1:])

    yield from writing.write("goal", partial(goals.goal, terms=terms, true=true), offset)
    yield from writing.resample("goal", [reviews.operands(writing, block, rest)])


def _frontier(
    writing: Writing,
    declared: Declarations,
    names: NewNames,
    unvisited: Sequence[str],
) -> Part:
    """Objects, facts and a goal of facts about unvisited places, one of which is not true yet. The
    grammar that leaves out true facts is large, and made only to resample."""
    yield from _missing_objects(writing, declared, names, unvisited)
    things = declared.with_objects(problem_in(writing.text))
    terms = frontier(things, unvisited)
    yield from _facts(writing, things)
    while (facts := problem_in(writing.text).init) and not can_be_new(terms, grouped(facts)):
        cut = end_before(writing.text, facts[-1].atom.block.offset)
        writing.put(cut, ")")
    before = len(writing.text)
    yield from writing.write("goal", partial(goals.goal, terms=terms, true={}))
    if _goal_already_true(writing, declared):
        yield from _goal(writing, terms, before)


def _goal_already_true(writing: Writing, declared: Declarations) -> bool:
    return goal_already_true(declared.domain, problem_in(writing.text))


def _missing_objects(
    writing: Writing,
    declared: Declarations,
    names: NewNames,
    unvisited: Sequence[str],
) -> Part:
    """Adds objects until a fact can be written, about an unvisited place if there is one; the last
    object makes room if all names are taken. A few times only: some predicates want more objects
    than there are names."""
    for _ in range(MOST_ADDED):
        parsed = problem_in(writing.text)
        things = declared.with_objects(parsed)
        terms = frontier(things, unvisited)
        present = {name.lower() for name in things.things}
        permitted = unvisited if names.allowed is None else names.allowed
        first = [n for n in unvisited if n.lower() not in present and n in permitted]
        if can_be_new(terms, {}) and (terms.needed or not first):
            return
        name = one_of(first) if first else new_name(names.allowed, present)
        cut = end_of_objects(parsed)
        if not name and parsed.objects:
            last = parsed.objects[-1].word
            name, cut = one_of([last.text]), last.offset
        types = fitting_types(things)
        if not name or not types:
            return
        cut = end_before(writing.text, cut)
        typed = after_type(writing.text[:cut]) or not parsed.objects
        added = partial(parts.added_object, declared=declared, name=name, types=types, typed=typed)
        yield from writing.write("objects", added, cut)

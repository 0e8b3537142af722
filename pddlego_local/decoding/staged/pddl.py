"""The rungs "typed" and "grounded": a domain and a problem, part by part, each part under a grammar
made from the parts before it.

    types → constants and predicates → actions → objects → initial facts and goal

What no grammar of a part can know beforehand is looked at when the part is written (`looks`): what
is said twice is rolled back and resampled without it, and so is a goal that is already true, where
the scene leaves such goals out. What later parts cannot do without is added at the end of a list.
"grounded" allows no names but those of the observations.
"""

import json
from collections.abc import Sequence

from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.staged import domain, signatures
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.names import Names
from pddlego_local.decoding.staged.problem import problem
from pddlego_local.decoding.staged.problem_parts import NEXT_PROBLEM, OPEN_PROBLEM
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.decoding.staged.writing import Writing
from pddlego_local.decoding.stages import StagedGrammar, Stages
from pddlego_local.pddl.check import check


def staged_pddl(rung: str, scene: Scene, layout: Layout = "any") -> StagedGrammar:
    """A domain and a problem: {"df": …, "pf": …}."""
    if rung == "signatures":
        return signatures.staged_pddl(scene, layout)
    allowed = _allowed(rung, scene)
    return StagedGrammar(rung, lambda: _pddl(scene, allowed, layout), _accepted)


def staged_problem(rung: str, scene: Scene, layout: Layout = "any") -> StagedGrammar:
    """A problem for the scene's domain: {"pf": …}."""
    if rung == "signatures":
        return signatures.staged_problem(scene, layout)
    allowed = _allowed(rung, scene)
    return StagedGrammar(
        rung,
        lambda: _problem_alone(scene, allowed, layout),
        lambda text: _accepted(text, scene.domain),
    )


def _accepted(text: str, domain: str = "") -> bool:
    """Whether the static check, a reader of its own, finds nothing wrong with an answer."""
    try:
        answer = json.loads(text)
        return check(domain or answer["df"], answer["pf"]).accepted
    except (ValueError, LookupError, TypeError):
        return False


def _allowed(rung: str, scene: Scene) -> Sequence[str] | None:
    """The names that there are; None where the model may make them up."""
    return scene.names.objects if rung == "grounded" else None


def _pddl(scene: Scene, allowed: Sequence[str] | None, layout: Layout) -> Stages:
    writing = Writing(layout)
    schemas = [ActionSchema.of(action) for action in scene.actions]
    names = Names()
    declared = yield from domain.domain(writing, schemas, names, allowed)
    yield from problem(writing, declared, scene, names, allowed, NEXT_PROBLEM)


def _problem_alone(scene: Scene, allowed: Sequence[str] | None, layout: Layout) -> Stages:
    declared = declarations(domain_of(scene.domain))
    yield from problem(Writing(layout), declared, scene, Names(), allowed, OPEN_PROBLEM)

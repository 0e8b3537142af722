"""The rungs "typed" and "grounded": a domain and a problem, part by part, each part under a grammar
made from the parts before it.

    types → constants and predicates → actions → objects → initial facts and goal

What no grammar of a part can know beforehand is reviewed when the part is written (`reviews`): what
is said twice is rolled back and resampled without it, and so is a goal that is already true, where
the scene leaves such goals out. What later parts cannot do without is added at the end of a list.
"grounded" allows no names but those of the observations.
"""

import json

from pddlego_local.decoding.forms import PROBLEM, Form, Keys
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.rungs import Rung
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.domain import domain
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.decoding.staged.problem import problem
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.decoding.staged.writing import Writing
from pddlego_local.decoding.stages import StagedGrammar, Stages
from pddlego_local.pddl.check import check


def pddl(rung: Rung, form: Form[Keys], scene: Scene, layout: Layout) -> StagedGrammar:
    """A domain and a problem, {"df": …, "pf": …}, or {"pf": a problem for the scene's domain}."""

    def stages() -> Stages:
        writing, names = Writing(layout), NewNames(scene.names.objects if rung.grounded else None)
        if form is PROBLEM:
            declared, opening = declarations(domain_of(scene.domain)), "_OPEN_PROBLEM"
        else:
            schemas = [ActionSchema.of(action) for action in scene.actions]
            declared, opening = (yield from domain(writing, schemas, names)), "_NEXT_PROBLEM"
        yield from problem(writing, declared, scene, names, opening)

    fixed = scene.domain if form is PROBLEM else ""
    return StagedGrammar(rung.name, stages, lambda text: _accepted(text, fixed))


def _accepted(text: str, domain: str) -> bool:
    """Whether the static check, a reader of its own, finds nothing wrong with an answer."""
    try:
        answer = json.loads(text)
        return check(domain or answer["df"], answer["pf"]).accepted
    except (ValueError, LookupError, TypeError):
        return False

"""The rung "signatures": any PDDL whose actions are the environment's, with their exact parameters,
and whose problem is for the answer's own domain. In two stages, the domain and the problem.
"""

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.forms import PROBLEM, Form, Keys
from pddlego_local.decoding.grammars.lark_text import with_parts
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.rungs import Rung
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.reading import domain_in, domain_of
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.decoding.stages import Stage, StagedGrammar, Stages

_PARTS = ("domain", "problem", "condition", "tokens", "requirements")


def signatures(rung: Rung, form: Form[Keys], scene: Scene, layout: Layout) -> StagedGrammar:
    """A domain and a problem, {"df": …, "pf": …}, or {"pf": a problem for the scene's domain}."""
    stages = _problem_alone if form is PROBLEM else _pddl
    return StagedGrammar(rung.name, lambda: stages(scene, layout))


def _pddl(scene: Scene, layout: Layout) -> Stages:
    text = yield Stage("domain", _domain(scene, layout))
    name = declarations(domain_in(text)).domain_name
    yield Stage("problem", _problem(name, "_comments _BETWEEN", "pddl_json", layout))


def _problem_alone(scene: Scene, layout: Layout) -> Stages:
    name = declarations(domain_of(scene.domain)).domain_name
    yield Stage("problem", _problem(name, "_OPEN", "problem_json", layout))


def _domain(scene: Scene, layout: Layout) -> Grammar:
    schemas = [ActionSchema.of(action) for action in scene.actions]
    actions = [f"_SIGNATURE_{number}" for number in range(len(schemas))]
    rules = (
        "start: _OPEN _domain_head _requirements_and_types _declarations _action ~ 0 .. 100 _C",
        f"_action: ({' | '.join(actions)}) _comments [_PRECONDITION _precondition] _effects",
        *(
            f"{name}: _ACTION_HEAD {action.header(layout)}"
            for name, action in zip(actions, schemas, strict=True)
        ),
    )
    name = "signatures of the domain"
    return with_parts(name, "\n".join(rules), ("pddl_json", *_PARTS), layout)


def _problem(domain: str, opening: str, envelope: str, layout: Layout) -> Grammar:
    rules = (
        f"start: {opening} _comments _PROBLEM _comments _THIS_DOMAIN _comments "
        "[REQUIREMENTS _comments] [OBJECTS _comments] init goal [metric] _C _comments _CLOSE",
        f'_THIS_DOMAIN: _OF _B1 {one_of([domain])} _B ")"',
    )
    name = "signatures of the problem"
    return with_parts(name, "\n".join(rules), (envelope, *_PARTS), layout)

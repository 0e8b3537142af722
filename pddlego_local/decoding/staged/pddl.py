"""The three upper rungs for domains and problems: each part is written under a grammar
that is made from the parts before it.

signatures  any PDDL whose actions are the environment's, with their exact parameters,
            and whose problem is for the answer's own domain: domain → problem
typed       types → constants and predicates → actions → objects → initial facts and
            goal
grounded    as typed, with only the names of the observations

Each finished part is reviewed (`writing`) for mistakes that no grammar of a part can
exclude beforehand: an entry that contradicts the text before it is rolled back, and the
part is resampled without it. A goal that is already true is rolled back too, if the
context excludes such goals. If later parts need something that is missing, it is added
at the end of a list.
"""

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.forms import DOMAIN, PROBLEM, Fields, Form
from pddlego_local.decoding.grammars.builder import one_of
from pddlego_local.decoding.grammars.lark_text import with_parts
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, Stage, Stages
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.declarations import ActionSchema, declarations
from pddlego_local.decoding.staged.domain import domain
from pddlego_local.decoding.staged.problem import ProblemStages
from pddlego_local.decoding.staged.reading import domain_in, domain_of
from pddlego_local.decoding.staged.writing import NewNames, Writing

_PARTS = ("domain", "problem", "condition", "tokens", "requirements")


def signatures(
    decoding: Decoding, form: Form[Fields], context: GrammarContext
) -> Constraint:
    """Constrains a domain and a problem, {"df": …, "pf": …}, a domain, {"df": …}, or a
    problem for the domain of the context, {"pf": …}, on the rung "signatures".
    """

    layout = decoding.layout

    def stages() -> Stages:
        if form is DOMAIN:
            alone = _domain(context, layout, "domain_json", closing="_comments _CLOSE")
            yield Stage("domain", alone)
            return
        if form is PROBLEM:
            written = domain_of(context.domain)
            opening = "_OPEN"
            envelope = "problem_json"
        else:
            text = yield Stage("domain", _domain(context, layout))
            written = domain_in(text)
            opening = "_comments _BETWEEN"
            envelope = "pddl_json"
        name = declarations(written).domain_name
        yield Stage("problem", _problem(name, opening, envelope, layout))

    return Constraint(decoding.rung, stages)


def _domain(
    context: GrammarContext,
    layout: Layout,
    envelope: str = "pddl_json",
    closing: str = "",
) -> Grammar:
    headers = [ActionSchema.of(action).header(layout) for action in context.actions]
    names = [f"_SIGNATURE_{number}" for number in range(len(headers))]
    rules = (
        "start: _OPEN _domain_head _requirements_and_types _declarations _action ~ 0 .."
        " 100 _C " + closing,
        (
            f"_action: ({' | '.join(names)}) _comments [_PRECONDITION _precondition]"
            " _effects"
        ),
        *(
            f"{name}: _ACTION_HEAD {header}"
            for name, header in zip(names, headers, strict=True)
        ),
    )
    name = "signatures of the domain"
    return with_parts(name, "\n".join(rules), (envelope, *_PARTS), layout)


def _problem(domain: str, opening: str, envelope: str, layout: Layout) -> Grammar:
    rules = (
        (
            f"start: {opening} _comments _PROBLEM _comments _THIS_DOMAIN _comments"
            " [REQUIREMENTS _comments] [OBJECTS _comments] init goal [metric] _C"
            " _comments _CLOSE"
        ),
        f'_THIS_DOMAIN: _OF _B1 {one_of([domain])} _B ")"',
    )
    name = "signatures of the problem"
    return with_parts(name, "\n".join(rules), (envelope, *_PARTS), layout)


def pddl(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains the same answers as `signatures`, on the rungs "typed" and
    "grounded".
    """

    def stages() -> Stages:
        grounded = decoding.excludes.grounded
        names = NewNames(context.names.objects if grounded else None)
        writing = Writing(decoding.layout, names)
        if form is PROBLEM:
            declared = declarations(domain_of(context.domain))
            opening = "_OPEN_PROBLEM"
        else:
            schemas = [ActionSchema.of(action) for action in context.actions]
            declared = yield from domain(writing, schemas, alone=form is DOMAIN)
            opening = "_NEXT_PROBLEM"
            if form is DOMAIN:
                return
        problem = ProblemStages(writing, declared, context)
        unmet = decoding.goal == "unmet" and context.own_goal
        yield from problem.stages(opening, unmet=unmet)

    return Constraint(decoding.rung, stages)

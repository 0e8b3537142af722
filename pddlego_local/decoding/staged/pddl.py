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
from pddlego_local.decoding.grammars.lark_text import with_parts
from pddlego_local.decoding.grammars.terminals import NewNames, one_of
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import Rung
from pddlego_local.decoding.session import Constraint, Stage, Stages
from pddlego_local.decoding.staged.declarations import ActionSchema, declarations
from pddlego_local.decoding.staged.domain import domain
from pddlego_local.decoding.staged.problem import ProblemStages
from pddlego_local.decoding.staged.reading import domain_in, domain_of
from pddlego_local.decoding.staged.writing import Writing

_PARTS = ("domain", "problem", "condition", "tokens", "requirements")


def signatures(
    rung: Rung, form: Form[Fields], context: GrammarContext, layout: Layout
) -> Constraint:
    """Constrains a domain and a problem, {"df": …, "pf": …}, a domain, {"df": …}, or a
    problem for the domain of the context, {"pf": …}, on the rung "signatures".
    """

    def stages() -> Stages:
        if form is DOMAIN:
            yield Stage(
                "domain", _domain(context, layout, "domain_json", "_comments _CLOSE")
            )
            return
        if form is PROBLEM:
            written, opening, envelope = (
                domain_of(context.domain),
                "_OPEN",
                "problem_json",
            )
        else:
            written = domain_in((yield Stage("domain", _domain(context, layout))))
            opening, envelope = "_comments _BETWEEN", "pddl_json"
        name = declarations(written).domain_name
        yield Stage("problem", _problem(name, opening, envelope, layout))

    return Constraint(rung.name, stages)


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


def pddl(
    rung: Rung, form: Form[Fields], context: GrammarContext, layout: Layout
) -> Constraint:
    """Constrains the same answers as `signatures`, on the rungs "typed" and
    "grounded".
    """

    def stages() -> Stages:
        names = NewNames(context.names.objects if rung.grounded else None)
        writing = Writing(layout, names)
        if form is PROBLEM:
            declared, opening = declarations(domain_of(context.domain)), "_OPEN_PROBLEM"
        else:
            schemas = [ActionSchema.of(action) for action in context.actions]
            declared = yield from domain(writing, schemas, alone=form is DOMAIN)
            opening = "_NEXT_PROBLEM"
            if form is DOMAIN:
                return
        yield from ProblemStages(writing, declared, context).stages(opening)

    return Constraint(rung.name, stages)

"""From PDDL to a plan, or to what a model is told where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Goal
from pddlego_local.core.outcomes import something_to_do
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.events import Emit, Plan, Repair, Where
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.pddl.check import check, explain
from pddlego_local.pddl.repair import Knowledge, repair
from pddlego_local.pddl.sections import with_goal

NO_CONTEXT = GrammarContext()


@dataclass(frozen=True)
class Formalization:
    """A model's answer and what became of it.

    `cause` is one of `outcomes.CAUSES`, "" before a model was asked. `plan` is empty unless solved;
    `message` is what the model is told. `goal` is the one that the plan is for, where the method
    and not the model chose it.
    """

    domain: str
    problem: str
    cause: str
    plan: tuple[str, ...]
    message: str
    goal: Goal | None = None

    @property
    def to_do(self) -> bool:
        """Whether there is a plan, or the method's own steps follow a goal already true."""
        return something_to_do(self.cause)


def plan(
    planner: Planner,
    decoding: Decoding,
    emit: Emit,
    domain: str,
    problem: str,
    where: Where,
    goals: Sequence[Goal] = (),
    *,
    context: GrammarContext = NO_CONTEXT,
    given: bool = False,
) -> Formalization:
    """Returns Fast Downward's verdict. With `goals`, it is the verdict on the first of them that
    has a plan. Each planner call is recorded. If `decoding.repair` is set, the files are repaired
    first with what the `context` of the question shows, and the repair is recorded; a domain that
    was `given` is never changed.

    Each goal takes the place of the problem's own (PDDLego §2). If none has a plan, the verdict is
    on the last.
    """
    if decoding.repair != "none":
        rung = RUNGS[decoding.repair]
        names = context.names.objects if rung.grounded else None
        own = with_goal(problem, "(and)") if goals else problem
        repaired = repair(domain, own, Knowledge(rung.typed, given, context.actions, names))
        if repaired.changes:
            emit(Repair(where=where, domain=domain, problem=problem, changes=repaired.changes))
            domain, problem = repaired.domain, repaired.problem
    formalization = Formalization(domain, problem, "", (), "")
    for goal in goals or (None,):
        pf = with_goal(problem, goal.pddl) if goal else problem
        result = planner.plan(domain, pf)
        brief = result.outcome in ("solved", "timeout") or decoding.feedback == "planner"
        event = Plan(
            where=where,
            goal=goal.words if goal else None,
            then=goal.then if goal else (),
            domain=domain,
            problem=pf,
            **vars(result),
            told=result.message if brief else explain(domain, pf, result),
        )
        emit(event)
        formalization = Formalization(domain, pf, event.cause, result.plan, event.told, goal)
        faulty = result.outcome == "translate_error" and _is_faulty(domain, pf)
        if formalization.to_do or faulty:
            break
    return formalization


def _is_faulty(domain: str, problem: str) -> bool:
    """Whether files are refused whatever the goal. A goal that the method sets may name what the
    model has not declared; then the next goal is tried."""
    return not check(domain, with_goal(problem, "(and)")).accepted

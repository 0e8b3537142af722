"""From PDDL to a plan, or to the feedback for the model if there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Goal, PlanResult
from pddlego_local.core.outcomes import something_to_do
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.events import Emit, Plan, Repair, Where
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.pddl.changes import Knowledge
from pddlego_local.pddl.check import check, explain
from pddlego_local.pddl.repair import Repaired, repair
from pddlego_local.pddl.sections import with_goal

EMPTY = GrammarContext()


@dataclass(frozen=True)
class Formalization:
    """A model's answer and the result of planning with it.

    `cause` is one of `outcomes.CAUSES`, or "" before a model was asked. `plan` is empty
    unless the problem was solved. `message` is the feedback for the model. `goal` is
    the goal of the plan, if the method and not the model chose it. `answer` is what the
    model wrote, if that is no file.
    """

    domain: str
    problem: str
    cause: str
    plan: tuple[str, ...]
    message: str
    goal: Goal | None = None
    answer: str = ""

    @property
    def to_do(self) -> bool:
        """Whether there is a plan, or the goal is already true and steps of the method
        follow.
        """
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
    context: GrammarContext = EMPTY,
    given: bool = False,
) -> Formalization:
    """Calls the planner and returns its verdict on the files. Each planner call is
    recorded.

    Each of the `goals` replaces the problem's own goal (PDDLego §2). The verdict is on
    the first goal that has a plan, or else on the last goal that was tried. If
    `decoding.repair` is set, the files are repaired first with what the `context` of
    the question shows, and the repair is recorded. A domain that was `given` is never
    changed.
    """
    own = with_goal(problem, "(and)") if goals else problem
    files = repaired(decoding, domain, own, context, given=given)
    if files.changes:
        emit(Repair(where=where, domain=domain, problem=problem, changes=files.changes))
        domain = files.domain
        problem = files.problem
    formalization = Formalization(domain, problem, "", (), "")
    for goal in goals or (None,):
        pf = with_goal(problem, goal.pddl) if goal else problem
        result = planner.plan(domain, pf)
        told = _told(decoding, domain, pf, result)
        event = Plan(
            where=where,
            goal=goal.words if goal else None,
            then=goal.then if goal else (),
            domain=domain,
            problem=pf,
            **vars(result),
            told=told,
        )
        emit(event)
        formalization = Formalization(domain, pf, event.cause, result.plan, told, goal)
        if formalization.to_do:
            break
        if result.outcome == "translate_error" and _is_faulty(domain, pf):
            break
    return formalization


def _told(decoding: Decoding, domain: str, problem: str, result: PlanResult) -> str:
    """Returns the feedback for the model."""
    has_faults = result.outcome not in ("solved", "timeout")
    if has_faults and decoding.feedback == "explained":
        return explain(domain, problem, result)
    return result.message


def repaired(
    decoding: Decoding,
    domain: str,
    problem: str,
    context: GrammarContext,
    *,
    given: bool = False,
) -> Repaired:
    """Repairs the files as `decoding.repair` says, with what the `context` of the
    question shows. A domain that was `given` is never changed.
    """
    if decoding.repair == "none":
        return Repaired(domain, problem, ())
    rung = RUNGS[decoding.repair]
    names = context.names.objects if rung.grounded else None
    return repair(domain, problem, Knowledge(rung.typed, given, context.actions, names))


def _is_faulty(domain: str, problem: str) -> bool:
    """Whether the files are invalid whatever the goal. If they are not, the method's
    goal may name objects that the model has not declared, and the next goal is tried.
    """
    return not check(domain, with_goal(problem, "(and)")).accepted

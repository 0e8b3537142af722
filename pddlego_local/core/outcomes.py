"""Every way an episode can end, and everything that can come of a model's answer: one table each.

Whoever counts (metrics, run, report, show) asks these tables. A name that is not in them is an
error at once. Environments and methods from outside the tree declare theirs as `outcomes`, which
maps names to `Outcome`; run.json keeps these, so that reports read them without that code. Knows
names only: no event, no file, no game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.core.errors import ConfigError

Blame = Literal["nobody", "model", "limits", "game", "us"]
"""Who is at fault. "limits": a setting drew the line, and `limit` names it."""

Apart = Literal["", "trivial", "unsolvable", "seen in training"]
"""Why a game stands apart; whether its map was seen in training, no outcome says."""


@dataclass(frozen=True)
class Outcome:
    """How an episode ended.

    `apart` names the count in which the episode stands instead of the denominator, "" if it counts.
    `played` is False where nothing was played: such an episode says nothing of steps or tokens.
    """

    means: str
    success: bool = False
    blame: Blame = "model"
    apart: Apart = ""
    played: bool = True
    limit: str = ""


@dataclass(frozen=True)
class Cause:
    """What came of an answer. `to_do` says that there is something to carry out: a plan is one."""

    means: str
    blame: Blame = "model"
    to_do: bool = False
    limit: str = ""


OUTCOMES: dict[str, Outcome] = {
    "success": Outcome("The task was done.", success=True, blame="nobody"),
    "success_at_start": Outcome(
        "The game was trivial: its task was done at reset.",
        success=True,
        blame="nobody",
        apart="trivial",
    ),
    "solved_before": Outcome(
        "An earlier trial solved this game, so this trial was not played.",
        success=True,
        blame="nobody",
        played=False,
    ),
    "unsolvable_game": Outcome(
        "The game has no solution.", blame="game", apart="unsolvable", played=False
    ),
    "game_lost": Outcome("A command made the game impossible to win."),
    "step_limit": Outcome(
        "The budget was spent before the task was done.", limit="environment.budget"
    ),
    "solver_abort": Outcome(
        "No answer to one question gave a plan, retries included.", limit="method.max_retries"
    ),
    "valid_but_wrong": Outcome(
        "The plan is one in the model's files, but not in the gold files: an action is refused, or "
        "it ends elsewhere."
    ),
    "simulation_abort": Outcome(
        "The game refused an action in every attempt of one step.", limit="method.max_attempts"
    ),
    "no_plan": Outcome("No answer held a plan or a sub-goal.", limit="method.max_retries"),
    "no_action": Outcome("No answer held an action.", limit="method.max_retries, max_thoughts"),
    "repeated_action": Outcome("A move and what came back were those of the move before."),
    "replan_limit": Outcome("The last plan allowed failed as well.", limit="method.max_replans"),
    "no_progress": Outcome(
        "Too many sub-goals in a row ended without a command.", limit="method.max_idle"
    ),
    "subgoal_failed": Outcome("A sub-goal failed, and the method makes no second plan."),
    "task_not_done": Outcome("Every sub-goal was accomplished, and the task was not done."),
    "context_exceeded": Outcome(
        "What the model wrote and saw outgrew its context.",
        blame="limits",
        limit="model.context_tokens",
    ),
}

CAUSES: dict[str, Cause] = {
    "solved": Cause("The planner found a plan.", blame="nobody", to_do=True),
    "mechanical_steps": Cause(
        "The goal was already true, and the method's own steps for it follow.",
        blame="nobody",
        to_do=True,
    ),
    "goal_already_true": Cause("The goal was already true: there is nothing to do."),
    "unsolvable": Cause("The planner proved that there is no plan."),
    "translate_error": Cause("The planner's translator refused the PDDL."),
    "timeout": Cause(
        "The planner ran out of time.", blame="limits", limit="planner.limits.cpu_s, planner.search"
    ),
    "out_of_memory": Cause(
        "The planner ran out of memory.", blame="limits", limit="planner.limits.memory_mb"
    ),
    "planner_fault": Cause("The planner failed without a verdict.", blame="us"),
    "answered": Cause("An answer that is not for the planner was usable.", blame="nobody"),
    "empty": Cause("The answer was empty, or a text in it was."),
    "truncated": Cause(
        "The answer was cut off.", limit="decoding.max_tokens, model.context_tokens"
    ),
    "unfinished_thought": Cause(
        "A thought used up the tokens of the answer.", limit="decoding.max_tokens"
    ),
    "no_json": Cause("The answer held no JSON object, nor what was asked for in another form."),
    "wrong_keys": Cause("The answer's JSON object had other keys than those asked for."),
    "placeholder": Cause('The answer held placeholders ("...") in place of its content.'),
}

PLANNED = ("solved", "goal_already_true")
"""Of the planner's outcomes those with a plan: an empty one where the goal is true at once."""


def declare(outcomes: Mapping[str, Outcome]) -> None:
    """Adds to the table what an environment or a method from outside the tree brings, as `outcomes`
    of its class. Raises ConfigError for a name that means something else already."""
    for name, outcome in outcomes.items():
        if OUTCOMES.setdefault(name, outcome) != outcome:
            raise ConfigError(
                f"the outcome {name!r} is declared as {outcome.means!r} and is known as "
                f"{OUTCOMES[name].means!r}; give one of them another name"
            )


def outcome_named(name: str) -> Outcome:
    """Raises ConfigError for a name that is not in the table: a method's mistake."""
    try:
        return OUTCOMES[name]
    except (KeyError, TypeError):
        raise ConfigError(
            f"a method returned the outcome {name!r}, which core/outcomes.py does not list and the "
            f"method does not declare (`outcomes` of its class); it lists {', '.join(OUTCOMES)}"
        ) from None


def planning_cause(outcome: str, then: Sequence[str]) -> str:
    """The cause that a planner's outcome is; `then` are the method's own steps for the goal."""
    return "mechanical_steps" if outcome == "goal_already_true" and then else outcome


def something_to_do(cause: str) -> bool:
    """Whether a cause leaves something to carry out; "" stands for a model not yet asked."""
    return bool(cause) and CAUSES[cause].to_do

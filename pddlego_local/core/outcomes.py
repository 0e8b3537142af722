"""Two tables: every way in which an episode can end, and every result of a model's
answer.

The tables are in `outcomes.yaml`. All code that scores episodes (metrics, run, report,
show) uses them, and a name that is not in them is an error at once. Environments and
methods from outside the tree declare their own outcomes in a class attribute
`outcomes`, which maps names to `Outcome`. run.json stores these, so that reports can
read them without that code. This module knows only names, neither events nor games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import table

Blame = Literal["nobody", "model", "limits", "game", "us"]
"""Who is at fault. "limits" means that a limit was reached; `limit` names the setting.
"""

Apart = Literal["", "trivial", "unsolvable", "seen in training"]
"""Why a game is excluded. No outcome has "seen in training": a row's `map_seen` says
that.
"""


@dataclass(frozen=True)
class Outcome:
    """How an episode ended.

    `apart` says why the episode is excluded from the denominator, "" if it is scored.
    `played` is False if nothing was played: such an episode has no data on steps or
    tokens.
    """

    means: str
    success: bool = False
    blame: Blame = "model"
    apart: Apart = ""
    played: bool = True
    limit: str = ""


@dataclass(frozen=True)
class Cause:
    """The result of an answer. `to_do` says whether it leaves something to carry out: a
    plan.
    """

    means: str
    blame: Blame = "model"
    to_do: bool = False
    limit: str = ""


_TABLES = table(__file__)
OUTCOMES = {name: Outcome(**entry) for name, entry in _TABLES["outcomes"].items()}
CAUSES = {name: Cause(**entry) for name, entry in _TABLES["causes"].items()}

PLANNED = ("solved", "goal_already_true")
"""The planner outcomes with a plan; the plan is empty if the goal is already true."""

ACCEPTED = (*PLANNED, "unsolvable", "timeout", "out_of_memory")
"""The planner outcomes of files that the planner's translator accepts."""


def declare(outcomes: Mapping[str, Outcome]) -> None:
    """Adds the `outcomes` of an environment or method from outside the tree to the
    table.

    Raises ConfigError for a name that already has another meaning.
    """
    for name, outcome in outcomes.items():
        if OUTCOMES.setdefault(name, outcome) != outcome:
            raise ConfigError(
                f"the outcome {name!r} is declared as {outcome.means!r} but already"
                f" means {OUTCOMES[name].means!r}; give one of them another name"
            )


def outcome_named(name: str) -> Outcome:
    """Returns the outcome. Raises ConfigError for an unknown name, which is a method's
    mistake.
    """
    try:
        return OUTCOMES[name]
    except (KeyError, TypeError):
        raise ConfigError(
            f"a method returned the outcome {name!r}, which core/outcomes.yaml does not"
            " list and the method does not declare (`outcomes` of its class); it lists"
            f" {', '.join(OUTCOMES)}"
        ) from None


def planning_cause(outcome: str, then: Sequence[str]) -> str:
    """Returns the cause for a planner's outcome; `then` are the method's own steps for
    the goal.
    """
    return "mechanical_steps" if outcome == "goal_already_true" and then else outcome


def something_to_do(cause: str) -> bool:
    """Returns whether a cause leaves something to carry out. "" means no model was
    asked yet.
    """
    return bool(cause) and CAUSES[cause].to_do

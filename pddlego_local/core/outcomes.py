"""Every way an episode can end, and everything that can come of a model's answer: one table each.

The tables are in `outcomes.yaml`. Whoever counts (metrics, run, report, show) asks them. A name
that is not in them is an error at once. Environments and methods from outside the tree declare
theirs as `outcomes`, which maps names to `Outcome`; run.json keeps these, so that reports read them
without that code. Knows names only: no event, no game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

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


_TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
OUTCOMES = {name: Outcome(**entry) for name, entry in _TABLES["outcomes"].items()}
CAUSES = {name: Cause(**entry) for name, entry in _TABLES["causes"].items()}

PLANNED = ("solved", "goal_already_true")
"""Of the planner's outcomes those with a plan: an empty one where the goal is true at once."""

ACCEPTED = (*PLANNED, "unsolvable", "timeout", "out_of_memory")
"""Of the planner's outcomes those of files that its translator takes."""


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
            f"a method returned the outcome {name!r}, which core/outcomes.yaml does not list and "
            f"the method does not declare (`outcomes` of its class); it lists {', '.join(OUTCOMES)}"
        ) from None


def planning_cause(outcome: str, then: Sequence[str]) -> str:
    """The cause that a planner's outcome is; `then` are the method's own steps for the goal."""
    return "mechanical_steps" if outcome == "goal_already_true" and then else outcome


def something_to_do(cause: str) -> bool:
    """Whether a cause leaves something to carry out; "" stands for a model not yet asked."""
    return bool(cause) and CAUSES[cause].to_do

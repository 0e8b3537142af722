"""How a method plays one episode to its end, whoever answers and wherever the events
go: the constraints of its questions, its outcome and its row.
"""

from typing import Protocol

from pddlego_local.core import errors
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import Call, Event, Unsolvable
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import summarize
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import GrammarContext, Model
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.model_caller import in_its_layout
from pddlego_local.methods import Method


def constraints_of(
    method: Method, decoding: Decoding, environment: Environment, model: Model
) -> dict[str, Constraint]:
    """Returns the constraint of each form in which the method asks for answers."""
    context = GrammarContext(actions=environment.actions, domain=environment.domain)
    in_layout = in_its_layout(decoding, model)
    return {
        form.name: constraint_for(in_layout, form, context) for form in method.forms
    }


class Log(Protocol):
    """Takes the events of an episode as they happen, and keeps them."""

    events: list[Event]

    def __call__(self, event: Event) -> None: ...


def outcome_of(method: Method, episode: Episode, log: Log) -> str:
    """Has the method play the episode, and returns how it ended."""
    try:
        return method(episode)
    except errors.UnsolvableGame as error:
        log(Unsolvable(message=str(error)))
        return "unsolvable_game"
    except errors.PromptTooLong:
        if not asked(log):
            raise
        return "context_exceeded"


def row_of(
    episode: Episode, trial: int, outcome: str, log: Log, wall_time_s: float
) -> EpisodeRow:
    """Returns the terminal row of an episode that was played to its end."""
    return EpisodeRow(
        game=episode.game,
        trial=trial,
        outcome=outcome,
        success=outcome_named(outcome).success,
        won=_won(episode, outcome),
        wall_time_s=wall_time_s,
        **vars(summarize(log.events, outcome)),
    )


def asked(log: Log) -> bool:
    """Returns whether a model has answered in this episode."""
    return any(isinstance(event, Call) for event in log.events)


def _won(episode: Episode, outcome: str) -> bool:
    """Returns whether the game itself says that it is won, in this trial or, if this
    trial was skipped as solved before, in an earlier one.
    """
    if outcome == "solved_before":
        trials = [row for row in episode.earlier if row.game == episode.game]
        return any(row.won for row in trials)
    return outcome_named(outcome).success and episode.environment.won()

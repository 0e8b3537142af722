"""Plays commands in one game within its budget, and emits an event for each command."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Observation, Turn, Turns
from pddlego_local.core.protocols import Environment, Inspectable
from pddlego_local.core.record.events import ActionTaken, Emit, Restart
from pddlego_local.core.record.states import NOTHING, change
from pddlego_local.core.visible import visible


@dataclass(frozen=True)
class Execution:
    """The result of carrying out a plan: the turns to keep, and the first refusal if
    any.

    `error` says why an action was refused. `refused` is the turn of that action, if the
    game refused it and the plan stopped there. `ended` is "success", "game_lost", an
    outcome that the environment defines, or "" while the game goes on.
    """

    turns: tuple[Turn, ...] = ()
    error: str = ""
    ended: str = ""
    refused: Turn | None = None

    @property
    def tried(self) -> tuple[Turn, ...]:
        """All turns, with the refused action last."""
        return (*self.turns, self.refused) if self.refused else self.turns


class GameRunner:
    """Plays one environment for one episode. `commands` are those that the game offers
    now.
    """

    def __init__(self, environment: Environment, emit: Emit) -> None:
        self.commands: tuple[str, ...] = ()
        self.environment = environment
        self._emit = emit
        self._moves = 0
        self._state = NOTHING

    @property
    def spent(self) -> bool:
        """Whether a budget of actions is used up."""
        budget = self.environment.budget
        return budget.unit == "actions" and self._moves >= budget.limit

    def _reset(self, game: int) -> Observation:
        first = self.environment.reset(game)
        self.commands = first.commands
        self._moves = 0
        return first

    def _replay(self, game: int, turns: Turns) -> None:
        """Resets the game and repeats these commands, which count against the budget.
        Raises EnvironmentFault if an observation differs.
        """
        self._reset(game)
        self._moves = len(turns)
        self._emit(Restart(replayed=tuple(turn.command for turn in turns)))
        for turn in turns:
            seen = self.environment.step(turn.command)
            self.commands = seen.commands
            if seen.text != turn.text:
                raise EnvironmentFault(
                    f"game {game} of {self.environment.name} is not repeatable: "
                    f"{turn.command!r} no longer gives {turn.text!r}"
                )
        self._record_state()

    def execute(
        self,
        plan: Sequence[str],
        *,
        stop_at_refusal: bool = True,
        to_its_end: bool = False,
    ) -> Execution:
        """Plays a plan until the plan, the game or the budget ends, or an action is
        refused.

        If `stop_at_refusal` is false, refused actions are ordinary turns (PDDLego §4).
        If `to_its_end` is true, the plan goes on after the game has ended, and the
        state after the last action decides, as for the validator VAL.
        """
        done = Execution()
        for planned in plan:
            if self.spent or (done.ended and not to_its_end):
                break
            command = self.environment.command(planned)
            if command is None:
                error = (
                    f"{planned} is not one of the allowed actions with its exact"
                    " parameters."
                )
                self._taken(planned, None, Observation("", feedback=error))
                if stop_at_refusal:
                    return dataclasses.replace(done, error=error)
                continue
            turn, seen = self._step(command, planned)
            if seen.refused and stop_at_refusal:
                return dataclasses.replace(done, error=seen.feedback, refused=turn)
            done = Execution((*done.turns, turn), ended=_ended(seen))
        return done

    def act(self, command: str) -> Execution:
        """Plays one command in the game's words. A refused command is a turn too, with
        an error.
        """
        turn, seen = self._step(command, None)
        return Execution((turn,), seen.feedback, _ended(seen))

    def _step(self, command: str, planned: str | None) -> tuple[Turn, Observation]:
        """Makes control characters visible, so that the game refuses them in its own
        words: it could otherwise overlook them and obey, or fail.
        """
        command = visible(command)
        seen = self.environment.step(command)
        self.commands = seen.commands
        self._taken(planned, command, seen)
        self._record_state()
        return Turn(command, seen.text), seen

    def _record_state(self) -> None:
        """Records what is true now, if the environment knows it and it has changed."""
        if isinstance(self.environment, Inspectable):
            state = self.environment.true_state()
            if event := change(self._state, state):
                self._emit(event)
            self._state = state

    def _taken(
        self, planned: str | None, command: str | None, seen: Observation
    ) -> None:
        self._moves += 1
        self._emit(
            ActionTaken(
                planned=planned,
                command=command,
                observation=seen.text,
                feedback=seen.feedback,
                success=seen.success,
            )
        )


def _ended(seen: Observation) -> str:
    if seen.outcome:
        return seen.outcome
    if seen.success:
        return "success"
    return "game_lost" if seen.lost else ""

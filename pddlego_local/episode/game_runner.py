"""From commands to observations: one game, its budget, and an event for each command."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Observation, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import ActionTaken, Emit, Restart
from pddlego_local.core.visible import visible


@dataclass(frozen=True)
class Execution:
    """What carrying out a plan gave: the turns that count, and the first refusal if any.

    `error` says why an action was refused, `refused` is its turn where the game refused it and the
    plan was stopped. `ended` is "success", "game_lost", an outcome of the environment's own, or ""
    while the game goes on.
    """

    turns: tuple[Turn, ...] = ()
    error: str = ""
    ended: str = ""
    refused: Turn | None = None

    @property
    def tried(self) -> tuple[Turn, ...]:
        """All that was done, the refused action last."""
        return (*self.turns, self.refused) if self.refused else self.turns


class GameRunner:
    """Plays in one environment for one episode. `commands` are those that the game offers now."""

    def __init__(self, environment: Environment, emit: Emit) -> None:
        self.commands: tuple[str, ...] = ()
        self.environment = environment
        self._emit = emit
        self._moves = 0

    @property
    def spent(self) -> bool:
        """Whether a budget of actions leaves none."""
        budget = self.environment.budget
        return budget.unit == "actions" and self._moves >= budget.limit

    def _reset(self, game: int) -> Observation:
        first = self.environment.reset(game)
        self.commands = first.commands
        self._moves = 0
        return first

    def _replay(self, game: int, turns: Sequence[Turn]) -> None:
        """Resets the game and gives these commands again, which count against the budget. Raises
        EnvironmentFault if it plays differently."""
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

    def execute(
        self, plan: Sequence[str], *, stop_at_refusal: bool = True, to_its_end: bool = False
    ) -> Execution:
        """Plays a plan until its end, the game's, the budget's, or the first refused action. With
        `stop_at_refusal` false, refused actions are turns like any other (PDDLego §4). With
        `to_its_end` the state after the last action counts, as for the validator VAL."""
        done = Execution()
        for planned in plan:
            if self.spent or (done.ended and not to_its_end):
                break
            command = self.environment.command(planned)
            if command is None:
                error = f"{planned} is not one of the allowed actions with its exact parameters."
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
        """Plays one command in the game's words. A refused one is a turn too; its error is kept."""
        turn, seen = self._step(command, None)
        return Execution((turn,), seen.feedback, _ended(seen))

    def _step(self, command: str, planned: str | None) -> tuple[Turn, Observation]:
        """A game may overlook a control character and obey, or fail: it is given what a record can
        show instead, and refuses that in its own words."""
        command = visible(command)
        seen = self.environment.step(command)
        self.commands = seen.commands
        self._taken(planned, command, seen)
        return Turn(command, seen.text), seen

    def _taken(self, planned: str | None, command: str | None, seen: Observation) -> None:
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
    return seen.outcome or ("success" if seen.success else "game_lost" if seen.lost else "")

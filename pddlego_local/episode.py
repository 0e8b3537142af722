"""One game, played once: every arrow of the straight line is a call here, and leaves an event.

A method decides what to ask and when; this file asks, plans, acts and writes down. It knows no
method and no particular environment, model or planner.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pddlego_local.core import Environment, Model, Observation, Planner, Prompt, Turn
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.answer import Answer, read_pddl
from pddlego_local.decoding.rungs import grammar_for
from pddlego_local.errors import EnvironmentFault
from pddlego_local.seeds import derive_seed

FIRST_COMMAND = "look around"

ANSWER_MESSAGES = {
    "empty": "Your answer was empty.",
    "truncated": "Your answer was too long and was cut off before its end. Write shorter files.",
    "unfinished_thought": "You never finished thinking, and gave no answer. Think less.",
    "no_json": 'Your answer held no JSON object of the form {"df": "...", "pf": "..."}.',
    "wrong_keys": 'Your answer must be a JSON object with exactly the two strings "df" and "pf".',
}


@dataclass(frozen=True)
class Formalization:
    """A model's answer and what became of it.

    `cause` is "solved", another outcome of the planner, or why the answer held no PDDL
    (`decoding.answer`). `plan` is empty unless solved; `message` is what the model is told.
    """

    domain: str
    problem: str
    cause: str
    plan: tuple[str, ...]
    message: str


@dataclass(frozen=True)
class Execution:
    """What carrying out a plan gave: the turns that succeeded, and the first refusal if any."""

    turns: tuple[Turn, ...]
    commands: tuple[str, ...]
    error: str
    success: bool


@dataclass(frozen=True)
class Parts:
    """What an episode is played with."""

    environment: Environment
    model: Model
    planner: Planner
    decoding: Decoding


class Episode:
    """The memory of one episode and the few things a method can do in it.

    `memory` holds the turns that count, beginning with the first look.
    """

    def __init__(
        self, parts: Parts, emit: Callable[..., None], *, run_seed: int, game: int, trial: int
    ) -> None:
        self.environment = parts.environment
        self.memory: tuple[Turn, ...] = ()
        self._parts = parts
        self._emit = emit
        self._seed_parts = (run_seed, game, trial)
        self._game = game
        self._calls = 0

    def start(self) -> Observation:
        """Resets the game; its first look is the first turn of the memory."""
        first = self.environment.reset(self._game)
        self.memory = (Turn(FIRST_COMMAND, first.text),)
        self._emit("start", game=self._game, observation=first.text, success=first.success)
        return first

    def restart(self) -> None:
        """Resets the game and replays the memory; EnvironmentFault if it plays differently."""
        self.environment.reset(self._game)
        commands = [turn.command for turn in self.memory[1:]]
        self._emit("restart", replayed=commands)
        for turn in self.memory[1:]:
            if self.environment.step(turn.command).text != turn.text:
                raise EnvironmentFault(
                    f"game {self._game} of {self.environment.name} is not repeatable: "
                    f"{turn.command!r} no longer gives {turn.text!r}"
                )

    def remember(self, turns: Sequence[Turn]) -> None:
        self.memory = (*self.memory, *turns)

    def formalize(self, prompt: Prompt, *, step: int, attempt: int, retry: int) -> Formalization:
        """Prompt → completion → PDDL → plan. The three numbers say where the method stands."""
        where = {"step": step, "attempt": attempt, "retry": retry}
        answer = self._ask(prompt, where)
        if answer.fault:
            return Formalization("", "", answer.fault, (), ANSWER_MESSAGES[answer.fault])
        result = self._parts.planner.plan(answer.domain, answer.problem)
        self._emit("plan", **where, **dataclasses.asdict(result))
        return Formalization(
            answer.domain, answer.problem, result.outcome, result.plan, result.message
        )

    def execute(self, plan: Sequence[str]) -> Execution:
        """Plays a plan until its end, a success, or the first action that is refused."""
        turns: list[Turn] = []
        commands: tuple[str, ...] = ()
        for planned in plan:
            command = self.environment.command(planned)
            if command is None:
                error = f"{planned} is not one of the allowed actions with its exact parameters."
                self._emit("action", planned=planned, command=None, observation="", feedback=error)
                return Execution(tuple(turns), commands, error, success=False)
            seen = self.environment.step(command)
            self._emit(
                "action",
                planned=planned,
                command=command,
                observation=seen.text,
                feedback=seen.feedback,
                success=seen.success,
            )
            if seen.refused:
                error = told([*turns, Turn(command, seen.text)]) + "\n" + seen.feedback
                return Execution(tuple(turns), commands, error, success=False)
            turns.append(Turn(command, seen.text))
            commands = seen.commands
            if seen.success:
                return Execution(tuple(turns), commands, "", success=True)
        return Execution(tuple(turns), commands, "", success=False)

    def _ask(self, prompt: Prompt, where: dict[str, int]) -> Answer:
        decoding = self._parts.decoding
        self._calls += 1
        seed = derive_seed(*self._seed_parts, self._calls)
        grammar = grammar_for(decoding.rung)
        sampling = decoding.sampling(seed)
        completion = self._parts.model.complete(prompt, grammar, sampling)
        answer = read_pddl(completion, decoding.rung)
        self._emit(
            "call",
            **where,
            messages=[dataclasses.asdict(message) for message in prompt.messages],
            grammar=grammar.sha256 if grammar else None,
            sampling=dataclasses.asdict(sampling),
            **dataclasses.asdict(completion),
            **dataclasses.asdict(answer),
        )
        return answer


def told(turns: Sequence[Turn]) -> str:
    """Turns as a prompt tells them: "Action: move west" and, on the next line, what was seen."""
    return "\n".join(f"Action: {turn.command}\n{turn.text}" for turn in turns)

"""One game, played once. Each step from a question to an action is a call here and
leaves an event.

A method decides what to ask and when; this file asks, plans, acts and records. It
depends on no method, and on no particular environment, model or planner.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from pddlego_local.core.nouns import (
    Goal,
    Message,
    Messages,
    Names,
    Observation,
    Turn,
    Turns,
)
from pddlego_local.core.protocols import Environment, Mapped, Planner
from pddlego_local.core.record.events import Chosen, Emit, Event, Note, Start, Where
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Fields, Form, Pddl, Problem
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Model, Question
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.game_runner import GameRunner
from pddlego_local.episode.model_caller import ModelCaller
from pddlego_local.episode.planning import Formalization, plan
from pddlego_local.episode.reading.answer import Answer
from pddlego_local.episode.shown import Shown, names_shown

FIRST_COMMAND = "look around"

T = TypeVar("T", bound=Fields)


@dataclass(frozen=True)
class OtherGames:
    """The games that a cell does not play, for examples in prompts. `lend` lends
    another environment of the cell, and `played` are the cell's own games. `kept` has
    what was made of other games, for all episodes of the cell; `lock` guards it.
    """

    lend: Callable[[], AbstractContextManager[Environment]]
    played: frozenset[int] = frozenset()
    kept: dict[object, Any] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)


@dataclass(frozen=True)
class Parts:
    """The parts that an episode uses. `trained_on` are the maps that the model was
    trained on.
    """

    environment: Environment
    model: Model
    planner: Planner
    decoding: Decoding
    trained_on: frozenset[str] = frozenset()
    others: OtherGames | None = None


class Episode(GameRunner):
    """The memory of one episode, and the operations that a method can use.

    `memory` holds the turns that are kept, beginning with the first observation.
    `earlier` are the rows of the previous trials of all games, in the order (trial,
    game); a method that learns between trials may read them. `seed` is used by this
    episode alone.
    """

    def __init__(
        self,
        parts: Parts,
        emit: Emit,
        *,
        run_seed: int,
        game: int,
        trial: int,
        earlier: Sequence[EpisodeRow] = (),
    ) -> None:
        super().__init__(parts.environment, emit)
        self.parts = parts
        self.game = game
        self.earlier = earlier
        self.seed = derive_seed(run_seed, game, trial)
        self.memory: tuple[Turn, ...] = ()
        self._trained_on = parts.trained_on
        self._decoding = parts.decoding
        self._caller = ModelCaller(
            parts.model, parts.decoding, emit, (run_seed, game, trial)
        )
        self._planner = parts.planner

    def start(self) -> Observation:
        """Resets the game and returns the first observation, which is the memory's
        first turn.
        """
        first = self._reset(self.game)
        self.memory = (Turn(FIRST_COMMAND, first.text),)
        map_ = self.environment.map if isinstance(self.environment, Mapped) else ""
        self._emit(
            Start(
                game=self.game,
                task_type=self.environment.task_type,
                observation=first.text,
                success=first.success,
                map=map_,
                map_seen=map_ in self._trained_on,
            )
        )
        self._record_state()
        return first

    def steps(self) -> Iterator[int]:
        """Yields 1, 2, … until the environment's budget of rounds or of actions is
        spent.
        """
        budget = self.environment.budget
        for step in itertools.count(1):
            if self.spent or (budget.unit == "rounds" and step > budget.limit):
                return
            yield step

    def plan(
        self,
        asked: AnyQuestion,
        domain: str,
        problem: str,
        where: Where,
        *,
        goals: Sequence[Goal] = (),
        given: bool = False,
    ) -> Formalization:
        """Plans for an answer to the question `asked` and records each plan
        (`planning.plan`).
        """
        return plan(
            self._planner,
            self._decoding,
            self._emit,
            domain,
            problem,
            where,
            goals,
            context=asked.context,
            given=given,
        )

    def restart(self) -> None:
        """Resets the game and replays the memory. Raises EnvironmentFault if the game
        differs.
        """
        self._replay(self.game, self.memory[1:])

    def remember(self, turns: Turns) -> None:
        self.memory = (*self.memory, *turns)

    def record(self, event: Event) -> None:
        """Writes an event of the method itself to the transcript."""
        self._emit(event)

    def note(self, **facts: object) -> None:
        """Records facts of the method; the row keeps the last value of each name."""
        self._emit(Note(facts=facts))

    def question(
        self,
        form: Form[T],
        shown: Shown,
        messages: Messages = (),
        *,
        commands: Sequence[str] = (),
        domain: str = "",
        problem: str = "",
        own_goal: bool = True,
        subgoal: str = "",
    ) -> Question[T]:
        """Builds a question from a rendered prompt.

        `shown` is the only message, or the part of `messages` that shows the game.
        `commands` are offered in addition to those in `shown`. `GrammarContext`
        describes the other arguments.
        """
        settings = self._decoding
        environment = self.environment
        names = Names()
        if settings.needs_context:
            names = names_shown(environment, shown)
        context = GrammarContext(
            environment=environment.package,
            memory=self.memory,
            actions=environment.actions,
            names=names,
            commands=(*shown.commands, *commands),
            domain=domain,
            problem=problem,
            own_goal=own_goal,
            subgoal=subgoal,
        )
        return Question(form, messages or (Message("user", shown.text),), context)

    def formalize(
        self,
        question: Question[Pddl | Problem],
        *,
        step: int,
        attempt: int = 1,
        retry: int = 0,
        goals: Sequence[Goal] = (),
        given: bool = False,
    ) -> Formalization:
        """Asks the question and plans with the files in the answers (`propose`,
        `planning.plan`).

        An answer with the problem alone is planned with the domain that the question
        was built with.
        """

        def plan(files: Pddl | Problem, where: Where) -> Formalization:
            domain = files.df if isinstance(files, Pddl) else question.context.domain
            return self.plan(
                question, domain, files.pf, where, goals=goals, given=given
            )

        return self.propose(question, plan, step=step, attempt=attempt, retry=retry)

    def propose(
        self,
        question: Question[T],
        plan: Callable[[T, Where], Formalization],
        *,
        step: int,
        attempt: int = 1,
        retry: int = 0,
    ) -> Formalization:
        """Asks for `decoding.best_of` answers and returns the formalization of one of
        them.

        This is the first one with a plan (see `Formalization.to_do`), or the first of
        all if none has one. `plan` makes a formalization from an answer's value and
        from its place in the episode, which it needs for its records. An answer without
        a value becomes a formalization without text; its cause is the answer's fault.
        """
        proposed: list[Formalization] = []
        chosen = 0
        count = self._decoding.best_of
        where = Where(step=step, attempt=attempt, retry=retry)
        for sample, answer in enumerate(self._caller.answers(question, count, where)):
            if answer.value:
                here = dataclasses.replace(where, sample=sample)
                formalization = plan(answer.value, here)
            else:
                message = question.form.message(answer.fault)
                formalization = Formalization("", "", answer.fault, (), message)
            proposed.append(formalization)
            if formalization.to_do:
                chosen = sample
                break
        if count > 1:
            self._emit(Chosen(where=dataclasses.replace(where, sample=chosen)))
        return proposed[chosen]

    def ask(
        self, question: Question[T], *, step: int, attempt: int = 1, retry: int = 0
    ) -> Answer[T]:
        """Asks for one answer. Returns the form's value, or the fault that explains its
        absence.
        """
        where = Where(step=step, attempt=attempt, retry=retry)
        return self._caller.answers(question, 1, where)[0]

"""Plays one cell: holds its parts and its record, and plays its episodes one by one.

This module does not manage threads or the other cells that are played at the same time;
`run` does.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from pddlego_local.core import errors
from pddlego_local.core.formats import now
from pddlego_local.core.grouping import grouped
from pddlego_local.core.protocols import LanguageModel, Planner, Trained
from pddlego_local.core.record.events import End
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.record.rows import EpisodeRow, FaultRow, GameTrial
from pddlego_local.core.record.run_record import refuse_older
from pddlego_local.decoding.grammars.lark_text import validate
from pddlego_local.decoding.question import Model
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, OtherGames, Parts
from pddlego_local.methods import Method
from pddlego_local.models.canary import check_obedience
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.environment_store import EnvironmentStore
from pddlego_local.runner.one_episode import (
    asked,
    constraints_of,
    outcome_of,
    row_of,
)
from pddlego_local.runner.provenance import provenance, run_record
from pddlego_local.runner.unexpected import Unexpected, unexpected

MOST_EQUAL = 10
"""Unexpected exceptions of one type and place. With the last one, the cell ends."""

MOST_WAIT_S = 30
"""The waits before retries of an episode are 1 s, 2 s, 4 s, … up to this."""


@dataclass
class CellResult:
    """The result of playing one cell.

    `played` counts the episodes that got a row. `faults` lists the episodes that ended
    in an infrastructure fault, as "game 3, trial 0: …". `refused` is the error that
    kept every episode from beginning, for example that another process is playing the
    cell. `left` counts the episodes that were not begun because the run or the cell
    ended early, for the `reason`.
    """

    folder: Path
    played: int = 0
    faults: list[str] = field(default_factory=list)
    left: int = 0
    reason: str = ""
    refused: errors.PddlegoError | None = None


class ModelStore:
    """Keeps the last model open, so that cells with the same model share its server.

    It must be used by one thread only.
    """

    def __init__(self) -> None:
        self._configured: object = None
        self._model: Model | None = None

    def get(self, config: CellConfig) -> Model:
        """Returns the open model if it has this configuration, else builds one without
        starting it.

        Raises ConfigError for an impossible option.
        """
        is_configured = config.tree["model"] == self._configured
        if self._model is not None and is_configured:
            return self._model
        model: Model = config.build("model")
        return model

    def open(self, config: CellConfig, model: Model) -> None:
        """Keeps the model of this configuration, after closing any other model."""
        if model is not self._model:
            self.close()
        self._configured = config.tree["model"]
        self._model = model

    @property
    def restarts(self) -> int:
        """How often the open model's server died; 0 for a model without a server."""
        return getattr(self._model, "restarts", 0)

    def close(self) -> None:
        model, self._model = self._model, None
        if model:
            model.close()


class OpenCell:
    """A cell whose record this process locks until `close`.

    `missing` lists the episodes that have no terminal row yet.
    `ready` says that all episodes are done and run.json exists. `waves` yields groups
    of episodes that may be played together; a group may start when all episodes of the
    previous group have ended. `result` is the result so far. `in_flight` counts the
    episodes that were handed out and have not ended. `given_up` says why no further
    episode of this cell begins; "" while episodes may begin.
    """

    def __init__(
        self,
        config: CellConfig,
        models: ModelStore,
        planner: Planner,
        stop: threading.Event,
    ) -> None:
        """Builds the parts without loading or starting anything. After `stop`, nothing
        is retried.

        Raises ConfigError, or CellHeld if another process is playing the cell.
        """
        self.config = config
        self.folder = config.folder
        self.result = CellResult(config.folder)
        self.in_flight = 0
        self.waves = self._waves()
        self.given_up = ""
        self._answered = False
        self._unexpected = Counter[tuple[str, str]]()
        self._counting = threading.Lock()
        self._models = models
        self._planner = planner
        self._stop = stop
        self._decoding: Decoding = config.build("decoding")
        self._method: Method = config.build("method")
        self._trained_on = frozenset[str]()
        self._earlier: list[EpisodeRow] = []
        with contextlib.ExitStack() as stack:
            self._environments = stack.enter_context(
                contextlib.closing(EnvironmentStore(config))
            )
            games = config.settings.games
            config.check_games(self._environments.first, games)
            self._others = OtherGames(self._environments.lend, frozenset(games))
            refuse_older(self.folder, config.identity, provenance())
            self._model = models.get(config)
            self._record = stack.enter_context(Cell(self.folder))
            done = self._record.done()
            self.missing = [key for key in config.episodes if key not in done]
            self._environments.wanted = len(self.missing)
            self.done = len(done)
            described = self._record.described or not done
            self.ready = described and not self.missing
            self._closing = stack.pop_all()

    def close(self) -> None:
        self._closing.close()

    def prepare(self, console: Console) -> None:
        """Runs the checks that would fail for every episode alike, before the first
        episode.

        Also writes run.json. Raises MissingPart, ConfigError, GrammarIgnored or
        ModelFault.
        """
        model = self._model
        thinking = self._decoding.thinking
        environment = self._environments.first
        constraints = constraints_of(self._method, self._decoding, environment, model)
        for constraint in constraints.values():
            validate(constraint.first_grammar)
        environment.preflight()
        self._models.open(self.config, model)  # frees the previous model's GPU
        model.preflight(thinking=thinking)
        if isinstance(model, Trained):
            self._trained_on = model.trained_on()
        rows_before = None
        if self.done and not self._record.described:
            rows_before = self.done
            console.print(f"{self.folder}: run.json is missing and is written again")
        run = run_record(
            self.config, environment, self._method, constraints, model, rows_before
        )
        self._record.describe(run)
        all_free = all(constraint.free for constraint in constraints.values())
        if self.missing and model.decodes and not all_free:
            console.print("starting the model and checking that it obeys grammars")
            self._check_model(model, constraints)

    def _check_model(
        self, model: LanguageModel, constraints: Mapping[str, Constraint]
    ) -> None:
        """Raises GrammarIgnored or ModelFault if the model does not obey grammars."""
        grammars = [constraint.first_grammar for constraint in constraints.values()]
        is_lark = [grammar.kind == "lark" for grammar in grammars if grammar]
        check_obedience(
            model,
            thinking=self._decoding.thinking,
            stages=any(constraint.in_stages for constraint in constraints.values()),
            schema=not any(is_lark),
        )

    def _waves(self) -> Iterator[list[GameTrial]]:
        """Yields one trial after the other for a method that learns from earlier
        trials. After a fault, later trials wait for the next run, so that learning does
        not depend on chance.
        """
        learns = self._method.learns
        waves = grouped(
            (trial if learns else 0, (game, trial)) for game, trial in self.missing
        )
        for first_trial, episodes in sorted(waves.items()):
            if self.result.faults:
                for game, trial in episodes:
                    waits = f"game {game}, trial {trial}: waits for trial {trial - 1}"
                    self.result.faults.append(waits)
            elif self.result.left:
                self.result.left += len(episodes)
            else:
                if learns:
                    self._earlier = self._record.earlier(first_trial)
                self.in_flight = len(episodes)
                yield episodes

    def ended(self, end: EpisodeRow | FaultRow | None) -> None:
        """Adds an episode's end to `result`; `end` is None if it was not begun or was
        stopped.
        """
        self.in_flight -= 1
        if end is None:
            self.result.left += 1
        elif isinstance(end, FaultRow):
            words = f"{end.fault}: {end.message}"
            if end.traceback:
                words += f"; its traceback is in {self.folder / 'faults.jsonl'}"
            self.result.faults.append(f"game {end.game}, trial {end.trial}: {words}")
        else:
            self.result.played += 1

    def play(self, game: int, trial: int) -> EpisodeRow | FaultRow | None:
        """Plays one episode and returns its terminal row, or the fault that remains
        after the retries. Both are recorded. An exception that nobody expected is a
        fault too, and is not retried. Returns None if the run was stopped or the cell
        was given up. Thread-safe.
        """
        self._environments.begin_one()
        retries = 0
        while not self.given_up:
            try:
                return self._play(game, trial)
            except errors.InfrastructureError as error:
                if error.ends_run:
                    raise
                is_last = retries == self.config.settings.run.retries
                would_fail_again = isinstance(error, errors.GrammarFault)
                if (is_last or would_fail_again) and not self._stop.is_set():
                    return self._record_failure(game, trial, error)
            except (errors.PddlegoError, KeyboardInterrupt):
                raise
            except BaseException as error:
                # Also SystemExit: the code of an extension may exit.
                return self._record_unexpected(game, trial, unexpected(error))
            if self._stop.wait(min(2**retries, MOST_WAIT_S)):
                return None
            retries += 1
        return None

    def _record_failure(
        self, game: int, trial: int, error: errors.InfrastructureError
    ) -> FaultRow:
        message = str(error)
        if isinstance(error, errors.GrammarFault):
            path = self._record.keep_grammar(game, trial, error.grammar)
            message += f" Its text is in {path}."
        return self._record_fault(game, trial, type(error).__name__, message)

    def _record_unexpected(self, game: int, trial: int, error: Unexpected) -> FaultRow:
        """Records the fault, and gives the cell up after the tenth that is equal."""
        with self._counting:
            self._unexpected[error.kind, error.place] += 1
            equal = self._unexpected[error.kind, error.place]
        if equal >= MOST_EQUAL:
            self.given_up = (
                f"{self.folder} was given up after {equal} episodes with {error.kind}"
                f" in {error.place}"
            )
        message = f"{error.message or 'no message'} ({error.place})"
        return self._record_fault(game, trial, error.kind, message, error.traceback)

    def _record_fault(
        self, game: int, trial: int, fault: str, message: str, traceback: str = ""
    ) -> FaultRow:
        row = FaultRow(
            game=game,
            trial=trial,
            fault=fault,
            message=message,
            time=now(),
            traceback=traceback,
        )
        self._record.append(row)
        return row

    def _play(self, game: int, trial: int) -> EpisodeRow:
        """Plays one episode. The transcript is complete before the row is written."""
        began = time.perf_counter()
        with (
            self._environments.lend() as environment,
            self._record.transcript(game, trial) as transcript,
        ):
            parts = Parts(
                environment,
                self._model,
                self._planner,
                self._decoding,
                self._trained_on,
                self._others,
            )
            episode = Episode(
                parts,
                transcript,
                run_seed=self.config.settings.seed,
                game=game,
                trial=trial,
                earlier=self._earlier,
            )
            try:
                outcome = outcome_of(self._method, episode, transcript)
            except errors.PromptTooLong:
                raise  # the first prompt of an episode: the context is set too small
            except errors.ConfigError as error:
                if not (self._answered or asked(transcript)):
                    raise  # the settings are wrong: no episode could be played
                raise errors.ModelFault(
                    f"{error} (Earlier requests were answered.)"
                ) from error
            finally:
                self._answered = self._answered or asked(transcript)
            wall_time_s = round(time.perf_counter() - began, 3)
            row = row_of(episode, trial, outcome, transcript, wall_time_s)
            transcript(End(row=row))
        self._record.append(row)
        return row

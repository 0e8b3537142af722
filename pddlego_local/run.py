"""`pddlego run`: plays every episode of a cell that has no terminal row yet.

The same command again continues. Episodes run in threads, each thread with an environment of its
own; results do not depend on how many there are.
"""

import contextlib
import itertools
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import tenacity
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pddlego_local.asking import layout_of
from pddlego_local.config import CellConfig
from pddlego_local.core import Environment, Planner
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.grammars.lark_text import validate
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Model, Scene
from pddlego_local.decoding.stages import StagedGrammar, first_grammar
from pddlego_local.episode import Episode, Parts
from pddlego_local.errors import (
    GrammarIgnored,
    InfrastructureError,
    MissingPart,
    PromptTooLong,
    RecordFault,
    UnsolvableGame,
)
from pddlego_local.events import Call, End, Unsolvable
from pddlego_local.methods import Method
from pddlego_local.metrics.episode import summarize
from pddlego_local.models.canary import check_forced_tokens, check_obedience
from pddlego_local.models.opened import MODELS
from pddlego_local.outcomes import outcome_named
from pddlego_local.provenance import now, run_and_start
from pddlego_local.record import Cell
from pddlego_local.rows import Ending, EpisodeRow, FaultRow

NEVER_RETRIED = (MissingPart, GrammarIgnored, RecordFault)


@dataclass(frozen=True)
class CellResult:
    """`faults` are the episodes that ended in an infrastructure fault, as "game 3, trial 0: …"."""

    folder: Path
    played: int
    faults: list[str]


def run_cell(config: CellConfig, console: Console | None = None) -> CellResult:
    """Plays what is missing of one cell and returns how that went.

    Raises ConfigError for a bad configuration, and the infrastructure errors that would hit every
    episode alike (`NEVER_RETRIED`); any other fault is recorded, and tried again by the next run.
    """
    console = console or Console(stderr=True)
    settings = config.settings
    decoding: Decoding = config.build("decoding")
    method: Method = config.build("method")
    environment: Environment = config.build("environment")
    with contextlib.closing(config.build("planner")) as planner:
        model = MODELS.get(config)
        players = _Players(config, method, model, planner, decoding, environment)
        folder = settings.run.out / settings.name / config.cell
        with contextlib.closing(players), Cell(folder) as cell:
            done = cell.done()
            episodes = itertools.product(settings.games, range(settings.trials))
            missing = [episode for episode in episodes if episode not in done]
            console.print(
                f"{folder}: {len(missing)} episodes to play, {len(done)} done", highlight=False
            )
            if not missing:
                return CellResult(folder, 0, [])
            _prepare(players, cell, console)
            faults = _play_all(players, cell, missing, console)
    return CellResult(folder, len(missing) - len(faults), faults)


def _prepare(players: "_Players", cell: Cell, console: Console) -> None:
    """All that can fail for every episode alike fails here, before the first of them.

    Raises MissingPart, ConfigError, GrammarIgnored or ModelFault.
    """
    config, model, decoding = players.config, players.model, players.decoding
    environment = players.first
    scene = Scene(actions=environment.actions, domain=environment.domain)
    constraints = {
        form.name: constraint_for(decoding.rung, form, scene, layout_of(model, decoding))
        for form in players.method.forms
    }
    for constraint in constraints.values():
        if constraint:
            validate(first_grammar(constraint))
    environment.preflight()
    model.preflight(thinking=decoding.thinking)
    MODELS.open(config, model)
    run, start = run_and_start(config, environment, players.method, constraints, model)
    cell.describe(run, start)
    if model.decodes and any(constraints.values()):
        console.print("starting the model; does it obey grammars?")
        stages = any(isinstance(constraint, StagedGrammar) for constraint in constraints.values())
        check_obedience(model, thinking=decoding.thinking, stages=stages)
        if "forced_tokens" in run["model"]:
            check_forced_tokens(model, thinking=decoding.thinking)


def _play_all(
    players: "_Players", cell: Cell, missing: list[tuple[int, int]], console: Console
) -> list[str]:
    """Plays in threads, shows progress; on an error that would hit all episodes stops at once.

    A method that learns from earlier trials plays one trial after the other. Later trials wait for
    episodes that ended in a fault, so that what is learnt never depends on chance.
    """
    by_trial: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for game, trial in missing:
        by_trial[trial if players.method.learns else 0].append((game, trial))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    faults: list[str] = []
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("episodes", total=len(missing))
        for trial in sorted(by_trial):
            if faults:
                faults += [
                    f"game {g}, trial {t}: waits for trial {t - 1}" for g, t in by_trial[trial]
                ]
                continue
            players.earlier = cell.earlier(trial) if players.method.learns else []
            faults += _play_together(players, cell, by_trial[trial], lambda: progress.advance(bar))
    return sorted(faults)


def _play_together(
    players: "_Players",
    cell: Cell,
    episodes: list[tuple[int, int]],
    advance: Callable[[], None],
) -> list[str]:
    """Independent episodes, as many at once as `concurrency` says."""
    faults = []
    with ThreadPoolExecutor(players.config.settings.run.concurrency) as pool:
        futures: list[Future[str | None]] = [
            pool.submit(_play_recorded, players, cell, game, trial) for game, trial in episodes
        ]
        try:
            for future in as_completed(futures):
                if fault := future.result():
                    faults.append(fault)
                advance()
        except BaseException:
            players.stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            MODELS.close()  # what is in flight fails now instead of in an hour
            raise
    return faults


def _play_recorded(players: "_Players", cell: Cell, game: int, trial: int) -> str | None:
    """One episode to its terminal row; the fault in words if its infrastructure failed for good."""
    attempts = tenacity.Retrying(
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(players.config.settings.run.retries + 1),
            tenacity.stop_when_event_set(players.stop),
        ),
        retry=tenacity.retry_if_exception_type(InfrastructureError)
        & tenacity.retry_if_not_exception_type(NEVER_RETRIED),
        wait=tenacity.wait_exponential(max=30),
        sleep=tenacity.sleep_using_event(players.stop),
        reraise=True,
    )
    try:
        attempts(_play, players, cell, game, trial)
    except NEVER_RETRIED:
        raise
    except InfrastructureError as error:
        if players.stop.is_set():  # stopped by us, not a fault
            return None
        kind = type(error).__name__
        row = FaultRow(game=game, trial=trial, fault=kind, message=str(error), time=now())
        cell.append_fault(row)
        return f"game {game}, trial {trial}: {kind}: {error}"
    return None


def _play(players: "_Players", cell: Cell, game: int, trial: int) -> None:
    """start → … → end → row; the transcript is complete before the row exists."""
    seed = players.config.settings.seed
    began = time.perf_counter()
    with players.environment() as environment, cell.transcript(game, trial) as transcript:
        parts = Parts(environment, players.model, players.planner, players.decoding)
        episode = Episode(
            parts, transcript, run_seed=seed, game=game, trial=trial, earlier=players.earlier
        )
        try:
            outcome = players.method(episode)
        except UnsolvableGame as error:
            transcript(Unsolvable(message=str(error)))
            outcome = "unsolvable_game"
        except PromptTooLong:
            if not any(isinstance(event, Call) for event in transcript.events):
                raise
            outcome = "context_exceeded"
        ending = Ending(
            game=game,
            trial=trial,
            outcome=outcome,
            success=outcome_named(outcome).success,
            won=_won(episode, outcome),
            wall_time_s=round(time.perf_counter() - began, 3),
        )
        row = EpisodeRow.of(ending, summarize(transcript.events))
        transcript(End(row=row))
    cell.append(row)


def _won(episode: Episode, outcome: str) -> bool:
    """The game's own rule, on this trial or on the one that a later trial need not repeat."""
    if outcome == "solved_before":
        return any(row.won for row in episode.earlier if row.game == episode.game)
    return outcome_named(outcome).success and episode.environment.won()


class _Players:
    """What the episodes of a cell share, and the environments that they borrow."""

    def __init__(
        self,
        config: CellConfig,
        method: Method,
        model: Model,
        planner: Planner,
        decoding: Decoding,
        first: Environment,
    ) -> None:
        self.config, self.method, self.model = config, method, model
        self.planner, self.decoding, self.first = planner, decoding, first
        self.earlier: list[EpisodeRow] = []
        self.stop = threading.Event()
        self._idle: queue.SimpleQueue[Environment] = queue.SimpleQueue()
        self._idle.put(first)

    @contextlib.contextmanager
    def environment(self) -> Iterator[Environment]:
        """An idle environment or a new one; one in which an episode failed is not used again."""
        try:
            environment = self._idle.get_nowait()
        except queue.Empty:
            environment = self.config.build("environment")
        try:
            yield environment
        except BaseException:
            environment.close()
            raise
        self._idle.put(environment)

    def close(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

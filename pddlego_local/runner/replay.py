"""Plays the episodes of a recorded cell again: with the recorded answers, and with the
real method, game and planner.

Prompts, the reading of answers, repairs, plans, commands, observations and the row are
made again, and compared with the record. What depends on the machine is taken from the
record and said: a planner that reached a limit, and a prompt that was too long for the
model's context. Tokens come with the answers, so nothing confirms them.

A record may be a stranger's: nothing from outside the project is imported for it.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pddlego_local.core.errors import (
    ConfigError,
    EnvironmentFault,
    MissingPart,
    PddlegoError,
    PlannerFault,
)
from pddlego_local.core.nouns import PlanResult
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.events import Call, End, Event, Plan
from pddlego_local.core.record.first_difference import first_difference
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.run_record import (
    RUN,
    RunRecord,
    Start,
    changed_keys,
    differing,
    with_options_renamed,
)
from pddlego_local.core.resources import folder
from pddlego_local.decoding.question import Model
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, OtherGames, Parts
from pddlego_local.methods import Method
from pddlego_local.models.weights import identity_of, training_maps
from pddlego_local.runner import parts
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.environment_store import EnvironmentStore
from pddlego_local.runner.one_episode import constraints_of, outcome_of, row_of
from pddlego_local.runner.overrides import GROUPS
from pddlego_local.runner.provenance import run_record
from pddlego_local.runner.replayed_model import ReplayedModel, Request
from pddlego_local.runner.unexpected import unexpected

BY_MACHINE = ("timeout", "out_of_memory", "planner_fault")
"""The planner outcomes that another machine need not have."""

_NOT_PLAYED = {"out": ".", "concurrency": 1, "retries": 0, "max_hours": None}
_TARGET = re.compile(r"^\s*_target_:\s*(pddlego_local\.[\w.]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What became of a row: `difference` says where the episode left its record, and
    `unchecked` why it could not be confirmed. Both are "" for a confirmed row.
    """

    difference: str = ""
    unchecked: str = ""


class Planners:
    """The planners of all cells. Each pair of files is planned once. Thread-safe."""

    def __init__(self) -> None:
        self._planners = dict[str, Planner]()
        self._results = dict[tuple[str, bytes], PlanResult]()

    def plan(self, key: str, domain: str, problem: str) -> PlanResult:
        """Plans by the planner that `add` named `key`."""
        digest = hashlib.sha256(f"{domain}\0{problem}".encode()).digest()
        result = self._results.get((key, digest))
        if result is None:
            result = self._planners[key].plan(domain, problem)
            self._results[key, digest] = result
        return result

    def add(self, config: CellConfig) -> str:
        """Makes sure that there is the planner of this configuration. Returns its
        key.
        """
        key = json.dumps(config.tree["planner"], sort_keys=True)
        if key not in self._planners:
            self._planners[key] = config.build("planner")
        return key

    def close(self) -> None:
        for planner in self._planners.values():
            planner.close()


@dataclass
class _EpisodePlanner:
    """Plans again. Where the planner reached a limit, in the record or now, the
    recorded result counts, and `limited` says so.
    """

    planners: Planners
    key: str
    recorded: Mapping[tuple[str, str], PlanResult]
    limited: bool = False
    waiting: int = 0

    def plan(self, domain: str, problem: str) -> PlanResult:
        recorded = self.recorded.get((domain, problem))
        if recorded and recorded.outcome in BY_MACHINE:
            self.limited = True
            return recorded
        result = self.planners.plan(self.key, domain, problem)
        if recorded and result.outcome in BY_MACHINE:
            self.limited = True
            return recorded
        return result

    def close(self) -> None:
        return


@dataclass
class _Log:
    """The events of an episode, in memory."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)


class ReplayedCell:
    """A recorded cell whose episodes are played again. `rows` are all of its rows."""

    def __init__(
        self,
        run: RunRecord,
        rows: Sequence[EpisodeRow],
        planners: Planners,
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        """Raises ConfigError or MissingPart if the cell cannot be played here."""
        self._configs = [_config_of(run, start) for start in run.starts]
        config = self._configs[-1]
        self._run = run
        self._rows = rows
        self._config = config
        self._planners = planners
        self._on_request = on_request
        self._decoding: Decoding = config.build("decoding")
        self._method: Method = config.build("method")
        self._key = planners.add(config)
        decodes = getattr(config.class_of("model"), "decodes", True)
        self._by_rules: Model | None = None if decodes else config.build("model")
        self._trained_on, self.maps_are_known = _training_maps(run, rows)
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(contextlib.closing(EnvironmentStore(config)))
            store.first.preflight()
            store.wanted = len(rows)
            self._environments = store
            games = frozenset(config.settings.games)
            self._others = OtherGames(store.lend, games)
            self._closing = stack.pop_all()

    def close(self) -> None:
        self._closing.close()
        if self._by_rules:
            self._by_rules.close()

    def changed_settings(self) -> str:
        """Returns what differs between the configurations, the identity and the hashes
        of the record, and those of this version of the project; "" if nothing does.
        """
        for config in self._configs:
            if names := _differing_options(config.identity, self._run.identity):
                return f"its configuration and its identity differ in {names}"
        model = self._by_rules or ReplayedModel(self._run.model)
        environment = self._environments.first
        constraints = constraints_of(self._method, self._decoding, environment, model)
        recorded = ReplayedModel(self._run.model)  # its weights need not be here
        now = run_record(self._config, environment, self._method, constraints, recorded)
        before = RUN.dump_python(self._run)
        again = {**RUN.dump_python(now), "cell": before["cell"]}
        changed = changed_keys(before, again)
        return differing(changed, before, again) if changed else ""

    def play(self, row: EpisodeRow, recorded: Sequence[Event]) -> Result:
        """Plays the episode of a row again. `recorded` is its transcript. Thread-safe
        for different rows.
        """
        self._environments.begin_one()
        log = _Log()
        planner = _EpisodePlanner(self._planners, self._key, _plans_of(recorded))
        answers = ReplayedModel(
            self._run.model,
            [event for event in recorded if isinstance(event, Call)],
            self._decoding.reject,
            context_was_full=_context_was_full(row),
            on_request=self._on_request,
        )
        try:
            with self._environments.lend() as environment:
                used = Parts(
                    environment,
                    self._by_rules or answers,
                    planner,
                    self._decoding,
                    self._trained_on,
                    self._others,
                )
                self._play_with(used, row, log)
        except (EnvironmentFault, PlannerFault, MissingPart) as error:
            return Result(unchecked=str(error))
        except PddlegoError as error:
            so_far = recorded[: len(log.events)]
            return Result(first_difference(so_far, log.events) or _in_short(error))
        except Exception as error:
            found = unexpected(error)
            return Result(f"{found.kind} in {found.place}: {found.message}")
        unchecked = ""
        if planner.limited:
            unchecked = "the planner reached a limit"
        elif answers.too_long:
            unchecked = "a prompt was too long for the model's context"
        return Result(first_difference(recorded, log.events), unchecked)

    def _play_with(self, used: Parts, row: EpisodeRow, log: _Log) -> None:
        earlier = [other for other in self._rows if other.trial < row.trial]
        earlier.sort(key=lambda other: (other.trial, other.game))
        episode = Episode(
            used,
            log,
            run_seed=self._config.settings.seed,
            game=row.game,
            trial=row.trial,
            earlier=earlier if self._method.learns else (),
        )
        outcome = outcome_of(self._method, episode, log)
        log(End(row=row_of(episode, row.trial, outcome, log, 0.0)))


def _config_of(run: RunRecord, start: Start) -> CellConfig:
    """Returns the configuration of a start. Raises ConfigError if it needs code from
    outside the project, or differs from the record's identity.
    """
    foreign = set(_targets_in(start.config)) - _targets_here()
    if foreign:
        names = ", ".join(sorted(foreign))
        raise ConfigError(f"it is played by code from outside the project ({names})")
    missing = [group for group in GROUPS if group not in start.config]
    if missing:
        raise ConfigError(f"its configuration lacks {', '.join(missing)}")
    tree = with_options_renamed({**start.config, "run": _NOT_PLAYED})
    tree["planner"] = {**tree["planner"], "workers": os.cpu_count() or 1}
    read = {group: parts.as_fields_read(tree[group]) for group in GROUPS}
    return CellConfig({**tree, **read}, run.labels, start.arm or "")


def _differing_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Returns the names of the options in which two identities differ."""
    names = list[str]()
    for group in sorted(one.keys() | other.keys()):
        ours, theirs = one.get(group), other.get(group)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            keys = sorted(ours.keys() | theirs.keys())
            names += [
                f"{group}.{key}" for key in keys if ours.get(key) != theirs.get(key)
            ]
        elif ours != theirs:
            names.append(group)
    return ", ".join(names)


def _targets_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key == "_target_":
                yield str(value)
            else:
                yield from _targets_in(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _targets_in(value)


@functools.cache
def _targets_here() -> frozenset[str]:
    """Returns the classes that the project's own configurations name."""
    found = {"pddlego_local.decoding.Decoding"}
    for path in folder("conf").rglob("*.yaml"):
        found.update(_TARGET.findall(path.read_text(encoding="utf-8")))
    return frozenset(found)


def _training_maps(
    run: RunRecord, rows: Sequence[EpisodeRow]
) -> tuple[frozenset[str], bool]:
    """Returns the maps of the model's training, and whether the list is here. If it is
    not, the rows say which maps are in it.
    """
    recorded = run.model.get("training_maps_sha256")
    if recorded is None:
        return frozenset(), True
    weights = str(run.model.get("weights"))
    if identity_of(weights, None, None).get("training_maps_sha256") == recorded:
        return training_maps(weights), True
    return frozenset(row.map for row in rows if row.map_seen), False


def _plans_of(recorded: Sequence[Event]) -> dict[tuple[str, str], PlanResult]:
    plans = {}
    for event in recorded:
        if isinstance(event, Plan):
            plans[event.domain, event.problem] = PlanResult(
                outcome=event.outcome,
                plan=event.plan,
                message=event.message,
                wall_time_s=event.wall_time_s,
                wait_s=event.wait_s,
                cost=event.cost,
            )
    return plans


def _context_was_full(row: EpisodeRow) -> bool:
    return "context_exceeded" in (row.outcome, *map(str, row.notes.values()))


def _in_short(error: PddlegoError) -> str:
    """Returns what is wrong, without the remedy for a run."""
    return re.split(r"[:;] ", str(error))[0]

"""The files of examples. Games are played in parallel, and each shard is written
completely or not at all.

A shard depends only on its games' seeds, this code and, for DAgger, the student's
weights. A second call plays only what is missing.
"""

import functools
import gzip
import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.generated import Family
from pddlego_local.planner import FastDownward
from pddlego_training.examples import (
    FIRST_SEED,
    Example,
    Game,
    Kind,
    PlayedBy,
    examples_of,
    kind_of,
)
from pddlego_training.players import slips, students

GAMES_OF_SHARD = 50


@dataclass(frozen=True)
class Shard:
    """Games with consecutive seeds, played by the reference with slips or by the
    weights in the folder `student`.
    """

    first: int
    count: int
    kinds: Sequence[Kind] = ("coin",)
    student: Path | None = None
    method: PlayedBy = "compact"
    worlds: Sequence[Family] = ()

    @property
    def name(self) -> str:
        return f"{'student' if self.student else 'slips'}-{self.first}.jsonl.gz"

    @property
    def games(self) -> Iterator[Game]:
        for seed in range(self.first, self.first + self.count):
            yield Game(seed, kind_of(seed, self.kinds), self.method, self.worlds)

    def split(self) -> "list[Shard]":
        """Splits it into shards of GAMES_OF_SHARD games. Raises ValueError for
        evaluation seeds.
        """
        if self.first < FIRST_SEED:
            raise ValueError(f"seeds below {FIRST_SEED} are reserved for evaluation")
        end = self.first + self.count
        shards = []
        for first in range(self.first, end, GAMES_OF_SHARD):
            count = min(GAMES_OF_SHARD, end - first)
            shards.append(replace(self, first=first, count=count))
        return shards


def make(
    folder: Path, wanted: Sequence[Shard], processes: int, report: Callable[[int], None]
) -> None:
    """Makes the missing shards. After each one, `report` is called with the number of
    games played.

    Raises EnvironmentFault if a process ends before its work is done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [shard for shard in wanted if not (folder / shard.name).is_file()]
    played = sum(shard.count for shard in wanted if shard not in missing)
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context, _end_with_parent) as pool:
            for shard in pool.map(functools.partial(_play, folder), missing):
                played += shard.count
                report(played)
    except BrokenProcessPool as error:
        raise EnvironmentFault(
            f"a process that plays games for {folder} was killed; the same command"
            " continues from there."
        ) from error


def read(paths: Sequence[Path]) -> Iterator[Example]:
    """Yields the examples in these shard files."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield Example(**json.loads(line))


def _end_with_parent() -> None:
    """Ends this process with its parent: it would wait for work forever if the parent
    was killed.
    """

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_students = functools.cache(students)  # their weights are loaded once


def _play(folder: Path, shard: Shard) -> Shard:
    student = _students(shard.student) if shard.student else None
    examples = list[Example]()
    with FastDownward(workers=1) as planner:
        for game in shard.games:
            player = student(game.seed) if student else slips(game.seed, game.kind)
            examples += examples_of(game, player, planner, Decoding(rung="free"))
    write(folder / shard.name, examples)
    return shard


def write(path: Path, examples: Sequence[Example]) -> None:
    """Writes a shard file."""
    unfinished = path.with_name(f".unfinished-{path.name}")
    # Without a time in the file, equal examples give equal files.
    with gzip.GzipFile(unfinished, "wb", mtime=0) as file:
        for example in examples:
            line = json.dumps(asdict(example), ensure_ascii=False)
            file.write(f"{line}\n".encode())
    unfinished.rename(path)

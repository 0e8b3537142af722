"""The files of examples: games played side by side, each shard written whole or not at all.

A shard is a function of its games' seeds, of this code and, for DAgger, of the student's weights.
The same call again plays only what is missing.
"""

import contextlib
import functools
import gzip
import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pddlego_local.core.errors import EnvironmentFault, RecordFault
from pddlego_local.decoding.settings import Decoding
from pddlego_local.planner import FastDownward
from pddlego_local.training.examples import (
    FIRST_SEED,
    Example,
    Game,
    Kind,
    PlayedBy,
    examples_of,
    kind_of,
)
from pddlego_local.training.players import slips, students

GAMES_OF_SHARD = 50


@dataclass(frozen=True)
class Shard:
    """Some games in a row, played by the reference with slips, or by the `student` in a folder."""

    first: int
    count: int
    kinds: Sequence[Kind] = ("coin",)
    student: Path | None = None
    methods: Sequence[PlayedBy] = ("compact",)

    @property
    def name(self) -> str:
        return f"{'student' if self.student else 'slips'}-{self.first}.jsonl.gz"

    @property
    def games(self) -> Iterator[Game]:
        for seed in range(self.first, self.first + self.count):
            yield Game(seed, kind_of(seed, self.kinds), self.methods)

    def split(self) -> "list[Shard]":
        """Shards of GAMES_OF_SHARD games. Raises ValueError for seeds kept for evaluation."""
        if self.first < FIRST_SEED:
            raise ValueError(f"seeds below {FIRST_SEED} are for evaluation")
        end = self.first + self.count
        starts = range(self.first, end, GAMES_OF_SHARD)
        return [replace(self, first=n, count=min(GAMES_OF_SHARD, end - n)) for n in starts]


def make(
    folder: Path, wanted: Sequence[Shard], processes: int, report: Callable[[int], None]
) -> None:
    """Makes the shards that are missing; `report` gets the number of games played now and then.

    Raises RecordFault for a full disk, EnvironmentFault if a process ends before its work is done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [shard for shard in wanted if not (folder / shard.name).is_file()]
    if not missing:
        return
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_work, args=(folder, missing[k::processes]), daemon=True)
        for k in range(min(processes, len(missing)))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        while worker.is_alive():
            worker.join(30)
            report(sum(shard.count for shard in wanted if (folder / shard.name).is_file()))
    if any(worker.exitcode for worker in workers):
        raise EnvironmentFault(
            f"a process that plays games for {folder} ended early (its own message stands above); "
            "the same command goes on from there."
        )


def read(paths: Sequence[Path]) -> Iterator[Example]:
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield Example(**json.loads(line))


def _work(folder: Path, share: Sequence[Shard]) -> None:
    """What one process plays; it ends with the process that started it."""
    parent = multiprocessing.parent_process()
    players = functools.cache(students)  # their weights are loaded once
    with FastDownward(workers=1) as planner:
        for shard in share:
            examples = list[Example]()
            for game in shard.games:
                if parent is None or not parent.is_alive():
                    return
                seed = game.seed
                student = players(shard.student) if shard.student else None
                player = student(seed) if student else slips(seed, game.kind)
                examples += examples_of(game, player, planner, Decoding(rung="free"))
            write(folder / shard.name, examples)


def write(path: Path, examples: Sequence[Example]) -> None:
    unfinished = path.with_name(f".unfinished-{path.name}")
    try:
        # Without a time in it, equal examples are equal files.
        with gzip.GzipFile(unfinished, "wb", mtime=0) as file:
            for example in examples:
                line = json.dumps(asdict(example), ensure_ascii=False) + "\n"
                file.write(line.encode())
        unfinished.rename(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise RecordFault(
            f"cannot write {path}: {error.strerror}; make room and give the command again."
        ) from error

"""How busy a sweep keeps a server, and what a call costs us: all cells as one pool, and one by one.

    python -m tools.bench.slots [--slots 64] [--at-once 256] [--games 256] [--only together]
                                [--faster 0.25] [--display]

Cells of CoinCollector with 5, 7, 9 and 11 rooms are played by the rule-based formalizer first, and
then by a server that gives its answers in a GPU's time (`tools.bench.simulated`). "busy" is the
share of the slots' time that was used, from the first minute on until 95 % of the calls had ended.
"CPU" is the processor time of our own process per call: games in Java and the planner's search are
processes of their own. "MiB" is what all processes but the server hold at most, over the episodes
at once. With --faster 0.25 an answer takes four times as long, so that 256 slots ask for as many
plans a second as 64 do. With --display the live view is drawn, as on a terminal.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import transcripts
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cells
from tools.bench.markdown import table
from tools.bench.simulated import key_of

ROOMS = (5, 7, 9, 11)
SETTLED_S = 60.0
Span = tuple[float, float]


def busy(held: Sequence[Span], slots: int) -> float:
    """The share of the slots' time that was used, the first minute and the last calls left out."""
    until = sorted(end for _, end in held)[int(0.95 * len(held))]
    begin = min(start for start, _ in held) + SETTLED_S
    used = sum(max(0.0, min(end, until) - max(start, begin)) for start, end in held)
    return used / (slots * (until - begin)) if until > begin else float("nan")


class Memory(threading.Thread):
    """The most that this process and its children hold at once, in MiB."""

    def __init__(self, but: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.most, self._but, self._ended = 0.0, but, threading.Event()

    def run(self) -> None:
        own = psutil.Process()
        while not self._ended.wait(10):
            held = 0
            for process in [own, *own.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    if process.pid not in self._but:
                        held += process.memory_full_info().uss
            self.most = max(self.most, held / 2**20)

    def end(self) -> float:
        self._ended.set()
        self.join()
        return self.most


def cells(out: Path, games: int, at_once: int, *model: str) -> list[CellConfig]:
    common = [f"run.out={out}", f"games=0-{games - 1}", f"run.concurrency={at_once}"]
    common += ["decoding=free", *model]
    return [compose_cell([*common, f"environment.rooms={rooms}"]) for rooms in ROOMS]


def answers(configs: list[CellConfig]) -> dict[str, str]:
    """What is said to each conversation in these cells, the only ones of their folder."""
    together(configs, Console(quiet=True))
    return {
        key_of(
            [{"role": said.role, "content": said.content} for said in event.messages]
        ): event.text
        for _, events in transcripts(configs[0].settings.run.out)
        for event in events
        if isinstance(event, Call)
    }


@contextlib.contextmanager
def server(answers: Path, slots: int, faster: float) -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    command = [sys.executable, "-m", "tools.bench.simulated", str(answers)]
    command += ["--slots", str(slots), "--faster", str(faster)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1", process.pid
        finally:
            process.kill()


def together(configs: list[CellConfig], console: Console) -> None:
    run_cells(configs, lambda result: None, console)


def one_by_one(configs: list[CellConfig], console: Console) -> None:
    for config in configs:
        together([config], console)


WAYS: Mapping[str, Callable[[list[CellConfig], Console], None]] = {
    "one_by_one": one_by_one,
    "together": together,
}


@dataclass(frozen=True)
class Asked:
    """`games` of each of the four cells, `at_once`; `faster` is the server's pace."""

    slots: int = 64
    at_once: int = 64
    games: int = 256
    faster: float = 1
    display: bool = False


def slots_bench(asked: Asked, ways: Iterable[str] = WAYS) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        recorded = answers(cells(out / "answers", asked.games, 4, "model=reference"))
        (out / "answers.json").write_text(json.dumps(recorded))
        return [_measured(way, out, asked) for way in ways]


def _measured(way: str, out: Path, asked: Asked) -> dict[str, object]:
    with (
        server(out / "answers.json", asked.slots, asked.faster) as (url, pid),
        Path(os.devnull).open("w") as nowhere,
    ):
        model = ["model=vllm", "model.weights=simulated", f"model.server.url={url}"]
        configs = cells(out / way, asked.games, asked.at_once, *model)
        memory = Memory([pid])
        memory.start()
        wall, cpu = time.monotonic(), time.process_time()
        WAYS[way](configs, Console(quiet=not asked.display, force_terminal=True, file=nowhere))
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        with urllib.request.urlopen(f"{url}/held") as held_slots:
            held = [(start, end) for start, end in json.load(held_slots)]
    return {
        "cells": way.replace("_", " "),
        "slots": asked.slots,
        "at once": asked.at_once,
        "episodes": len(ROOMS) * asked.games,
        "calls": len(held),
        "wall s": f"{wall:.0f}",
        "busy": f"{busy(held, asked.slots):.1%}",
        "CPU ms a call": f"{1000 * cpu / len(held):.1f}",
        "MiB": f"{memory.end() / asked.at_once:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=64, help="of the server")
    parser.add_argument("--at-once", type=int, help="episodes, as many as slots unless told")
    parser.add_argument("--games", type=int, default=256, help="of each of the four cells")
    parser.add_argument("--faster", type=float, default=1, help="the server's pace")
    parser.add_argument("--display", action="store_true", help="draw the live view")
    parser.add_argument("--only", choices=WAYS, help="one of the two ways")
    given = parser.parse_args()
    at_once = given.at_once or given.slots
    asked = Asked(given.slots, at_once, given.games, given.faster, given.display)
    rows = slots_bench(asked, [given.only] if given.only else WAYS)
    print(table([*rows[0]], [[*row.values()] for row in rows]))


if __name__ == "__main__":
    main()

"""How busy a sweep keeps a server, and what a call costs us: all cells as one pool, and one by one.

    python -m tests.bench.slots --slots 64 --games 64

Cells of CoinCollector with 5, 7, 9 and 11 rooms are played by the rule-based formalizer first, and
then by a server that gives its answers in a GPU's time (`tests.bench.simulated`). "busy" is the
share of the slots' time that was used, from the first call until 95 % of the calls had ended. "CPU"
is the processor time of our own process per call: games in Java and the planner's search are
processes of their own.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from pddlego_local.config import CellConfig, compose_cell
from pddlego_local.events import Call
from pddlego_local.models.opened import MODELS
from pddlego_local.record import transcripts
from pddlego_local.run import run_cells
from tests.bench.markdown import table
from tests.bench.simulated import key_of

ROOMS = (5, 7, 9, 11)
Span = tuple[float, float]


def busy(held: Sequence[Span], slots: int) -> float:
    """The share of the slots' time that was used until 95 % of the calls had ended."""
    begin = min(start for start, _ in held)
    until = sorted(end for _, end in held)[int(0.95 * len(held))]
    used = sum(min(end, until) - start for start, end in held if start < until)
    return used / (slots * (until - begin))


def cells(out: Path, games: int, slots: int, *model: str) -> list[CellConfig]:
    common = [f"run.out={out}", f"games=0-{games - 1}", f"run.concurrency={slots}"]
    common += ["decoding=free", *model]
    return [compose_cell([*common, f"environment.rooms={rooms}"]) for rooms in ROOMS]


def answers(configs: list[CellConfig]) -> dict[str, str]:
    """What is said to each conversation in these cells, the only ones of their folder."""
    together(configs)
    return {
        key_of(
            [{"role": said.role, "content": said.content} for said in event.messages]
        ): event.text
        for _, events in transcripts(configs[0].settings.run.out)
        for event in events
        if isinstance(event, Call)
    }


@contextlib.contextmanager
def server(answers: Path, slots: int) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.simulated", str(answers), "--slots", str(slots)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def together(configs: list[CellConfig]) -> None:
    run_cells(configs, lambda result: None, Console(quiet=True))


def one_by_one(configs: list[CellConfig]) -> None:
    for config in configs:
        together([config])


def measured(
    play: Callable[[list[CellConfig]], None], out: Path, games: int, slots: int
) -> tuple[object, ...]:
    with server(out / "answers.json", slots) as url:
        model = ["model=vllm", "model.weights=simulated", f"model.server.url={url}"]
        configs = cells(out / play.__name__, games, slots, *model)
        wall, cpu = time.monotonic(), time.process_time()
        play(configs)
        MODELS.close()
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        with urllib.request.urlopen(f"{url}/held") as held_slots:
            held = [(start, end) for start, end in json.load(held_slots)]
    share, per_call = busy(held, slots), 1000 * cpu / len(held)
    return (
        play.__name__.replace("_", " "), slots, len(ROOMS) * games, len(held), f"{wall:.0f}",
        f"{share:.1%}", f"{per_call:.1f}",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--games", type=int, default=64, help="of each of the four cells")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        recorded = answers(cells(out / "answers", given.games, 4, "model=reference"))
        (out / "answers.json").write_text(json.dumps(recorded))
        rows = [measured(way, out, given.games, given.slots) for way in (one_by_one, together)]
    columns = ("cells", "slots", "episodes", "calls", "wall s", "busy", "CPU ms a call")
    print(table(columns, rows))


if __name__ == "__main__":
    main()

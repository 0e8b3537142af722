"""Kills a sweep at random moments; its records must equal those of an undisturbed
sweep.

    python -m tools.chaos --kills 100 --seed 0 --out runs/chaos       (make chaos
                                                                      KILLS=100 SEED=0)

Each round plays a sweep of four cells (`sweeps`) and strikes it with blows (`blows`):
killed processes, a full disk, a second run. There are rounds until the given number of
blows has fallen. If a client has ended, its command is started again, as a user would
do. At the end of a round, the rows must be those of the undisturbed sweep, the
transcripts must agree with them, and no process may be left. The same command continues
after the last complete round. Exits with 1 if anything is wrong.
"""

import argparse
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.bench.markdown import table
from tools.chaos import blows
from tools.chaos.blows import Playing
from tools.chaos.processes import adopt_orphans, alive, end_all, left_over
from tools.chaos.sweeps import (
    Sweep,
    rows_of,
    served,
    simulated,
    wrong_records,
    wrong_rows,
)

BLOWS_OF_A_ROUND = 8
SERVED_EVERY = 5  # rounds; a server starts slowly
# From the start or the last blow to the next one, at most.
WAIT_S = {"simulated": 5.0, "served": 40.0}
LEFT_S = 60.0  # after a client has ended, its processes must end within this time
# A blow is skipped if its target is absent for longer.
SOON_S = {"simulated": 10.0, "served": 90.0}
STARTS = 40  # a round that needs more has failed


@dataclass(frozen=True)
class Fallen:
    """One blow and its result. `at_s` is the time since the start of the client that it
    struck. `rows` is the number of rows recorded before it. `came` is its effect, and
    `wrong` are the errors that it revealed.
    """

    round: int
    what: str
    at_s: float
    rows: int
    came: str
    wrong: tuple[str, ...] = ()


class Round:
    """One sweep from its first start to its end, with its blows."""

    def __init__(
        self, number: int, sweep: Sweep, out: Path, seed: int, spared: set[int]
    ) -> None:
        self.fallen: list[Fallen] = []
        self._number, self._sweep, self._spared = number, sweep, spared
        self._random = random.Random(f"{seed} {number}")
        self._blows = blows.SIMULATED if sweep.name == "simulated" else blows.SERVED
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self._playing = Playing(
            sweep,
            out / "runs",
            out / "log",
            sweep.start(out / "runs", out / "log"),
            self._random,
        )
        self._began = time.monotonic()
        self._read = 0  # characters of the log

    def play(self, count: int) -> list[Fallen]:
        for what in self._order(count):
            if self._waited_in_vain():
                break
            self._strike(what)
        self._finish()
        return self.fallen

    def _order(self, count: int) -> Iterator[str]:
        names: list[str] = []
        for _ in range(count):
            names = names or self._random.sample(list(self._blows), len(self._blows))
            yield names.pop()

    def _waited_in_vain(self) -> bool:
        """Waits until the next blow; returns True if the sweep finished before."""
        until = time.monotonic() + self._random.uniform(0, WAIT_S[self._sweep.name])
        while time.monotonic() < until:
            code = self._playing.client.poll()
            if code == 0:
                return True
            if code is not None:
                self._start_again()
            time.sleep(0.01)
        return False

    def _strike(self, what: str) -> None:
        """Strikes as soon as the target is there. The blow is skipped if that takes too
        long, or if the client ends before.
        """
        until = time.monotonic() + SOON_S[self._sweep.name]
        while self._playing.client.poll() is None and time.monotonic() < until:
            at_s = time.monotonic() - self._began
            rows = self._row_count()
            if came := self._blows[what](self._playing):
                wrong = []
                if "ended with" in came and not came.endswith((" 0", " 3")):
                    wrong.append(came)
                self._note(what, at_s, rows, came, wrong)
                return
            time.sleep(0.05)

    def _note(
        self, what: str, at_s: float, rows: int, came: str, wrong: list[str]
    ) -> None:
        code = self._playing.client.poll()
        if code is None:
            came += ", the client goes on"
        else:
            wrong += self._after_the_end()
        self.fallen.append(
            Fallen(self._number, what, round(at_s, 1), rows, came, tuple(wrong))
        )
        print(f"round {self._number}: {what}: {'; '.join([came, *wrong])}", flush=True)
        if code:
            self._start_again()

    def _after_the_end(self) -> list[str]:
        """Returns what is wrong after a client has ended, in whatever way."""
        left = left_over(self._spared, LEFT_S)
        wrong = [f"processes left: {', '.join(left)}"] if left else []
        wrong += wrong_rows(self._sweep.rows, rows_of(self._playing.out), ended=False)
        text = self._playing.log.read_text(encoding="utf-8", errors="replace")
        if re.search(
            "^Traceback", text[self._read :], re.MULTILINE
        ):  # not one that vLLM logged
            wrong.append("a traceback in the log")
        self._read = len(text)
        return wrong

    def _row_count(self) -> int:
        return sum(len(rows) for rows in rows_of(self._playing.out).values())

    def _start_again(self) -> None:
        self._playing.client = self._sweep.start(self._playing.out, self._playing.log)
        self._began = time.monotonic()

    def _finish(self) -> None:
        """Starts the command again until the sweep has finished, and checks all of its
        records.
        """
        code = self._playing.ended()
        for _ in range(STARTS):
            if code == 0:
                break
            self._start_again()
            code = self._playing.ended()
        wrong = [f"the sweep ends with exit code {code}"] if code else []
        wrong += self._after_the_end()
        wrong += wrong_rows(self._sweep.rows, rows_of(self._playing.out), ended=True)
        wrong += wrong_records(self._playing.out)
        at_s = round(time.monotonic() - self._began, 1)
        rows = self._row_count()
        came = f"{rows} rows" if wrong else f"{rows} rows, as undisturbed"
        end = Fallen(self._number, "(end)", at_s, rows, came, tuple(wrong))
        self.fallen.append(end)
        print(f"round {self._number}: {'; '.join([came, *wrong])}", flush=True)


def summary(fallen: list[Fallen]) -> str:
    """Returns a table of all blows, a table of blows by target, and the result in a
    sentence.
    """
    struck = [blow for blow in fallen if blow.what != "(end)"]
    lines = []
    for blow in fallen:
        result = "; ".join([blow.came, *blow.wrong])
        lines.append((blow.round, blow.what, f"{blow.at_s:.1f}", blow.rows, result))
    counts = []
    for kind in blows.SIMULATED | blows.SERVED:
        of_kind = [blow for blow in struck if blow.what == kind]
        counts.append((kind, len(of_kind), sum(bool(blow.wrong) for blow in of_kind)))
    wrong = sum(bool(blow.wrong) for blow in fallen)
    rounds = len({blow.round for blow in fallen})
    result = (
        f"{wrong} with something wrong" if wrong else "nothing lost, doubled or left"
    )
    return "\n\n".join(
        [
            table(("round", "blow", "after s", "rows before", "result"), lines),
            table(("blow", "times", "wrong"), counts),
            f"{len(struck)} blows in {rounds} sweeps: {result}",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--games", type=int, default=4, help="games of each cell")
    parser.add_argument("--out", type=Path, default=Path("runs/chaos"))
    parser.add_argument(
        "--without-server", action="store_true", help="kill no vLLM server"
    )
    given = parser.parse_args()
    out: Path = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    adopt_orphans()
    log = out / f"blows-{given.seed}.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    fallen = [Fallen(**json.loads(line)) for line in lines]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        stack.callback(end_all)
        sweeps = [stack.enter_context(simulated(out, given.games))]
        spared = {process.pid for process in alive()}
        if not given.without_server:
            sweeps.append(served(out, given.games))
        while (
            missing := given.kills - sum(blow.what != "(end)" for blow in fallen)
        ) > 0:
            number = max((blow.round for blow in fallen), default=0) + 1
            sweep = sweeps[-1] if number % SERVED_EVERY == 0 else sweeps[0]
            count = BLOWS_OF_A_ROUND
            if sweep.name == "served":
                count //= 2
            play = Round(number, sweep, out / f"round-{number}", given.seed, spared)
            try:
                struck = play.play(min(count, missing))
            except subprocess.TimeoutExpired as hung:
                print(f"round {number} hangs: {hung}", file=sys.stderr)
                return 1
            except KeyboardInterrupt:
                print(
                    "interrupted: the same command plays this round again",
                    file=sys.stderr,
                )
                return 130
            fallen += struck
            with log.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(blow)) + "\n" for blow in struck)
            if not any(blow.wrong for blow in struck):
                shutil.rmtree(out / f"round-{number}")
    print(summary(fallen))
    return int(any(blow.wrong for blow in fallen))


if __name__ == "__main__":
    sys.exit(main())

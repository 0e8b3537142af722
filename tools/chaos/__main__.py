"""Kills a sweep at random moments; its records must equal those of an undisturbed
sweep.

    python -m tools.chaos --kills 100 --seed 0 --out runs/chaos       (make chaos
                                                                      KILLS=100 SEED=0)

Each round plays a sweep of four cells (`sweeps`) and strikes it with blows (`blows`):
killed processes, a full disk, a second run. There are rounds until the given number of
blows has fallen. If a client has ended, its command is started again, as a user would
do. At the end of a round, the rows must be those of the undisturbed sweep, the
transcripts must agree with them, and no process may be left. Exits with 1 if anything
is wrong; the folder of such a round stays.
"""

import argparse
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
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

BLOWS_OF_A_ROUND = {"simulated": 8, "served": 4}  # a server starts slowly
SERVED_EVERY = 5  # rounds
# From the start or the last blow to the next one, at most.
WAIT_S = {"simulated": 5.0, "served": 40.0}
LEFT_S = 60.0  # after a client has ended, its processes must end within this time
# A blow is skipped if its target is absent for longer.
SOON_S = {"simulated": 10.0, "served": 90.0}
STARTS = 40  # a round that needs more has failed


class Round:
    """One sweep from its first start to its end, with its blows. `fallen` counts them
    by target, and `wrong` has the errors that they revealed.
    """

    def __init__(
        self, number: int, sweep: Sweep, out: Path, seed: int, spared: set[int]
    ) -> None:
        self.fallen = Counter[str]()
        self.wrong: list[str] = []
        self._number, self._sweep, self._spared = number, sweep, spared
        self._random = random.Random(f"{seed} {number}")
        self._blows = blows.SIMULATED if sweep.name == "simulated" else blows.SERVED
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        runs, log = out / "runs", out / "log"
        client = sweep.start(runs, log)
        self._playing = Playing(sweep, runs, log, client, self._random)
        self._read = 0  # characters of the log

    def play(self, count: int) -> None:
        """Strikes `count` times, or less often if the sweep finishes before."""
        for target in self._order(count):
            if self._waited_in_vain():
                break
            self._strike(target)
        self._finish()

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

    def _strike(self, target: str) -> None:
        """Strikes as soon as the target is there. The blow is skipped if that takes too
        long, or if the client ends before.
        """
        until = time.monotonic() + SOON_S[self._sweep.name]
        while self._playing.client.poll() is None and time.monotonic() < until:
            if came := self._blows[target](self._playing):
                self.fallen[target] += 1
                self._look(target, came)
                return
            time.sleep(0.05)

    def _look(self, target: str, came: str) -> None:
        """Looks for errors after a blow, and starts the command again if it ended."""
        wrong = []
        if "ended with" in came and not came.endswith((" 0", " 3")):
            wrong.append(came)
        code = self._playing.client.poll()
        if code is None:
            came += ", the client goes on"
        else:
            wrong += self._after_the_end()
        self._say(f"{target}: {came}", wrong)
        if code:
            self._start_again()

    def _say(self, came: str, wrong: list[str]) -> None:
        self.wrong += wrong
        print(f"round {self._number}: {'; '.join([came, *wrong])}", flush=True)

    def _after_the_end(self) -> list[str]:
        """Returns what is wrong after a client has ended, in whatever way."""
        wrong = wrong_rows(self._sweep.rows, rows_of(self._playing.out), ended=False)
        if left := left_over(self._spared, LEFT_S):
            wrong.append(f"processes left: {', '.join(left)}")
        text = self._playing.log.read_text(encoding="utf-8", errors="replace")
        # A traceback that vLLM logged does not begin its line.
        if re.search("^Traceback", text[self._read :], re.MULTILINE):
            wrong.append("a traceback in the log")
        self._read = len(text)
        return wrong

    def _start_again(self) -> None:
        self._playing.client = self._sweep.start(self._playing.out, self._playing.log)

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
        rows = rows_of(self._playing.out)
        wrong += wrong_rows(self._sweep.rows, rows, ended=True)
        wrong += wrong_records(self._playing.out)
        came = f"{sum(map(len, rows.values()))} rows"
        self._say(came if wrong else f"{came}, as undisturbed", wrong)


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
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    fallen, wrong, number = Counter[str](), list[str](), 0
    with ExitStack() as stack:
        stack.callback(end_all)
        sweeps = [stack.enter_context(simulated(out, given.games))]
        spared = {process.pid for process in alive()}
        if not given.without_server:
            sweeps.append(served(out, given.games))
        while (missing := given.kills - fallen.total()) > 0:
            number += 1
            sweep = sweeps[-1] if number % SERVED_EVERY == 0 else sweeps[0]
            folder = out / f"round-{number}"
            played = Round(number, sweep, folder, given.seed, spared)
            try:
                played.play(min(BLOWS_OF_A_ROUND[sweep.name], missing))
            except subprocess.TimeoutExpired as hung:
                print(f"round {number} hangs: {hung}", file=sys.stderr)
                return 1
            fallen += played.fallen
            wrong += played.wrong
            if not played.wrong:
                shutil.rmtree(folder)
    print(table(("blow", "times"), fallen.most_common()), *wrong, sep="\n")
    result = f"{len(wrong)} errors" if wrong else "nothing lost, doubled or left"
    print(f"{fallen.total()} blows in {number} sweeps: {result}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

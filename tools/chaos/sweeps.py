"""The two sweeps that are disturbed, with four cells each, and the checks of their
records.

In `simulated`, Java, ALFWorld's processes and the planner are real, and a server that
takes time gives the recorded answers of the rule-based formalizer. In `served`, a small
model of this project runs on a vLLM server that the sweep starts itself.
"""

import contextlib
import dataclasses
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import differences
from tools.chaos.simulated import recorded_answers

PATIENT = (  # a busy machine must not change the planner's results
    "planner.limits.wall_s=3600"
)
SIMULATED = (
    "environment=coin,alfworld",
    "method=pddlego_plus,deps",
    "decoding=free",
    PATIENT,
)
SERVED = (
    "environment.rooms=3,5",
    "decoding=syntax,grounded",
    "method.variant=compact",
    PATIENT,
    "model=nano_vllm",
    "model.weights=nano_early",
    "decoding.max_tokens=400",
)

Rows = dict[str, list[EpisodeRow]]


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A command that is started again and again, and the rows that it must end with."""

    name: str
    words: tuple[str, ...]
    rows: Rows

    def start(self, out: Path, log: Path) -> subprocess.Popen[bytes]:
        """Starts the command in a separate process group; its output is added to
        `log`.
        """
        return _start(out, log, self.words)


def _start(out: Path, log: Path, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
    run = [sys.executable, "-m", "pddlego_local", "run"]
    command = [*run, "-m", f"run.out={out}", *words]
    with log.open("ab") as file:
        return subprocess.Popen(
            command, stdout=file, stderr=file, start_new_session=True
        )


def undisturbed(name: str, words: tuple[str, ...], out: Path) -> Sweep:
    """Plays the sweep without blows, unless this was done before. Raises ConfigError on
    failure.
    """
    log = out.with_suffix(".log")
    code = _start(out, log, words).wait()
    if code:
        raise ConfigError(
            f"the undisturbed sweep ended with exit code {code}: see {log}"
        )
    return Sweep(name, words, rows_of(out))


@contextlib.contextmanager
def simulated(out: Path, games: int) -> Iterator[Sweep]:
    """Yields the first sweep while its server runs. The undisturbed rows use the same
    server.
    """
    played = f"games=0-{games - 1}"
    first = undisturbed(
        "reference", (*SIMULATED, played, "model=reference"), out / "reference"
    )
    (out / "answers.json").write_text(
        json.dumps(recorded_answers(out / first.name)), encoding="utf-8"
    )
    command = [sys.executable, "-m", "tools.chaos.simulated", str(out / "answers.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        model = (
            "model=vllm",
            "model.weights=simulated",
            "model.thinking=null",
            f"model.server.url={url}",
        )
        try:
            yield undisturbed(
                "simulated", (*SIMULATED, played, *model), out / "simulated"
            )
        finally:
            server.kill()


def served(out: Path, games: int) -> Sweep:
    words = (
        *SERVED,
        f"games=0-{games - 1}",
        f"model.server.env={Path('.venv-serving').absolute()}",
    )
    return undisturbed("served", words, out / "served")


def rows_of(out: Path) -> Rows:
    """Returns the rows by cell, sorted by game, without measured times."""
    return {
        file.parent.name: sorted(
            map(without_clocks, read_rows(file)), key=lambda row: (row.game, row.trial)
        )
        for file in sorted(out.rglob("episodes.jsonl"))
    }


def without_clocks(row: EpisodeRow) -> EpisodeRow:
    """Returns a row without the values that depend on the machine's speed."""
    return dataclasses.replace(
        row, model_time_s=0.0, planner_time_s=0.0, planner_wait_s=0.0, wall_time_s=0.0
    )


def wrong_rows(expected: Rows, found: Rows, *, ended: bool) -> list[str]:
    """Returns how the rows differ from the undisturbed ones: lost, doubled or changed.
    No row is called lost before the sweep has ended.
    """
    wrong = [
        f"{cell}: no cell of this sweep" for cell in found.keys() - expected.keys()
    ]
    for cell, rows in expected.items():
        found_rows = found.get(cell, [])
        times = Counter((row.game, row.trial) for row in found_rows)
        for row in rows:
            episode = f"{cell}: game {row.game}, trial {row.trial}"
            count = times.pop((row.game, row.trial), 0)
            if count > 1:
                wrong.append(f"{episode}: doubled")
            elif ended and not count:
                wrong.append(f"{episode}: lost")
            elif count and row not in found_rows:
                wrong.append(f"{episode}: another row")
        for game, trial in times:
            wrong.append(f"{cell}: game {game}, trial {trial}: not asked for")
    return wrong


def wrong_records(out: Path) -> list[str]:
    """Returns where transcripts contradict the rows, and which files are incomplete."""
    wrong = [f"{path}: half written" for path in out.rglob("*.partial")]
    for file in out.rglob("episodes.jsonl"):
        wrong += [f"{file.parent.name}: {found}" for found in differences(file.parent)]
    return wrong

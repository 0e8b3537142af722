"""The page on nano_described counts equivalent files as they are."""

import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from pddlego_local.core.record.events import End, Plan
from pddlego_local.core.record.folder import transcripts
from pddlego_local.core.record.run_record import read_run
from pddlego_local.environments.described.game import Described
from tests.docs.records import RESULTS


@pytest.mark.long
def test_equivalent_files_are_counted(tmp_path: Path) -> None:
    with tarfile.open(RESULTS / "nano_described/records.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    counted = Counter[tuple[str, str, str]]()
    for cell in (tmp_path / "nano_described").glob("described-*"):
        asked = read_run(cell).identity
        rung, world = asked["decoding"]["rung"], asked["environment"]["world"]
        if rung not in ("free", "typed", "grounded"):
            continue
        environment = Described(world=world, sizes=(3, 8))
        for _, events in transcripts(cell):
            row = next(event.row for event in events if isinstance(event, End))
            if row.outcome == "success":
                environment.reset(row.game)
                problem = [event.problem for event in events if isinstance(event, Plan)][-1]
                counted[rung, world, "valid"] += 1
                same = environment.equivalence(problem) == "equivalent"
                counted[rung, world, "equivalent"] += same
    page = (RESULTS / "nano_described.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    kinds = [
        (world, by) for world in ("blocksworld", "logistics") for by in ("valid", "equivalent")
    ]
    assert {arm: [*map(int, numbers)] for arm, *numbers in shown} == {
        rung: [counted[rung, *kind] for kind in kinds] for rung in ("free", "typed", "grounded")
    }

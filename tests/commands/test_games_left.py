"""Games that are forked, interrupted, dropped, or closed while they plan: nothing
hangs.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.processes import ran

FILE = Path(__file__).with_name("games_left.yaml")
CASES: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
HANG_S = 600  # only a hang takes as long


@pytest.mark.parametrize("name", CASES["programs"])
def test_a_game_is_left_without_a_hang(name: str) -> None:
    program = CASES["programs"][name]
    done = ran("-c", CASES["setup"] + program["run"], timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program["prints"], done.stderr

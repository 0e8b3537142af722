"""Games that are forked, interrupted, dropped, or closed while they plan: nothing
hangs.
"""

import pytest

from tests.processes import ran
from tests.tables import table

CASES = table(__file__)
HANG_S = 600  # only a hang takes as long


@pytest.mark.parametrize("name", CASES["programs"])
def test_a_game_is_left_without_a_hang(name: str) -> None:
    program = CASES["programs"][name]
    done = ran("-c", CASES["setup"] + program["run"], timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program["prints"], done.stderr

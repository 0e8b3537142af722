"""What `pddlego train grpo` refuses, and how rewards of a group become advantages."""

import pytest

from pddlego_local.cli import run
from pddlego_local.training.grpo import advantages


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rung=none"], "rung='none'"),
        (["rung=free", "group=1"], "group=1"),
        (["rung=free", "rooms=7"], "rooms"),
        ([], "rung"),
    ],
)
def test_a_wrong_setting_is_named(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "grpo", *words]) == 2
    assert told in capsys.readouterr().err


def test_an_advantage_is_in_deviations_of_its_group() -> None:
    assert advantages([0.6, 0.2, 0.2, 0.6]) == pytest.approx([1, -1, -1, 1], abs=1e-4)
    assert advantages([0.1, 0.1]) == [0, 0]

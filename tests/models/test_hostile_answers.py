"""Each answer of the table ends as the table says, whoever is at fault."""

from types import SimpleNamespace

import pytest

from tools.chaos.hostile import Hostile, ending, hostile_answers


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits before it tries again."""
    monkeypatch.setattr(
        "tenacity.nap.time", SimpleNamespace(sleep=lambda seconds: None)
    )


@pytest.mark.parametrize(
    "hostile", hostile_answers(), ids=lambda one: f"{one.ask}: {one.name}"
)
def test_a_hostile_answer_ends_as_it_must(hostile: Hostile) -> None:
    assert ending(hostile) == hostile.ends

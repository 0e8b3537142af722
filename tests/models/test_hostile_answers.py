"""Each answer of the table ends as the table says, whoever is at fault."""

import pytest

from tools.chaos.hostile import Hostile, ending, hostile_answers


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "hostile", hostile_answers(), ids=lambda one: f"{one.ask}: {one.name}"
)
def test_a_hostile_answer_ends_as_it_must(hostile: Hostile) -> None:
    assert ending(hostile) == hostile.ends

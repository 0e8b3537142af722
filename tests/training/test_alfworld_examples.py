"""What games teach where a method writes whole files, and where it edits them."""

import json
from collections.abc import Iterator

import pytest

from pddlego_local.decoding.forms import EDIT, Keys
from pddlego_local.decoding.question import Question
from pddlego_local.environments import family
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.pddl.edit import Changes, apply, facts_of
from pddlego_local.planner import FastDownward
from pddlego_local.training.examples import FIRST_SEED, Game, Kind, examples_of
from pddlego_local.training.players import slips
from tests.training.test_examples import FREE, Kept, written_on_every_rung


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(workers=1) as planner:
        yield planner


def test_the_right_answer_can_be_written_on_every_rung(planner: FastDownward) -> None:
    """Of whole files, and of edits."""
    games = {
        type(game.method): game
        for game in (
            Game(seed, "alfworld", ("compact", "pddl_edit"))
            for seed in range(FIRST_SEED, FIRST_SEED + 30)
        )
    }
    assert len(games) == 2
    assert written_on_every_rung([*games.values()], planner) >= 10


def test_a_training_says_which_methods_play() -> None:
    edits = {type(Game(seed, "alfworld", ("pddl_edit",)).method) for seed in range(20)}
    assert edits == {PddlEdit}


@pytest.mark.parametrize(("kind", "games"), [("alfworld", 15), ("coin", 12), ("cooking", 12)])
def test_an_edit_says_what_the_news_change_in_the_file_that_is_shown(
    kind: Kind, games: int, planner: FastDownward
) -> None:
    """After slips too: what an earlier answer left out no question tells."""
    asked = list[tuple[Question[Keys], str]]()
    for seed in range(FIRST_SEED, FIRST_SEED + games):
        player = Kept(slips(seed, kind), asked)
        list(examples_of(Game(seed, kind, ("pddl_edit",)), player, planner, FREE))
    edits = [(question, right) for question, right in asked if question.form == EDIT]
    assert len(edits) > 30 and (len(asked) > len(edits)) == (kind == "cooking")
    slipped = 0
    for question, right in edits:
        scene, shown = question.scene, question.messages[-1].content
        edit: dict[str, Changes] = json.loads(right)
        problem, refused = apply(edit, scene.problem)
        assert not refused
        told = shown.lower().replace(" ", "").replace("_", "")
        new = {line.split()[0].replace("_", "") for line in edit["objects"]["add"]}
        assert all(name in told or name.startswith("behind") for name in new)
        whole = family.reference(scene.environment).problem(scene.memory)
        slipped += set(facts_of(problem)) != set(facts_of(whole))
    assert 0 < slipped < len(edits)

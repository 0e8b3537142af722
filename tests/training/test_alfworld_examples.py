"""What ALFWorld's games teach: whole files, and edits of what was written before."""

import json
import re
from collections.abc import Iterator

import pytest

from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Question
from pddlego_local.environments import family
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.pddl.edit import Changes, apply, facts_of
from pddlego_local.planner import FastDownward
from pddlego_local.training.examples import FIRST_SEED, Game, examples_of
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
        for game in (Game(seed, "alfworld") for seed in range(FIRST_SEED, FIRST_SEED + 30))
    }
    assert len(games) == 2
    assert written_on_every_rung([*games.values()], planner) >= 10


def test_an_edit_says_what_the_news_change_in_the_file_that_is_shown(planner: FastDownward) -> None:
    """After slips too: what an earlier answer left out no question tells."""
    asked = list[tuple[Question[Keys], str]]()
    for seed in range(FIRST_SEED, FIRST_SEED + 30):
        game, player = Game(seed, "alfworld"), slips(seed, "alfworld")
        if isinstance(game.method, PddlEdit):
            list(examples_of(game, Kept(player, asked), planner, FREE))
    assert len(asked) > 60
    slipped = 0
    for question, right in asked:
        scene, shown = question.scene, question.messages[-1].content
        edit: dict[str, Changes] = json.loads(right)
        problem, refused = apply(edit, scene.problem)
        assert not refused
        known = {name.replace(" ", "") for name in re.findall(r"[a-z]+ [0-9]+", shown)}
        new = {line.split()[0] for line in edit["objects"]["add"]}
        assert new <= known | {"init_receptacle"}
        whole = family.reference(scene.environment).problem(scene.memory)
        slipped += set(facts_of(problem)) != set(facts_of(whole))
    assert 0 < slipped < len(asked)

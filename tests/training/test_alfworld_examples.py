"""What games teach where a method writes whole files, and where it edits them."""

import itertools
import json
from collections.abc import Iterator

import pytest

from pddlego_local.decoding.forms import EDIT, Keys
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Question
from pddlego_local.environments import family
from pddlego_local.pddl.edit import Changes, apply, facts_of
from pddlego_local.planner import FastDownward
from pddlego_local.training.examples import FIRST_SEED, Game, Kind, examples_of
from pddlego_local.training.players import slips
from pddlego_local.training.tokenizer import train_tokenizer
from tests.training.test_examples import FREE, Kept, always_right, written_on_every_rung
from tools.bench.walk import stages_of


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(workers=1) as planner:
        yield planner


def test_the_right_answer_can_be_written_on_every_rung(planner: FastDownward) -> None:
    """Of whole files, and of edits."""
    seeds = range(FIRST_SEED, FIRST_SEED + 30)
    both = [Game(seed, "alfworld", ("compact", "pddl_edit")) for seed in seeds]
    games = {type(game.method): game for game in both}
    assert len(games) == 2
    kinds: tuple[Kind, ...] = ("coin", "coin", "cooking", "cooking")
    edits = [Game(FIRST_SEED + n, kind, ("pddl_edit",)) for n, kind in enumerate(kinds)]
    assert written_on_every_rung([*games.values(), *edits], planner) >= 30


def test_no_token_of_an_edit_reaches_over_the_end_of_a_part(planner: FastDownward) -> None:
    """There a grammar ends: a model that learned such a token could not write it, and went on."""
    asked = list[tuple[Question[Keys], str]]()
    kinds: tuple[Kind, ...] = ("alfworld", "coin", "cooking")
    for seed in range(FIRST_SEED, FIRST_SEED + 18):
        game = Game(seed, kinds[seed % 3], ("pddl_edit",))
        list(examples_of(game, Kept(always_right, asked), planner, FREE))
    edits = [(question, right) for question, right in asked if question.form == EDIT]
    texts = [text for question, right in edits for text in (question.messages[-1].content, right)]
    tokenizer = train_tokenizer(texts, 2000, 4096)
    assert any('"]}, "init"' in right for _, right in edits)
    for question, right in edits:
        constraint = constraint_for("typed", EDIT, question.scene, "line")
        assert constraint.in_stages
        ids = tokenizer(right, add_special_tokens=False)["input_ids"]
        ends = set(itertools.accumulate(len(tokenizer.decode([token])) for token in ids))
        written = "".join(tokenizer.decode([token]) for token in ids)
        assert written == right
        parts = itertools.accumulate(len(part) for _, part in stages_of(constraint, right))
        assert ends.issuperset(parts), right


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

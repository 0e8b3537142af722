"""The selector of DEPS in real games, with answers given in advance and with the
reference; about 20 s.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

import tools.horizon
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Budget, Completion, Turn
from pddlego_local.core.record.folder import read_rows
from pddlego_local.decoding.forms import PARALLEL_GOALS
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.rungs import RungName
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.explored.box import folder_of
from pddlego_local.environments.explored.game import Explored
from pddlego_local.episode.reading.answer import read_free
from pddlego_local.methods.deps import Deps
from pddlego_local.methods.shared.horizon import WEIGHTS, predicted
from pddlego_local.methods.shared.selector import Kind
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.methods import playing
from tests.methods.playing import Listener
from tests.methods.talking import BEGIN_AGAIN, Player, asked, noted, plan, play

RECORDED = Path(__file__).with_name("deps_without_selector.txt")
WATER_FIRST = plan("take the water", "also take the red potato", "also take the knife")
"""In this game the potato and the knife lie in the kitchen, and the water is unseen."""


def kitchen(limit: int = 50) -> Cooking:
    budget = Budget(unit="actions", limit=limit)
    return Cooking(rooms=5, ingredients=5, budget=budget)


def office(**options: Any) -> Any:
    options = {"world": "office", "sizes": (3, 3), **options}
    return Explored.model_validate(
        {"budget": {"unit": "actions", "limit": 200}, **options}
    )


def pursued(model: Player) -> list[str]:
    """The sub-goals of the controller, in the order in which they began."""
    goals = [q.context.subgoal for q in model.asked if q.context.subgoal]
    return list(dict.fromkeys(goals))


def cook(kind: Kind, answers: Sequence[str | Completion], **settings: int) -> Any:
    return play(Deps(selector=kind, **settings), answers, kitchen(), game=1)


def test_without_a_selector_prompts_and_grammars_are_the_recorded_ones() -> None:
    answers = [
        plan("take the knife", "slice"),
        *("> take knife", "done", "fail: no potato.", BEGIN_AGAIN),
        *(plan("find the red potato"), "fail: none"),
    ]
    _, model, _ = play(Deps(max_replans=1), answers, kitchen(), game=1)
    lines = []
    for question in model.asked:
        lines += [f"===== {question.form.name}", question.messages[-1].content]
        for rung in get_args(RungName):
            decoding = Decoding(rung=rung)
            constraint = constraint_for(decoding, question.form, question.context)
            grammar = constraint.begin().stage.grammar
            if grammar is not None:
                lines.append(f"===== {rung}: {grammar.name} {grammar.text}")
    assert "\n".join(lines) + "\n" == RECORDED.read_text(encoding="utf-8")


def test_the_nearest_sub_goal_comes_first_and_all_are_told_the_order() -> None:
    answers = [WATER_FIRST, "> take red potato", "done", "> take knife", "done"]
    answers += ["fail: no water.", BEGIN_AGAIN, plan("fly"), "fail: no wings."]
    outcome, model, events = cook("horizon", answers, max_replans=1)
    assert outcome == "replan_limit"
    first, second, third, _ = pursued(model)
    assert [first, second, third] == [
        "take the red potato",
        "take the knife",
        "take the water",
    ]
    assert noted(events, "selected") == {"of": 2, "moved": 2}
    (told,) = asked(model, "text")
    assert told.startswith(
        "Descriptor: Step 1 succeeded: take the red potato.\n"
        "Step 2 succeeded: take the knife.\n"
        "Step 3 failed: take the water. no water.\n"
    )
    planned, again = asked(model, "goals")
    assert 'all but the first of them begin with "also"' in planned
    assert '"also find and take the pear"' in planned
    assert "from step 3 on" in again and "also" in again


def test_what_fails_ends_its_group() -> None:
    answers = [WATER_FIRST, "fail: too heavy.", BEGIN_AGAIN, plan("x"), "fail: no."]
    _, model, _ = cook("horizon", answers, max_replans=1)
    assert pursued(model) == ["take the red potato", "x"]


@pytest.mark.parametrize("kind", ["random", "horizon", "model"])
def test_a_plan_without_marks_stays_a_sequence(kind: Kind) -> None:
    goals = ["take the water", "take the red potato", "take the knife"]
    answers = [plan(*goals), *["done"] * 3, BEGIN_AGAIN, plan(" ")]
    outcome, model, _ = cook(kind, answers)
    assert outcome == "no_plan"
    assert pursued(model) == goals
    assert len(asked(model, "choice")) == 3  # of the controller alone


def test_groups_end_where_a_sub_goal_has_no_mark() -> None:
    goals = ["take the water", "also take the salt", "take the knife", "also take it"]
    answers = [plan(*goals), "done", "done", "fail: no.", BEGIN_AGAIN, plan(" ")]
    _, model, _ = cook("horizon", answers)
    assert set(pursued(model)[:2]) == {"take the water", "take the salt"}
    assert pursued(model)[2] == "take the knife"


def nearest(number: int) -> str:
    return json.dumps({"reason": "It is here.", "number": number})


def test_a_model_is_asked_which_one_is_nearest() -> None:
    goals = [WATER_FIRST, nearest(2), "done", nearest(1), "done", "done"]
    _, model, events = cook("model", [*goals, BEGIN_AGAIN, plan(" ")])
    assert pursued(model) == [
        "take the knife",
        "take the red potato",
        "take the water",
    ]
    first = asked(model, "choice")[0]
    assert "You are in the kitchen. You carry nothing. These sub-goals" in first
    assert (
        "3 in all:\n0. take the water\n1. take the red potato\n2. take the knife\n"
    ) in first
    assert "Action: look around\n" in first
    assert noted(events, "selected") == {"of": 2, "moved": 2}


def test_a_model_that_chooses_nothing_usable_leaves_the_order_of_the_plan() -> None:
    unusable = [nearest(3), "none of them"]  # there are 0, 1 and 2
    answers = [WATER_FIRST, *unusable, "fail: no.", BEGIN_AGAIN, plan(" ")]
    _, model, events = cook("model", answers, max_retries=1)
    assert pursued(model) == ["take the water"]
    assert noted(events, "selected") == {"of": 1, "moved": 0}


def orders(seed: int, out: Path, concurrency: int) -> list[tuple[Any, ...]]:
    words = ["environment=cooking_hard", "method=deps", "method.selector=random"]
    words += ["games=10-12", f"seed={seed}", f"run.out={out}", "model=reference"]
    result = run_cell(compose_cell([*words, f"run.concurrency={concurrency}"]))
    rows = read_rows(result.folder / "episodes.jsonl")
    assert all(row.success for row in rows)
    return sorted((row.game, row.actions, str(row.notes)) for row in rows)


def test_a_random_order_follows_from_seed_and_game_alone(tmp_path: Path) -> None:
    alone = orders(0, tmp_path / "a", 1)
    assert orders(0, tmp_path / "b", 3) == alone
    assert orders(1, tmp_path / "c", 3) != alone


@pytest.mark.parametrize("kind", ["none", "random", "horizon", "model"])
@pytest.mark.parametrize("game", [kitchen, office])
def test_the_reference_wins_with_each_selector(
    game: Callable[[], Any], kind: Kind, planner: FastDownward
) -> None:
    model = Listener()
    outcome, events = playing.play(Deps(selector=kind), game(), model, planner, game=12)
    assert outcome == "success"
    assert noted(events, "subgoals").get("failed", 0) == 0
    choices = [q for q in model.asked if not q.context.subgoal and q.context.commands]
    assert bool(choices) == (kind == "model")
    if kind != "none":
        assert noted(events, "selected")["of"] > 1


@pytest.mark.parametrize("game", [kitchen, office])
def test_the_horizon_knows_nothing_that_the_prompt_does_not_show(
    game: Callable[[], Any], planner: FastDownward
) -> None:
    model = Listener()
    environment = game()
    playing.play(Deps(selector="model"), environment, model, planner, game=13)
    choices = [q for q in model.asked if not q.context.subgoal and q.context.commands]
    assert len(choices) > 1
    environment.reset(14)  # another game: what it knows must come from the memory
    for question in choices:
        shown = question.messages[-1].content.lower()
        chart = environment.chart(question.context.memory)
        named = {name for name in chart.seen if not name.startswith("behind ")}
        assert len(named) > 2
        assert all(name in shown for name in named)


def test_two_games_with_the_same_texts_have_the_same_horizons(tmp_path: Path) -> None:
    """Two offices that differ only where nobody has been."""
    box = folder_of({"world": "office"})
    folder = shutil.copytree(box, tmp_path / "office")
    drawn = office()
    drawn.reset(5)
    (folder / "draw.py").unlink()
    written = (folder / "world.yaml").read_text(encoding="utf-8")
    (folder / "world.yaml").write_text(
        written.replace("sizes: [2, 3]\n", ""), encoding="utf-8"
    )
    problem = (
        "(define (problem p) (:domain office) (:objects room1 room2 room3 - room"
        " parcel1 parcel2 - parcel) (:init (at room1) (bag-empty)"
        " (closed-door room1 room2) (closed-door room2 room1)"
        " (closed-door room1 room3) (closed-door room3 room1)"
        " (in parcel1 WHERE) (in parcel2 room1))"
        " (:goal (and (in parcel1 room1) (in parcel2 room2))))"
    )
    for name in ("room2", "room3"):
        text = problem.replace("WHERE", name)
        (folder / f"{name}.pddl").write_text(text, encoding="utf-8")
    own = office(world=None, folder=folder, sizes=None)
    firsts = [own.reset(game).text for game in (0, 1)]
    assert firsts[0] == firsts[1]
    goals = ["parcel 1 lies in room 1", "parcel 2 lies in room 2"]
    memories = [(Turn("look around", text),) for text in firsts]
    told = [predicted(own, memory, goals) for memory in memories]
    assert told[0] == told[1]
    assert told[0][1] < told[0][0]  # parcel 2 is here
    seen = own.step("open the door to room 3").text, own.step("go to room 3").text
    later = [
        *memories[1],
        Turn("open the door to room 3", seen[0]),
        Turn("go to room 3", seen[1]),
    ]
    assert predicted(own, later, goals)[0] < told[0][0]  # now it is in sight


def test_a_selector_says_in_which_games_it_cannot_predict() -> None:
    words = ["environment=coin", "method=deps", "method.selector=horizon"]
    with pytest.raises(ConfigError) as caught:
        compose_cell(words).check()
    assert str(caught.value) == (
        "method.selector=horizon needs to know where things were seen, and"
        " environment=coin does not tell (it has no `chart`); choose"
        " method.selector=none, random or model."
    )
    compose_cell([*words[:2], "method.selector=model"]).check()
    with pytest.raises(ConfigError, match="selector"):
        compose_cell([*words[:2], "method.selector=closest"]).check()
    with pytest.raises(ConfigError, match="selector"):
        compose_cell(["method=zero_shot_replan", "+method.selector=random"]).check()


@pytest.mark.parametrize(
    "text",
    [
        "1. take the water\n2. also take the knife\n3. cook",
        '{"plan": ["take the water", "also take the knife", "cook"]}',
        "goals: ['take the water', 'also take the knife', 'cook']",
    ],
)
def test_marks_are_read_in_free_answers(text: str) -> None:
    answer = read_free(Completion(text, "stop", 0, 0, 0.0), PARALLEL_GOALS)
    assert answer.value is not None
    assert answer.value.goals == ["take the water", "also take the knife", "cook"]


def test_a_cell_without_a_selector_has_the_name_that_it_had() -> None:
    words = ["environment=coin", "method=deps"]
    plain = compose_cell(words).cell
    assert compose_cell([*words, "method.selector=none"]).cell == plain
    assert compose_cell([*words, "method.selector=random"]).cell != plain


def test_the_horizon_was_fitted_to_games_of_the_training_alone() -> None:
    assert min(tools.horizon.FITTED) >= 100_000
    assert set(tools.horizon.FITTED).isdisjoint(tools.horizon.HELD_OUT)
    card = tools.horizon.FILE.read_text(encoding="utf-8")
    for games in (tools.horizon.FITTED, tools.horizon.HELD_OUT):
        assert f"games {games[0]} to {games[-1]}" in card
    for world in tools.horizon.WORLDS.values():
        rows = list(tools.horizon.rows_of(world, [100_003]))
        assert len(rows) > 2
        for row in rows:
            assert row.numbers.keys() == WEIGHTS.keys()
            assert row.actions > 0

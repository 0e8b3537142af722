"""FCRF's mentor through the real game, with answers given in advance: depth, lessons,
pool.
"""

import dataclasses

import pytest

from pddlego_local.core.errors import ConfigError, PromptTooLong
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES
from pddlego_local.methods.fcrf import Difficulty, Fcrf
from pddlego_local.models.scripted import Scripted
from pddlego_local.runner.config import compose_cell
from tests.methods.learning import FAILING, GAME, WINNING, fcrf, opening, play, text
from tests.rows import row


def test_failed_reflected_solved_and_not_played_again() -> None:
    failed = play(fcrf(), Scripted([*FAILING, text("Keep the west door in mind.")]))
    assert failed.outcome == "repeated_action"
    assert not failed.success
    assert failed.notes["reflection"] == {"experience": "Keep the west door in mind."}
    assert failed.notes["trace"].count("Action: move up") == 2

    model = Scripted([*WINNING, text("Open doors.")])
    older = dataclasses.replace(failed, notes={"trace": "An older trace."})
    solved = play(fcrf(), model, [older, failed])
    assert solved.outcome == "success"
    assert "An older trace" not in opening(model, 2)
    assert "Experience: Keep the west door in mind." in opening(model)
    asked = opening(model, 2)
    assert asked.index("Action: move up") < asked.index("Action: move west")
    assert (solved.task_type, solved.notes["lesson"]) == ("5 rooms", "Open doors.")

    again = play(fcrf(), Scripted([]), [failed, solved])
    assert (again.outcome, again.calls) == ("solved_before", 0)


def test_after_k1_trials_the_reflection_is_deep() -> None:
    simple = [*FAILING, text("Valuable.")]
    first = play(fcrf(k1=2), Scripted(simple))
    second = play(fcrf(k1=2), Scripted(simple), [first])
    model = Scripted([*simple, text("Lesson."), text("Plan.")])
    third = play(fcrf(k1=2), model, [first, second])
    assert list(first.notes["reflection"]) == ["experience"]
    assert list(second.notes["reflection"]) == ["experience"]
    assert list(third.notes["reflection"]) == ["experience", "lesson", "plan"]
    assert "valuable in the trial: Valuable." in opening(model, 4)
    assert "lesson of its failure: Lesson." in opening(model, 4)


def test_every_type_of_task_has_its_difficulty() -> None:
    method: Fcrf = compose_cell(["method=fcrf"]).build("method")

    def k1(task_type: str) -> int:
        for entry in method.difficulty:
            if entry.tasks.fullmatch(task_type):
                return entry.simple_trials
        raise AssertionError(f"no difficulty for {task_type}")

    expected = {
        "pick_and_place_simple": 3,
        "look_at_obj_in_light": 2,
        "pick_clean_then_place_in_recep": 1,
        "pick_heat_then_place_in_recep": 1,
        "pick_cool_then_place_in_recep": 1,
        "pick_two_obj_and_place": 1,
        "11 rooms": 3,
        "1 rooms, 1 ingredients": 2,
        "5 rooms, 5 ingredients": 1,
    }
    assert expected.keys() >= set(PLAIN_TYPES)
    expected |= {kind: 1 for kind in TASK_TYPES if "+" in kind}
    assert {kind: k1(kind) for kind in expected} == expected


def test_a_type_without_a_difficulty_is_the_users_mistake_before_any_question() -> None:
    entry = Difficulty(tasks="rooms", objects=1, operations=1)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"method\.difficulty.*'5 rooms' of coin"):
        play(Fcrf(difficulty=(entry,)), Scripted([]))


def taught(
    game: int, trial: int, lesson: str, task_type: str = "5 rooms"
) -> EpisodeRow:
    return row("success", game, trial, task_type=task_type, notes={"lesson": lesson})


def test_a_deep_reflection_is_shown_the_pool_of_its_type_in_task_order() -> None:
    rows = [
        taught(9, 2, "Fourth."),
        taught(8, 1, "Third."),
        taught(7, 1, "Second."),
        taught(6, 1, "Of another type.", "11 rooms"),
        taught(5, 2, "Second."),
    ]
    failed = play(fcrf(), Scripted([*FAILING, text("E")]))
    model = Scripted([*FAILING, text("E"), text("Second."), text("P")])
    play(fcrf(k1=1), model, [failed, *rows])
    asked = opening(model, 3)
    assert "1. Second.\n2. Third.\n3. Fourth.\nIf one" in asked
    assert "Of another type" not in asked


def test_a_mentor_that_says_nothing_usable_changes_no_outcome() -> None:
    model = Scripted([*FAILING, "", '{"words": "I cannot."}', "{}"])
    row = play(fcrf(max_retries=2), model)
    assert row.outcome == "repeated_action"
    assert row.notes["reflection"] == {}
    assert "move up" in row.notes["trace"]
    assert "of exactly this form" in opening(model, 4)
    solved = play(fcrf(), Scripted([*WINNING, PromptTooLong("no room")]), [row])
    assert solved.outcome == "success"
    assert solved.notes == {"difference_fault": "context_exceeded"}


def test_a_trial_that_left_no_notes_is_no_stumbling_block() -> None:
    bare = row("context_exceeded", GAME)
    assert play(fcrf(), Scripted(WINNING), [bare]).outcome == "success"

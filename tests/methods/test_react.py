"""The actor of Reflexion and FCRF in the real game, with answers given in advance."""

import json
import re

import pytest

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.environments.tables import Tables
from pddlego_local.methods import prompting
from pddlego_local.methods.reflexion import Reflexion
from pddlego_local.models.scripted import Scripted
from tests.environments.commands import parse
from tests.methods.learning import (
    FAILING,
    WINNING,
    act,
    fcrf,
    opening,
    play,
    text,
    think,
)


def test_thoughts_and_acts_make_one_growing_dialogue() -> None:
    model = Scripted([think("West."), *WINNING])
    row = play(fcrf(), model)
    assert (row.outcome, row.calls, row.actions) == ("success", 3, 2)
    assert row.notes == {}
    roles = [message.role for message in model.asked[-1].messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    said = [message.content for message in model.asked[-1].messages[1:]]
    assert said[:3] == [think("West."), "OK.", act("open door to west")]
    assert said[3].startswith("You open the sliding patio door")
    assert opening(model).endswith("To the West you see a closed sliding patio door.")
    assert "tried your game before" not in opening(model)


def test_reflexion_reflects_once_and_carries_its_plans() -> None:
    rows: list[EpisodeRow] = []
    for plan in ("One.", "Two.", "Three.", "Four."):
        rows.append(play(Reflexion(), Scripted([*FAILING, text(plan)]), rows))
    model = Scripted(WINNING)
    solved = play(Reflexion(), model, rows)
    assert solved.outcome == "success"
    plans = re.findall(r"Plan: (\w+)\.", opening(model))
    assert plans == ["Two", "Three", "Four"]
    again = play(Reflexion(), Scripted([]), [*rows, solved])
    assert again.outcome == "solved_before"


@pytest.mark.parametrize(
    ("answers", "outcome", "actions"),
    [
        ([act("move up"), act("move up")], "repeated_action", 2),
        ([think("Hm."), think("Hm.")], "repeated_action", 0),
        # the same command again, but it gave something else: no repetition until it
        # does not
        ([act("open door to west")] * 3, "repeated_action", 3),
        (
            [act("move up"), think("Hm."), act("move up"), think("Up."), *WINNING],
            "success",
            4,
        ),
        ([think("1"), think("2"), think("3")], "no_action", 0),
        ([think("1"), "nonsense", think("3")], "no_action", 0),
        (["nonsense"] * 3, "no_action", 0),
        (
            [think("1"), think("2"), WINNING[0], think("4"), think("5"), WINNING[1]],
            "success",
            2,
        ),
    ],
)
def test_how_a_trial_ends(answers: list[str], outcome: str, actions: int) -> None:
    row = play(Reflexion(max_thoughts=2), Scripted([*answers, text("Plan.")]))
    assert row.outcome == outcome
    assert row.actions + row.refused == actions
    assert ("reflection" in row.notes) == (outcome != "success")


def test_thoughts_are_free_under_a_budget_of_actions_and_rounds_of_one_of_rounds() -> (
    None
):
    first = [think("1"), act("open door to south")]
    second = [think("2"), act("move south")]
    free = Scripted([*first, *second, text("Plan.")])
    assert play(Reflexion(), free, limit=2).outcome == "step_limit"
    counted = Scripted([*first, text("Plan.")])
    row = play(Reflexion(), counted, limit=2, unit="rounds")
    assert (row.outcome, row.steps, row.actions) == ("step_limit", 2, 1)


def test_an_unusable_answer_is_complained_of_once_and_leaves_no_trace() -> None:
    model = Scripted(['{"kind": "go"}', '{"kind": "sing", "text": "la"}', *WINNING])
    assert play(Reflexion(), model).causes == {"answered": 2, "wrong_keys": 2}
    assert "exactly this form" in opening(model, 2)
    assert "exactly this form" not in str(model.asked[3])
    assert [message.role for message in model.asked[3].messages] == [
        "user",
        "assistant",
        "user",
    ]


def test_a_dialogue_that_outgrows_the_context_is_reflected_on() -> None:
    row = play(fcrf(), Scripted([WINNING[0], PromptTooLong("no room"), text("E")]))
    assert row.outcome == "context_exceeded"
    assert row.notes["reflection"]
    with pytest.raises(PromptTooLong):  # nothing was said yet: the setting is too small
        play(fcrf(), Scripted([PromptTooLong("no room")]))
    later = play(fcrf(), Scripted([PromptTooLong("no room"), text("E")]), [row])
    assert later.outcome == "context_exceeded"


@pytest.mark.parametrize("environment", ["coin", "cooking", "alfworld"])
def test_examples_say_only_what_the_game_understands(environment: str) -> None:
    package = f"pddlego_local.environments.{environment}"
    tables = Tables.load(package)
    kinds = TASK_TYPES if environment == "alfworld" else ("2 rooms",)
    for kind in kinds:
        facts = {"actions": tables.schemas, "task_type": kind}
        shown = prompting.render(
            "fcrf/actor", package, **facts, reflections=[], look=""
        )
        told = shown.text.partition("Example 1:")[2]
        moves = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        commands = [move["text"] for move in moves if move["kind"] == "act"]
        assert "Example 2:" in told
        assert len(commands) > 7
        for command in commands:
            assert parse(tables, command)
        assert told.count("\nOK.\n") == len(moves) - len(commands) > 1
        assert ("slice" in "".join(commands)) == ("+slice" in kind)

"""The examples of answers that FCRF's mentor and Reflexion show, two for each
question.
"""

import json
import re
from typing import Any

import pytest

from pddlego_local.decoding.forms import TEXT
from pddlego_local.environments import family
from pddlego_local.environments.tables import Tables
from pddlego_local.methods import prompting
from pddlego_local.methods.shared.react import Trial
from tests.environments.commands import parse
from tests.methods.test_deps_prompts import ENVIRONMENTS, holds

NEEDS: dict[str, dict[str, Any]] = {
    "experience": {},
    "lesson": {"pool": ["A lesson of the pool."]},
    "plan": {"experience": "What was valuable.", "lesson": "What was learnt."},
    "difference": {"failed": "The failed trial."},
    "reflection": {"reflections": [{"plan": "An earlier plan."}]},
}
TRIAL = Trial("The look of this game.", 3, "no_action")


def mentor(environment: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = family.words(environment, "prompts/fcrf.yaml")[
        "mentor"
    ]
    return found


def asked(environment: str, part: str, **facts: Any) -> str:
    return prompting.render(
        f"fcrf/{part}", environment, trial=TRIAL, **(NEEDS[part] | facts)
    ).text


@pytest.mark.parametrize("part", NEEDS)
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_question_shows_two_answers_of_its_form_and_then_the_trial(
    environment: str, part: str
) -> None:
    text = asked(environment, part)
    answers = [line for line in text.splitlines() if line.startswith("{")]
    assert [json.loads(answer)["text"] for answer in answers] == [
        example[part] for example in mentor(environment)
    ]
    for answer in answers:
        holds(answer, TEXT)
    shown, _, own = text.partition("Now it is your turn.")
    assert "Example 2." in shown
    assert "Example 3." not in shown
    assert TRIAL.trace in own
    assert answers[-1] in shown
    for needed in re.findall(r"[A-Z][a-z ]+\.", str(NEEDS[part])):
        assert needed in own
        assert needed not in shown


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_trials_in_examples_say_only_what_the_game_understands(
    environment: str,
) -> None:
    tables = Tables.load(environment)
    for example in mentor(environment):
        failed, solved = (
            re.findall(r"^Action: (.+)$", example[trial], re.MULTILINE)
            for trial in ("trace", "solved")
        )
        assert all(parse(tables, command) for command in [*failed, *solved])
        assert failed != solved
        assert len(failed) > 1
        repeats = failed[-1] == failed[-2] and example["trace"].count("\n") > 3
        assert repeats == (example["outcome"] == "repeated_action")
        look = example["trace"].partition("\nAction: ")[0].partition("\nThought: ")[0]
        assert example["solved"].startswith(look)

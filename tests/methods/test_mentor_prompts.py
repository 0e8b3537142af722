"""The trials in the examples that FCRF's mentor and Reflexion show."""

import re

import pytest

from pddlego_local.environments import family
from pddlego_local.environments.tables import Tables
from tests.environments.commands import parse
from tests.methods.test_deps_prompts import ENVIRONMENTS, OFFICE

_ACTION = re.compile(r"^Action: (.+)$", re.MULTILINE)


@pytest.mark.parametrize("environment", sorted({*ENVIRONMENTS} - {OFFICE.package}))
def test_trials_in_examples_say_only_what_the_game_understands(
    environment: str,
) -> None:
    tables = Tables.load(environment)
    for example in family.words(environment, "prompts/fcrf.yaml")["mentor"]:
        failed = _ACTION.findall(example["trace"])
        solved = _ACTION.findall(example["solved"])
        for command in [*failed, *solved]:
            assert parse(tables, command)
        assert failed != solved
        assert len(failed) > 1
        repeats = failed[-1] == failed[-2] and example["trace"].count("\n") > 3
        assert repeats == (example["outcome"] == "repeated_action")
        look = example["trace"].partition("\nAction: ")[0].partition("\nThought: ")[0]
        assert example["solved"].startswith(look)

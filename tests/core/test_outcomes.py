"""The tables of outcomes and causes hold what the code can say, and nothing else."""

import ast
import re
import typing
from pathlib import Path

import pytest

import pddlego_local
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import PlanOutcome
from pddlego_local.core.outcomes import (
    CAUSES,
    OUTCOMES,
    Blame,
    Cause,
    Outcome,
    outcome_named,
    planning_cause,
)
from pddlego_local.decoding.forms import Fault

SOURCE = Path(pddlego_local.__file__).parent
ENDS = re.compile(
    r"^.*\b(?:return|(?:outcome|ended) =|(?:Trial|Pursuit|replace|Execution)\().*", re.M
)
"""A line that returns a string, or puts one into a value that tells how an episode
ended.
"""
NO_OUTCOMES = {"actions", "examples", "planner", "restarts", "rounds", "user"}
OF_A_SUBGOAL = {
    "accomplished",
    "failed",
}  # how a pursuit ends while the episode goes on


def names_in_the_code() -> set[str]:
    """Of all methods, and of the episode and the run that end one."""
    others = ("episode/game_runner.py", "episode/episode.py", "runner/cell.py")
    files = [*(SOURCE / "methods").rglob("*.py"), *(SOURCE / name for name in others)]
    lines = "\n".join(
        line
        for file in files
        for line in ENDS.findall(file.read_text(encoding="utf-8"))
    )
    return set(re.findall(r'"([a-z_]{4,})"', lines)) - NO_OUTCOMES


def test_the_table_lists_what_methods_return_and_nothing_that_none_returns() -> None:
    assert names_in_the_code() - OF_A_SUBGOAL == set(OUTCOMES)


def test_what_a_methods_docstring_declares_is_in_the_table() -> None:
    for file in (SOURCE / "methods").glob("[!_]*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.FunctionDef) and call.name == "__call__"):
                continue
            declared = (ast.get_docstring(call) or "").partition("Returns ")[2]
            words = {word.strip("(),.") for word in declared.split()}
            assert words & set(OUTCOMES), file
            unknown = (
                {word for word in words if "_" in word} - set(OUTCOMES) - {"max_idle"}
            )
            assert {word for word in unknown if word.isidentifier()} == set(), file


def test_every_verdict_of_the_planner_and_every_fault_of_an_answer_is_a_cause() -> None:
    said = {*typing.get_args(PlanOutcome), *typing.get_args(Fault)} - {""}
    assert set(CAUSES) == said | {"answered", "mechanical_steps"}


def test_the_tables_say_whole_sentences_and_blame_no_success() -> None:
    verdicts: list[Outcome | Cause] = [*OUTCOMES.values(), *CAUSES.values()]
    for verdict in verdicts:
        assert verdict.means[0].isupper() and verdict.means.endswith(".")
        assert verdict.limit or verdict.blame != "limits"
        assert verdict.blame in typing.get_args(Blame)
    assert all((o.blame == "nobody") == o.success for o in OUTCOMES.values())


def test_a_name_that_is_not_listed_is_an_error_at_once() -> None:
    with pytest.raises(ConfigError, match=r"'gave_up'.*outcomes\.yaml"):
        outcome_named("gave_up")


def test_steps_that_follow_a_true_goal_are_something_to_do() -> None:
    assert not CAUSES[planning_cause("goal_already_true", ())].to_do
    assert CAUSES[planning_cause("goal_already_true", ("prepare meal",))].to_do
    assert planning_cause("solved", ("prepare meal",)) == "solved"

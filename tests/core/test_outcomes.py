"""The tables of outcomes and causes hold what the code can say, and nothing else."""

import ast
import typing
from collections.abc import Iterator
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
BUILT_WITH_AN_OUTCOME = ("Trial", "Pursuit", "replace", "Execution")
OF_A_SUBGOAL = {"accomplished", "failed"}  # how a pursuit ends while the episode goes on


def returned_names(file: Path) -> Iterator[str]:
    """Strings that functions return or put into a value that tells how an episode ended."""
    for node in ast.walk(ast.parse(file.read_text())):
        said: list[ast.expr | None] = []
        if isinstance(node, ast.Return):
            said = [node.value]
        elif isinstance(node, ast.Assign):
            told = getattr(node.targets[0], "id", "") in ("outcome", "ended")
            said = [node.value] if told else []
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in BUILT_WITH_AN_OUTCOME:
                said = [*node.args, *(keyword.value for keyword in node.keywords)]
        for value in said:
            yield from _strings(value)


def _strings(value: ast.expr | None) -> Iterator[str]:
    """Those that the expression itself can be, not what it compares or passes on."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from (*_strings(value.body), *_strings(value.orelse))
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _strings(part)


def names_in_the_code() -> set[str]:
    """Of all methods, and of the episode and the run that end one."""
    others = (
        SOURCE / name for name in ("episode/acting.py", "episode/episode.py", "runner/cell.py")
    )
    files = [*(SOURCE / "methods").rglob("*.py"), *others]
    names = {name for file in files for name in returned_names(file)}
    return {name for name in names if name.replace("_", "").isalpha() and name.islower()}


def test_the_table_lists_what_methods_return_and_nothing_that_none_returns() -> None:
    assert names_in_the_code() - OF_A_SUBGOAL == set(OUTCOMES)


def test_what_a_methods_docstring_declares_is_in_the_table() -> None:
    for file in (SOURCE / "methods").glob("[!_]*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(call, ast.FunctionDef) and call.name == "__call__"):
                continue
            declared = (ast.get_docstring(call) or "").partition("Returns ")[2]
            words = {word.strip("(),.") for word in declared.split()}
            assert words & set(OUTCOMES), file
            unknown = {word for word in words if "_" in word} - set(OUTCOMES) - {"max_idle"}
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

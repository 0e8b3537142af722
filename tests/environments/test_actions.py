"""Tables of all environments: from planned actions to commands and back, by
position.
"""

import re
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.core.protocols import Environment
from pddlego_local.environments import family
from pddlego_local.environments.alfworld import game as alfworld
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.environments.coin import game as coin
from pddlego_local.environments.cooking import game as cooking
from pddlego_local.environments.tables import Tables, difficulty_groups
from pddlego_local.pddl.check import check
from tests.environments.commands import parse
from tests.tables import table

CASES = table(__file__)

ENVIRONMENTS = {"coin": coin, "cooking": cooking, "alfworld": alfworld}
PLAYED: dict[str, Environment] = {
    "coin": coin.Coin(),
    "cooking": cooking.Cooking(),
    "alfworld": alfworld.Alfworld(),
}
ACTIONS = [
    (name, action)
    for name in ENVIRONMENTS
    for action in ENVIRONMENTS[name].TABLES.actions
]


@pytest.mark.parametrize(
    ("name", "action"), ACTIONS, ids=lambda part: getattr(part, "name", part)
)
def test_a_planned_action_becomes_a_command_and_its_arguments_come_back(
    name: str, action: Action
) -> None:
    """Arguments that would mislead a search for substrings: action names, prefixes of
    others.
    """
    arguments = ("inner0", "opened1", "taken2", "within3")
    given = dict(zip(action.variables, arguments, strict=False))
    command = PLAYED[name].command(
        f"({action.name.upper()} {' '.join(given.values())})"
    )
    assert command
    found = parse(ENVIRONMENTS[name].TABLES, command)
    assert found
    back, said = found
    assert back == action
    for variable, value in said.items():
        assert value.replace(" ", "") == given[variable]
    assert set(said) == set(re.findall(r"\{(\w+)\}", action.command))


@pytest.mark.parametrize(
    ("name", "planned", "command"),
    CASES["names_are_spelled_as_the_game_does"],
)
def test_names_are_spelled_as_the_game_does(
    name: str, planned: str, command: str | None
) -> None:
    assert PLAYED[name].command(planned) == command


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_one_argument_too_few_or_too_many_is_no_command(name: str) -> None:
    for action in ENVIRONMENTS[name].TABLES.actions:
        for count in (len(action.variables) - 1, len(action.variables) + 1):
            if count >= 0:
                planned = f"({' '.join([action.name, *['a1'] * count])})"
                assert PLAYED[name].command(planned) is None
    assert PLAYED[name].command("()") is None
    assert parse(ENVIRONMENTS[name].TABLES, "dance with wolves") is None


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_hand_written_domain_has_all_actions_with_their_parameters(name: str) -> None:
    tables = ENVIRONMENTS[name].TABLES
    problem = (
        f"(define (problem p) (:domain {_name(tables.domain)}) (:init) (:goal (and)))"
    )
    assert not [f for f in check(tables.domain, problem).faults if f.kind != "warning"]
    text = re.sub(r";.*", "", tables.domain)
    written = re.findall(
        r":action\s+(\S+)\s+:parameters\s+(\(.*?\))\s+:(?:precondition|effect)",
        text,
        re.S,
    )
    signatures = {
        action: " ".join(parameters.split()) for action, parameters in written
    }
    for action in tables.actions:
        if action.name in signatures:
            assert signatures[action.name] == action.parameters
    played_mechanically = {"open-container", "prepare-meal", "eat-meal"}
    missing = {action.name for action in tables.actions} - set(signatures)
    assert missing == (played_mechanically if name == "cooking" else set())


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_reference_writes_exactly_the_told_actions(name: str) -> None:
    domain = family.reference(PLAYED[name].package).DOMAIN
    written = re.findall(r":action (\S+)[^\n]*\n\s*:parameters (\([^)]*\))", domain)
    assert written == [
        (action.name, action.parameters) for action in PLAYED[name].actions
    ]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ("actions: []\n", "tables.yaml: it has no 'feedback'"),
        ("actions: [{name: go}]\nfeedback: []", "actions.0 has no 'parameters'"),
        ("actions: []\nfeedback: [{command: a, reply: b}]", "0 has no 'message'"),
        ("actions: 3\nfeedback: []", "tables.yaml: actions: Input should be"),
    ],
)
def test_what_a_table_lacks_is_said_with_its_place(
    tables: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "tables.yaml").write_text(tables, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path.parent)
    with pytest.raises(ConfigError) as refused:
        Tables.load(tmp_path.name)
    assert said in str(refused.value)


def test_difficulty_groups_are_those_of_the_paper_and_hold_every_task_type() -> None:
    groups = difficulty_groups(alfworld.Alfworld.package)
    assert [*groups] == ["basic & use", "clean", "cool", "heat", "slice+"]
    assert sorted(kind for kinds in groups.values() for kind in kinds) == sorted(
        TASK_TYPES
    )
    assert difficulty_groups(coin.Coin.package) == {}  # the number of rooms


def _name(domain: str) -> str:
    found = re.search(r"\(\s*domain\s+([\w-]+)", domain)
    assert found
    return found[1]

"""The examples that prompts show of problems and edits are what a perfect model would
write.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.core.nouns import Completion, Turn
from pddlego_local.decoding.forms import EDIT
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.episode.game_runner import Execution
from pddlego_local.episode.reading.answer import read_constrained, read_free
from pddlego_local.methods import prompting
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply, empty_problem, facts_of, objects_of

HOUSES = (Coin, Cooking)
ENVIRONMENTS = (*HOUSES, Alfworld)
DIRECTIONS = {"north", "south", "east", "west"}


def shown(package: str) -> Any:
    return family.words(package, "prompts/environment.yaml")["demonstration"]


def turns(told: str) -> Iterator[Turn]:
    for found in re.finditer(
        r"^Action: (.+)\n((?:(?!Action: ).*\n?)+)", told, re.MULTILINE
    ):
        yield Turn(found[1], found[2].strip())


def apply_shown(answer: str, problem: str) -> str:
    value = read_constrained(Completion(answer, "stop", 0, 0, 0.0), EDIT).value
    assert value
    edited, faults, _ = apply(value.model_dump(), problem)
    assert not faults
    return edited


def same(problem: str, other: str) -> None:
    """The same facts about the same things; which directions are declared is left
    free.
    """
    assert set(facts_of(problem)) == set(facts_of(other))
    found, expected = (
        {
            name: kind
            for name, kind in objects_of(text).items()
            if name not in DIRECTIONS
        }
        for text in (problem, other)
    )
    assert found == expected


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_edits_lead_to_the_problems_that_a_perfect_model_writes(
    environment: Any,
) -> None:
    rules, example = family.reference(environment.package), shown(environment.package)
    memory = list(turns(example["observation"]))
    assert check(environment.domain, example["problem"]).accepted
    same(example["problem"], rules.problem(memory))
    edited = apply_shown(example["edits"], empty_problem(environment.domain))
    same(edited, example["problem"])

    later = example["later"]
    memory += turns(later["observation"])
    edited = apply_shown(later["edits"], edited)
    assert check(environment.domain, edited).accepted
    same(edited, rules.problem(memory))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_edit_is_shown_that_adds_replaces_and_deletes(environment: Any) -> None:
    text = prompting.render(
        "pddlego/edit",
        environment.package,
        domain="(the domain)",
        goals=(),
        observations="(the news)",
        problem="(the problem)",
    ).text
    example = shown(environment.package)["later"]
    changes = read_free(Completion(example["edits"], "stop", 0, 0, 0.0), EDIT).value
    assert changes and changes.init.add and changes.init.replace and changes.init.delete
    assert text.index(example["observation"].strip()) < text.index(
        example["edits"].strip()
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_action_that_is_shown_is_a_command(environment: Any) -> None:
    planned = {"coin": "(open-door a b south)", "cooking": "(take turnip kitchen)"}.get(
        environment.name, "(GotoLocation init_receptacle countertop1)"
    )
    assert environment().command(planned) == shown(environment.package)["action"]


# ---- Names that prompts show


@pytest.mark.parametrize("environment", HOUSES)
def test_every_prompt_tells_one_name_for_the_room_behind_a_closed_door(
    environment: Any,
) -> None:
    facts = {
        "domain": "",
        "goals": (),
        "observations": "",
        "previous": "",
        "problem": "",
    }
    texts = [
        prompting.render("pddlego/problem", environment.package, **facts).text,
        prompting.render("pddlego/edit", environment.package, **facts).text,
    ]
    fixed = formalizing(environment.package, "(define (domain d))")
    for text in (*texts, fixed, formalizing(environment.package)):
        assert "such as behind_kitchen_south" in " ".join(text.split())
        assert "room1" not in text and "place holder" not in text


def formalizing(package: str, fixed_domain: str = "") -> str:
    class Previous:
        domain, problem = "(define (domain d))", "(define (problem p))"

    return prompting.render(
        "pddlego_plus/prompt",
        package,
        actions=(),
        shown=("goal_template", "goal_hint"),
        observations="(seen)",
        commands=("go",),
        shows_commands=True,
        memory="(memory)",
        previous=Previous(),
        fixed_domain=fixed_domain,
        solver_error="(solver)",
        refusal=Execution((), "(simulation)"),
        repetition="(again)",
    ).text

"""What comes from a program, a client or a text is data for Hydra, however it looks."""

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.api.formalize import formalizer
from pddlego_local.api.options import model_options, overrides_of
from pddlego_local.commands import mcp
from pddlego_local.core.errors import ConfigError
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.overrides import at_home
from tests.tables import table

CASES = table(__file__)

SECRET = "value-of-a-variable"
PIECES = CASES["pieces"]


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDDLEGO_TEST_SECRET", SECRET)


def test_any_text_of_a_program_arrives_as_it_is() -> None:
    """Each piece alone, and 500 texts of several pieces: composed, and given to the
    class.
    """
    rng = random.Random(7)
    mixed = ["".join(rng.choices(PIECES, k=rng.randint(2, 6))) for _ in range(500)]
    texts = [
        text for text in (*PIECES, *mixed) if text != "???"
    ]  # Hydra's sign for no value
    chosen: dict[str, object] = {"model": "vllm", "model__weights": "x"}
    config = compose_cell(
        overrides_of({**chosen, "model__server__extra_arguments": texts})
    )
    expected = list(map(at_home, texts))
    assert config.build("model").server.extra_arguments == tuple(expected)
    for text in (
        "${oc.env:PDDLEGO_TEST_SECRET}",
        "a\nb",
        'say "x, y"',
        "\\",
        "~/x",
        "x,~/y",
    ):
        config = compose_cell(overrides_of({**chosen, "model__revision": text}))
        assert config.tree["model"]["revision"] == at_home(text)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("decoding__stage_tokens", {"types": 500, "objects": 7}),
        (
            "model__server__variables",
            {"HF_HOME": "${oc.env:PDDLEGO_TEST_SECRET}", "A-B": "a,b"},
        ),
        ("model__server__extra_arguments", ("--a", "x, y", "[", "~")),
        ("environment__rooms", 5),
        ("environment__doors", False),
        ("model__revision", None),
    ],
)
def test_values_of_every_kind(option: str, value: object) -> None:
    chosen = {"model": "vllm", "model__weights": "x", "decoding": "typed"}
    tree: Any = compose_cell(overrides_of({**chosen, option: value})).tree
    for part in option.split("__"):
        tree = tree[part]
    assert tree == (list(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize(
    "key", ["a=b", "~model", "model model", "", "run.out,x", "${seed}"]
)
def test_a_key_that_is_no_name_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="not the name of an option"):
        overrides_of({key: 1})


WAYS: dict[str, Callable[[str], object]] = {
    "mcp": lambda text: mcp.formalized("a puzzle", text, ""),
    "formalize": lambda text: pddlego_local.formalize("a puzzle", model=text),
    "formalize's rung": lambda text: pddlego_local.formalize(
        "a puzzle", model="nano", rung=text
    ),
    "sample": lambda text: pddlego_local.sample("a prompt", model=text),
    "sample's rung": lambda text: pddlego_local.sample(
        "a prompt", model="nano", rung=text
    ),
    "a server": lambda text: pddlego_local.sample("a prompt", model="x", server=text),
    "question": lambda text: pddlego_local.question(games=text),
    "Game": lambda text: pddlego_local.Game(environment__rooms=text),
    "run": lambda text: pddlego_local.run(method=text),
    "run's games": lambda text: pddlego_local.run(games=text),
    "the formalizer": lambda text: ExitStack().enter_context(
        formalizer(model_options(text))
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "text",
    [
        "${oc.env:PDDLEGO_TEST_SECRET}",
        "\\${oc.env:PDDLEGO_TEST_SECRET}",
        'a"${seed}\n~,x=[',
    ],
)
def test_no_way_in_reads_a_variable(
    way: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every function that takes a text from a client refuses this one without looking
    into it.
    """
    monkeypatch.chdir(Path(__file__).parent)
    try:
        told = str(WAYS[way](text))
    except Exception as error:
        assert isinstance(error, ConfigError | KeyError) or "MissingPart" in repr(
            type(error)
        )
        told = str(error)
    assert SECRET not in told


def test_a_users_own_reference_is_resolved() -> None:
    config = compose_cell(
        ["model=transformers", "model.weights=${oc.env:PDDLEGO_TEST_SECRET}"]
    )
    assert config.tree["model"]["weights"] == SECRET

"""Models that drift, in real games: random weights with a taste for brackets or
quantifiers, and our own small models in games that they were not trained for. On every
environment, method and rung each answer is finished or cut, each grammar compiles, and
what is typed can be applied and planned for.

This takes long, and runs under `make fuzz` alone.
"""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError, PromptTooLong
from pddlego_local.core.record.events import Call, EditApplied, Plan
from pddlego_local.core.record.folder import transcripts
from pddlego_local.decoding.question import Model
from pddlego_local.episode.episode import Parts
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.config import CellConfig, compose_cell
from tests.episode.drawing import TASTES, RandomLogits
from tests.fuzz.hostile import EXAMPLES
from tests.fuzz.test_episodes import METHODS, in_words, played

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="make fuzz runs it")

ENVIRONMENTS = [
    "coin",
    "cooking_hard",
    "described",
    pytest.param("alfworld", marks=pytest.mark.alfworld),
]
RUNGS = ("free", "json", "syntax", "signatures", "typed", "grounded")
DRIFTING = (
    "nano",
    "nano_early",
    "nano_edit",
    "nano_edit_early",
    "nano_explored",
    "nano_worlds",
)
PDDL_METHODS = ("pddlego", "pddlego_plus", "pddl_edit", "formalizer")
TYPED = ("typed", "grounded")
WITH_GOALS_OF_THEIR_OWN = ("pddl_edit", "pddl_gen", "pddlego")
"""Methods whose goals may name what the model has not declared."""
WANTED = EXAMPLES // 20
"""Answers of random weights in each environment, at least."""


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(limits=Limits(wall_s=60, cpu_s=10, memory_mb=1024)) as planner:
        yield planner


def cells(environment: str, *overrides: str) -> list[CellConfig]:
    """Every method and rung that can be had in the environment, greedily and not."""
    found = []
    methods = [
        method for method in METHODS if in_words(method) == (environment == "described")
    ]
    for method, rung, temperature in itertools.product(methods, RUNGS, (0, 1)):
        words = [f"environment={environment}", f"method={method}", f"decoding={rung}"]
        words += [
            f"decoding.temperature={temperature}",
            "decoding.max_tokens=1500",
            *overrides,
        ]
        with contextlib.suppress(ConfigError):
            found.append(compose_cell([*words, "environment.budget.limit=3"]))
    return found


def play(config: CellConfig, model: Model, planner: FastDownward, out: Path) -> int:
    """One episode; how many answers were drawn. Under a grammar each of them is whole
    or was cut, and the planner's translator takes what is typed.
    """
    with contextlib.closing(config.build("environment")) as environment:
        decoding = config.build("decoding")
        parts = Parts(environment, model, planner, decoding)
        try:
            played(config.labels["method"], parts, out)
        except (
            PromptTooLong
        ):  # what it wrote outgrew its context: an outcome of its own
            return 0
    ((_, events),) = transcripts(out)
    faults = {event.fault for event in events if isinstance(event, Call)}
    assert decoding.rung == "free" or faults <= {"", "truncated"}, (config.cell, faults)
    if decoding.rung in TYPED:
        assert not any(
            event.faults for event in events if isinstance(event, EditApplied)
        )
        planned = {event.outcome for event in events if isinstance(event, Plan)}
        if config.labels["method"] not in WITH_GOALS_OF_THEIR_OWN:
            assert planned.isdisjoint({"translate_error", "planner_fault"}), config.cell
    return sum(isinstance(event, Call) for event in events)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_random_weights_with_a_taste_break_nothing(
    environment: str, planner: FastDownward, tmp_path: Path
) -> None:
    listed = cells(environment, "model=random")
    answers = 0
    for number in itertools.count():
        if number >= len(listed) and answers >= WANTED:
            break
        config = listed[number % len(listed)]
        taste = TASTES[number % len(TASTES)]
        answers += play(
            config, RandomLogits(number, taste=taste), planner, tmp_path / str(number)
        )
    assert answers >= WANTED


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", DRIFTING)
def test_our_own_models_break_nothing_where_they_were_never_trained(
    name: str, environment: str, planner: FastDownward, tmp_path: Path
) -> None:
    listed = [
        config
        for config in cells(environment, f"model={name}")
        if config.labels["method"] in PDDL_METHODS
        and config.tree["decoding"]["rung"] in TYPED
    ]
    with contextlib.closing(listed[0].build("model")) as model:
        for number, config in enumerate(listed):
            play(config, model, planner, tmp_path / str(number))

"""Weighted answers behind a server: what its log-probabilities are, and which distribution the
answers come from."""

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pddlego_local.core.nouns import Prefix, Sampling
from pddlego_local.decoding.stages import Constraint, Stage, StagedGrammar, Stages
from pddlego_local.episode.weighting import draw_weighted, in_stages
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from tools.bench.law import MESSAGES, Remembered, exact, generation, room, shares, variation

ROOMS = ("a", "b", "c", "hall")
FIRST, SECOND = room(ROOMS, "(", " "), room(ROOMS, "", ")")


def two_rooms() -> Stages:
    first = yield Stage("first", FIRST)
    second = yield Stage("second", SECOND)
    if first[1:-1] == second[:-1]:
        yield Stage("second", room([r for r in ROOMS if f"{r})" != second], "", ")"), len(second))


AT_ONCE = in_stages(room([f"{one} {other}" for one in ROOMS for other in ROOMS], "(", ")"))
IN_STAGES = StagedGrammar("two rooms", two_rooms)
PROMPT_TOKENS = 20  # at least, of MESSAGES in a chat
PAIRS = tuple((one, other) for one in ROOMS for other in ROOMS)


@pytest.fixture(scope="module")
def owns(weights: Path) -> dict[float, Remembered]:
    """The same weights in this process, by temperature."""
    in_process = generation(weights, Thinking())
    return {temperature: Remembered(in_process, temperature) for temperature in (1.0, 0.5)}


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("forced_tokens", [False, True])
def test_a_server_tells_what_was_drawn_after_the_mask_and_a_prefill_the_models_own(
    servers: dict[bool, VllmModel],
    owns: dict[float, Remembered],
    forced_tokens: bool,
    temperature: float,
) -> None:
    """With forced tokens at the temperature that was asked for. Without them vLLM tells both at 1,
    whatever the tokens were drawn at: other temperatures cannot be weighed."""
    model = servers[forced_tokens]
    assert model.weighs_at(temperature) == (forced_tokens or temperature == 1)
    own = owns[temperature if forced_tokens else 1.0]
    for seed in range(4):
        prefix, tokens = Prefix(), tuple[int, ...]()
        drawn, likely = 0.0, 0.0
        for grammar in (FIRST, SECOND):
            sampling = Sampling(temperature, seed=seed, particles=1)
            piece = model.complete(MESSAGES, grammar, sampling, prefix)
            assert piece.prefix and piece.log_drawn is not None
            begun, prefix, tokens = len(tokens), piece.prefix, piece.prefix.tokens
            expected = 0.0
            for place in range(begun, len(tokens)):
                step = own.step(MESSAGES, grammar, tokens[:place], begun)
                before = float(own.likely(MESSAGES, tokens[:place])[tokens[place]])
                assert step and tokens[place] in step.tokens
                expected, likely = expected + before - step.log_mass, likely + before
            assert math.isclose(piece.log_drawn, expected, abs_tol=1e-3)
            drawn += piece.log_drawn
        told = model.log_probability(prefix, temperature)
        assert math.isclose(told, likely, abs_tol=1e-3)
        assert likely < drawn - 1  # masks took much


def test_prefills_at_once_are_told_each_at_its_own_temperature(
    model: VllmModel, owns: dict[float, Remembered]
) -> None:
    sampling = Sampling(1.0, seed=0, particles=1)
    prefix = model.complete(MESSAGES, FIRST, sampling, Prefix()).prefix
    assert prefix
    wanted = {
        at: math.fsum(
            float(own.likely(MESSAGES, prefix.tokens[:place])[token])
            for place, token in enumerate(prefix.tokens)
        )
        for at, own in owns.items()
    }
    asked = [1.0, 0.5] * 8
    with ThreadPoolExecutor(len(asked)) as pool:
        told = list(pool.map(lambda at: model.log_probability(prefix, at), asked))
    assert told == pytest.approx([wanted[at] for at in asked], abs=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize(
    ("constraint", "answers"),
    [
        (AT_ONCE, [(f"({one} {other})",) for one, other in PAIRS]),
        (IN_STAGES, [(f"({one} ", f"{other})") for one, other in PAIRS if one != other]),
    ],
    ids=["at once", "stages"],
)
def test_weighted_answers_of_a_server_come_from_the_models_own_distribution(
    model: VllmModel,
    owns: dict[float, Remembered],
    constraint: Constraint,
    answers: list[tuple[str, ...]],
    temperature: float,
) -> None:
    wanted = exact(owns[temperature], answers)
    masked, weighted = defaultdict[str, float](float), defaultdict[str, float](float)
    for seed in range(12):
        sampling = Sampling(temperature, seed=seed, particles=64)
        drawn = draw_weighted(model, MESSAGES, constraint, sampling, {})
        assert drawn.completion.text in wanted
        prefills = sum(particle.log_weight is not None for particle in drawn.particles)
        assert drawn.completion.prompt_tokens > (1 + prefills) * PROMPT_TOKENS
        for text, share in shares(drawn):
            weighted[text] += share / 12
        for particle in drawn.particles:
            masked[particle.text] += 1 / 12 / 64
    assert variation(masked, wanted) > 0.2
    assert variation(weighted, wanted) < 0.08

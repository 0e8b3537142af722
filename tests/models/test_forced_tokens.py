"""What a grammar forces, in process: answers are the same with and without a pass for
each token, and the counts say what was not sampled.
"""

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar, Prefix, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.session import at_once
from pddlego_local.episode.drawing import draw
from pddlego_local.models.canary import check_obedience
from pddlego_local.models.transformers import TransformersModel
from tests.decoding.on_rung import constraint_for
from tests.models import staging
from tests.models.asking import CPU, PROMPT, TOY, words
from tests.questions import QUESTION

FORCED = (
    "(define (domain kitchen)\\n  (:types room - object)\\n  (:predicates (at ?r -"
    " room))"
)
MIXED = Grammar(
    "mixed",
    "lark",
    f'start: "{FORCED}" (" (:goal (at " NAME "))") ~ 3 .. 6\nNAME: /[a-z]{{1,6}}/\n',
)
ALL_FORCED = Grammar("forced", "lark", f'start: "{FORCED}"\n')


@pytest.fixture(scope="module")
def token_by_token(random_llama: Path) -> Iterator[TransformersModel]:
    engine = dataclasses.replace(CPU, forced_tokens=False)
    model = TransformersModel(weights=str(random_llama), dtype="float32", engine=engine)
    yield model
    model.close()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    "grammar", [MIXED, ALL_FORCED, TOY, staging.RECORD], ids=lambda g: str(g.name)
)
def test_forced_runs_change_no_answer(
    model: TransformersModel,
    token_by_token: TransformersModel,
    grammar: Grammar,
    temperature: float,
) -> None:
    for seed in range(4):
        sampling = Sampling(temperature, max_tokens=200, seed=seed)
        ours = model.complete(PROMPT, grammar, sampling)
        theirs = token_by_token.complete(PROMPT, grammar, sampling)
        assert words(ours) == words(theirs)
        assert ours.finish_reason == "stop"
        assert theirs.forced_tokens == 0
        assert ours.completion_tokens == theirs.completion_tokens


@pytest.mark.parametrize("rung", tuple(RUNGS)[2:])
def test_forced_runs_change_no_answer_in_stages(
    model: TransformersModel, token_by_token: TransformersModel, rung: str
) -> None:
    constraint = constraint_for(rung, PDDL, staging.SCENE)
    for temperature in (0.0, 1.0):
        sampling = Sampling(temperature, max_tokens=600, seed=3)
        (ours,) = draw(model, QUESTION, constraint, sampling, {})
        (theirs,) = draw(token_by_token, QUESTION, constraint, sampling, {})
        *said, tokens = words(ours.completion)
        *expected, expected_tokens = words(theirs.completion)
        assert said == expected
        # Where a grammar forces the end of a stage, a model that draws it may spell it
        # with other tokens.
        assert abs(tokens - expected_tokens) <= len(ours.stages)


def test_what_is_wholly_forced_is_not_sampled(model: TransformersModel) -> None:
    completion = model.complete(PROMPT, ALL_FORCED, Sampling(max_tokens=200))
    assert completion.text == FORCED.replace("\\n", "\n")
    assert completion.completion_tokens == completion.forced_tokens > 0


@pytest.mark.parametrize("max_tokens", [1, 2, 7, 30, 60])
def test_a_limit_cuts_a_forced_run(
    model: TransformersModel, token_by_token: TransformersModel, max_tokens: int
) -> None:
    sampling = Sampling(max_tokens=max_tokens, seed=1)
    for grammar in (MIXED, ALL_FORCED):
        ours = model.complete(PROMPT, grammar, sampling)
        assert words(ours) == words(token_by_token.complete(PROMPT, grammar, sampling))
        assert ours.completion_tokens <= max_tokens


@pytest.mark.parametrize("seed", range(4))
def test_heads_are_forced_and_counted(model: TransformersModel, seed: int) -> None:
    drawn = staging.assert_heads_are_forced(model, seed)
    plain = draw(model, QUESTION, at_once(None), Sampling(max_tokens=5), {})[
        0
    ].completion
    assert drawn.completion.prompt_tokens == plain.prompt_tokens


def test_no_head_stands_between_prompt_and_thought(model: TransformersModel) -> None:
    sampling = Sampling(max_tokens=9, thinking=True)
    with pytest.raises(ValueError, match="before a thought"):
        model.complete(PROMPT, TOY, sampling, Prefix(forced_prefix="(a"))


def test_a_limit_counts_the_head(model: TransformersModel) -> None:
    drawn = draw(model, QUESTION, staging.HEADS, Sampling(max_tokens=5, seed=1), {})[0]
    assert drawn.completion.finish_reason == "length"
    assert drawn.completion.completion_tokens == drawn.completion.forced_tokens + 1
    assert [stage.name for stage in drawn.stages] == ["types"]


def test_a_tokenizer_that_cannot_spell_forced_text_is_told_of(
    random_llama: Path, tmp_path: Path
) -> None:
    """Before the first episode: here one that has no upper case."""
    folder = shutil.copytree(random_llama, tmp_path / "lower")
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    tokenizer["normalizer"] = {"type": "Lowercase"}
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    model = TransformersModel(weights=str(folder), engine=CPU)
    with pytest.raises(
        ConfigError, match=r"tokenizer of .*lower cannot spell.*decoding=syntax"
    ):
        check_obedience(model, stages=True)

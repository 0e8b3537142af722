"""Answers in stages and several samples from a real vLLM server that runs a reasoning
parser.
"""

import contextlib
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from transformers import AutoTokenizer

from pddlego_local.core.errors import (
    ConfigError,
    GrammarFault,
    ModelFault,
    PromptTooLong,
)
from pddlego_local.core.nouns import Completion, Grammar, Message, Prefix, Sampling
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.session import Constraint, at_once
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tests.models import staging
from tests.models.asking import PROMPT, TOY, TOY_LANGUAGE, Words, words
from tests.models.drafting import TWO_STAGES, Planted, drafted
from tests.models.whole_line import CHECKS, Line
from tests.questions import QUESTION
from tests.serving.served import CONTEXT_TOKENS


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_stage_goes_on_under_its_own_grammar(
    model: VllmModel, seed: int, anew: bool
) -> None:
    staging.begin_and_go_on(model, seed, anew=anew)


def test_the_upper_rungs_keep_their_promise_through_a_server(model: VllmModel) -> None:
    with ThreadPoolExecutor(16) as pool:
        asked = [
            pool.submit(staging.typed_answer, model, rung, seed, 3800)
            for rung in ("typed", "grounded")
            for seed in range(8)
        ]
    endings = [answer.result() for answer in asked]
    assert endings.count("accepted") >= 12


def test_heads_are_forced_from_the_first_stage_on(model: VllmModel) -> None:
    """Alike by the tokenizer in this process and by the server's own."""
    assert model._managed is not None
    server = Server(url=model._managed.url, api_key=model._managed.api_key)
    guest = VllmModel(weights=model.weights, thinking=Thinking(), server=server)

    def ask(seed: int) -> Completion:
        return staging.assert_heads_are_forced(model, seed).completion

    with contextlib.closing(guest), ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
        for seed, answer in enumerate(answers):
            again = staging.assert_heads_are_forced(guest, seed).completion
            assert words(again) == words(answer)
    assert len({answer.text for answer in answers}) == 8
    sampling = Sampling(max_tokens=99)
    plain = model.complete(QUESTION.messages, staging.FIRST, sampling, Prefix())
    assert {answer.prompt_tokens for answer in answers} == {plain.prompt_tokens}


def test_a_head_stands_behind_the_prompt_that_the_chat_has(model: VllmModel) -> None:
    sampling = Sampling(max_tokens=99)
    head = Prefix(forced_prefix=staging.FIRST_HEAD)
    behind_head = staging.prefix_of(
        model.complete(PROMPT, staging.FIRST, sampling, head)
    )
    chat = staging.prefix_of(model.complete(PROMPT, staging.FIRST, sampling, Prefix()))
    assert behind_head.opening == chat.opening
    assert behind_head.text.startswith(staging.FIRST_HEAD + "(a ")


@pytest.mark.parametrize("check", staging.STAGED)
def test_stages(model: VllmModel, check: str) -> None:
    staging.STAGED[check](model)


@pytest.mark.parametrize(
    "check",
    [
        "the prompt is the templates",
        "control tokens in an observation are text",
        "the canary passes",
    ],
)
def test_the_whole_line(model: VllmModel, check: str) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(model.weights)
    thinking = model.thinking
    assert thinking != "auto"
    CHECKS[check](Line(model, tokenizer, thinking, limit=60))


def test_only_the_first_stage_thinks(model: VllmModel) -> None:
    for seed in range(40):
        first = staging.begin(model, seed, thinking=True)
        prefix = staging.prefix_of(first)
        if first.finish_reason == "stop":
            assert first.thought
            thought = first.completion_tokens - len(prefix.tokens) - 1
            assert len(prefix.opening) == first.prompt_tokens + thought
            staging.go_on(model, seed, first)
            staging.go_on(model, seed, first, anew=True)
            return
        assert first.text == ""
        assert prefix.tokens == ()
    pytest.fail("no thought came to its end in 40 tries")


def test_what_the_server_would_leave_without_a_grammar_is_not_asked(
    model: VllmModel,
) -> None:
    """Its reasoning parser reads the prompt's tokens, and would take the rest for a
    thought.
    """
    prefix = staging.prefix_of(staging.begin(model, 1))
    marker = model.start()._markers[0]
    thinks_again = dataclasses.replace(prefix, tokens=(*prefix.tokens, marker))
    with pytest.raises(ModelFault, match="holds <think>"):
        model.complete(PROMPT, staging.FIRST, Sampling(max_tokens=9), thinks_again)
    no_thought = dataclasses.replace(prefix, opening=prefix.opening[:20])
    with pytest.raises(ConfigError, match=r"model\.thinking=null"):
        model.complete(PROMPT, staging.FIRST, Sampling(max_tokens=9), no_thought)


def test_the_context_bounds_the_stages_too(model: VllmModel) -> None:
    most = (Message("user", "the kitchen " * 1900),)
    some = Sampling(max_tokens=5, seed=1)
    first = model.complete(most, None, some, Prefix())
    for seed in range(10):
        sampling = Sampling(max_tokens=100_000, seed=seed)
        rest = model.complete(most, staging.ENDLESS, sampling, first.prefix)
        if rest.finish_reason == "length":
            break
    assert rest.finish_reason == "length"
    assert rest.prompt_tokens + rest.completion_tokens == CONTEXT_TOKENS
    with pytest.raises(PromptTooLong, match=r"raise model\.context_tokens"):
        model.complete(most, staging.ENDLESS, some, rest.prefix)


def test_a_bad_grammar_is_named(model: VllmModel) -> None:
    first = staging.begin(model, 1)
    bad = Grammar("bad", "lark", "start: nowhere\n")
    with pytest.raises(GrammarFault, match="nowhere"):
        model.complete(PROMPT, bad, Sampling(), first.prefix)


@pytest.mark.parametrize(("thinking", "count"), [(False, 6), (True, 8)])
def test_samples_differ_and_come_again(
    model: VllmModel, thinking: bool, count: int
) -> None:
    sampling = Sampling(max_tokens=400, seed=4, thinking=thinking)

    def many(_: object = None) -> list[Words]:
        samples = model.complete_many(PROMPT, TOY, sampling, count)
        return [words(sample) for sample in samples]

    samples = many()
    for number, sample in enumerate(samples):
        own = dataclasses.replace(sampling, seed=4 + number)
        assert sample == words(model.complete(PROMPT, TOY, own))
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(many, range(3))) == [samples] * 3
    finished = [text for text, _, reason, _, _ in samples if reason == "stop"]
    assert len(set(finished)) > 1
    assert all(TOY_LANGUAGE.fullmatch(text) for text in finished)


def texts_of(drawn: Drawn) -> list[str]:
    return [stage.text for stage in drawn.stages]


@pytest.mark.parametrize(
    "constraint", [at_once(TOY), TWO_STAGES], ids=["one grammar", "stages"]
)
def test_a_draft_comes_before_the_answer(
    model: VllmModel, constraint: Constraint
) -> None:
    alone = drafted(model, constraint, seed=3)
    draft, answer, *_ = alone.stages
    assert draft.grammar is None
    assert 0 < draft.completion_tokens <= 60
    assert answer.prompt_tokens > draft.prompt_tokens + draft.completion_tokens
    assert alone.completion.finish_reason == "stop"
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda _: drafted(model, constraint, seed=3), range(4)))
    for drawn in again:
        assert texts_of(drawn) == texts_of(alone)


@pytest.mark.parametrize("text", ["", "<think>so", "a</think>b", "<think>a</think>b"])
def test_a_draft_that_holds_markers_frees_no_answer(
    model: VllmModel, text: str
) -> None:
    """The server's reasoning parser reads the conversation, and the draft in it."""
    staged = drafted(Planted(model, text), TWO_STAGES).completion
    assert staged.finish_reason == "stop"
    whole = drafted(Planted(model, text), at_once(TOY)).completion
    assert TOY_LANGUAGE.fullmatch(whole.text)


def test_drafts_that_write_markers_of_their_own_are_taken_whole(
    model: VllmModel,
) -> None:
    def ask(seed: int) -> Drawn:
        return drafted(model, at_once(TOY), seed=seed, limit=300)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(30)))
    drafts = [drawn.stages[0] for drawn in answers]
    assert any("think>" in draft.text for draft in drafts)
    assert not any(draft.thought for draft in drafts)
    assert all(TOY_LANGUAGE.fullmatch(drawn.completion.text) for drawn in answers)

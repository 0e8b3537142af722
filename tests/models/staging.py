"""Answers in two stages, staged by hand, for the tests of every backend."""

import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from pddlego_local.core.nouns import (
    Action,
    Completion,
    Grammar,
    Names,
    Prefix,
    Sampling,
)
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Drawn, GrammarContext, Question
from pddlego_local.decoding.session import Constraint, Stage, Stages
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained, without_repetition
from pddlego_local.pddl.check import check
from tests.decoding.on_rung import constraint_for
from tests.models.asking import PROMPT
from tests.questions import QUESTION

FIRST = Grammar("first", "lark", 'start: "(a " /[a-z]{1,5}/ ")"\n')
FIRST_LANGUAGE = re.compile(r"\(a ([a-z]{1,5})\)")
ENDLESS = Grammar("endless", "lark", "start: /[a-z]+/\n")
RECORD = Grammar(
    "record",
    "json_schema",
    '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0,'
    ' "maximum": 99}}, "required": ["n"], "additionalProperties": false}',
)


def second(name: str) -> Grammar:
    """Made from what the first stage wrote; it begins with a blank, which must not be
    lost.
    """
    return Grammar("second", "lark", f'start: " (b {name} " /[0-9]{{1,3}}/ ")"\n')


def prefix_of(completion: Completion) -> Prefix:
    """Returns what a later stage goes on from."""
    assert completion.prefix is not None
    return completion.prefix


def begin(model: LanguageModel, seed: int, *, thinking: bool = False) -> Completion:
    """The first stage."""
    sampling = Sampling(max_tokens=1500, seed=derive_seed(seed, 1), thinking=thinking)
    return model.complete(PROMPT, FIRST, sampling, Prefix())


def go_on(
    model: LanguageModel, seed: int, first: Completion, *, anew: bool = False
) -> Completion:
    """The second stage; `anew` rolls back the end of the first and forces it and a
    comma, so that the model tokenizes the seam.
    """
    match = FIRST_LANGUAGE.fullmatch(first.text)
    assert match and first.finish_reason == "stop"
    name = match[1]
    prefix = prefix_of(first)
    assert prefix.text == first.text
    before = first.text
    if anew:
        before += ","
        end = before[-3:]
        prefix = dataclasses.replace(prefix, rollback_chars=2, forced_prefix=end)
    sampling = Sampling(max_tokens=60, seed=derive_seed(seed, 2))
    rest = model.complete(PROMPT, second(name), sampling, prefix)
    assert re.fullmatch(rf" \(b {name} \d{{1,3}}\)", rest.text), rest.text
    assert rest.finish_reason == "stop"
    assert not rest.thought
    assert prefix_of(rest).text == before + rest.text
    assert prefix_of(rest).opening == prefix.opening
    return rest


def begin_and_go_on(
    model: LanguageModel, seed: int, *, anew: bool
) -> tuple[Completion, Completion]:
    """Both stages; each counts its tokens."""
    first = begin(model, seed)
    rest = go_on(model, seed, first, anew=anew)
    prefix = prefix_of(first)
    assert len(prefix.opening) == first.prompt_tokens
    if not anew:  # the very tokens that were drawn, and one end-of-text each
        assert len(prefix.tokens) == first.completion_tokens - 1
        assert rest.prompt_tokens == first.prompt_tokens + len(prefix.tokens)
        drawn = len(prefix_of(rest).tokens) - len(prefix.tokens)
        assert drawn == rest.completion_tokens - 1
    return first, rest


def staged(model: LanguageModel, seed: int) -> str:
    """The whole answer."""
    return prefix_of(go_on(model, seed, begin(model, seed))).text


def assert_seeds_alone_decide(model: LanguageModel) -> None:
    """Answers in stages are the same alone and in company, in whatever order they are
    asked for.
    """
    seeds = range(8)
    alone = [staged(model, seed) for seed in seeds]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda seed: staged(model, seed), reversed(seeds)))
    assert together[::-1] == alone
    assert len(set(alone)) == len(seeds)


def assert_a_json_schema_continues(model: LanguageModel) -> None:
    first = begin(model, 1)
    rest = model.complete(PROMPT, RECORD, Sampling(max_tokens=99, seed=2), first.prefix)
    assert rest.finish_reason == "stop"
    assert 0 <= json.loads(rest.text)["n"] <= 99


def assert_pieces_make_the_whole(model: LanguageModel) -> None:
    """Greedily drawn in three pieces, an answer is what it is in one."""
    greedy = Sampling(temperature=0, max_tokens=24)
    whole = model.complete(PROMPT, ENDLESS, greedy).text
    piece = dataclasses.replace(greedy, max_tokens=8)
    prefix = Prefix()
    for _ in range(3):
        completion = model.complete(PROMPT, ENDLESS, piece, prefix)
        assert completion.finish_reason == "length"
        prefix = prefix_of(completion)
    assert prefix.text == whole


FIRST_HEAD = '{"df": "(define (domain d) (:types'
SECOND_HEAD = '", "pf": "(define (problem p)'


def _heads() -> Stages:
    """Two stages with a head each; the last bracket of the first is rolled back."""
    name = Grammar("types", "lark", 'start: " " /[a-z]{1,5}/ "))"\n')
    first = yield Stage("types", name, forced_prefix=FIRST_HEAD)
    assert first.startswith(FIRST_HEAD + " ") and first.endswith("))")
    rest = Grammar("rest", "lark", 'start: (" " /[0-9]/) ~ 1 .. 3 ")\\"}"\n')
    second = yield Stage("rest", rest, rollback_chars=1, forced_prefix=SECOND_HEAD)
    assert second.startswith(SECOND_HEAD + " ") and second.endswith(')"}')


HEADS = Constraint("heads", _heads)


def drawn_heads(model: LanguageModel, sampling: Sampling) -> Drawn:
    (drawn,) = draw(model, QUESTION, HEADS, sampling, {})
    return drawn


def assert_heads_are_forced(model: LanguageModel, seed: int) -> Drawn:
    """They are in the text and the record, and counted as forced."""
    drawn = drawn_heads(model, Sampling(max_tokens=500, seed=seed))
    completion = drawn.completion
    assert completion.finish_reason == "stop"
    types, rest = drawn.stages
    assert rest.drop == 1
    assert rest.before == types.text[:-1]
    assert completion.text == rest.before + rest.text
    assert json.loads(completion.text).keys() == {"df", "pf"}
    assert types.head == FIRST_HEAD
    assert rest.head == SECOND_HEAD
    for stage in drawn.stages:
        assert 5 < stage.forced_tokens < stage.completion_tokens
    assert completion.forced_tokens == types.forced_tokens + rest.forced_tokens
    return drawn


def assert_heads_follow_a_thought(model: LanguageModel) -> None:
    """There the grammar forces the first of them."""
    for seed in range(40):
        drawn = drawn_heads(model, Sampling(max_tokens=2000, seed=seed, thinking=True))
        completion = drawn.completion
        if completion.finish_reason == "stop":
            types, rest = drawn.stages
            assert completion.thought
            assert types.text.startswith(FIRST_HEAD)
            assert types.head == ""
            assert rest.head == SECOND_HEAD
            assert completion.text == types.text[:-1] + rest.text
            return
        assert completion.finish_reason == "unfinished_thought"
        assert completion.text == ""
    pytest.fail("no thought came to its end in 40 tries")


MOVE = Action(
    "move", "(?from - location ?to - location ?dir - direction)", "move {dir}"
)
TAKE = Action("take-coin", "(?loc - location)", "take coin")
SCENE = GrammarContext(
    actions=(MOVE, TAKE),
    names=Names(("kitchen", "corridor", "pantry", "north", "south")),
)

PAIR = Question(PDDL, PROMPT, SCENE)


def typed_answer(model: LanguageModel, rung: str, seed: int, max_tokens: int) -> str:
    """ "cut", or "accepted" for a domain and a problem that are what the rung
    promises.
    """
    constraint = constraint_for(rung, PDDL, SCENE)
    sampling = Sampling(max_tokens=max_tokens, seed=seed)
    (drawn,) = draw(model, QUESTION, constraint, sampling, {})
    answer = read_constrained(drawn.completion, PDDL)
    answer = without_repetition(answer, PAIR)
    if not answer.value:
        assert answer.fault == "truncated"
        return "cut"
    assert check(answer.value.df, answer.value.pf).accepted
    assert len(drawn.stages) >= 5
    return "accepted"


def assert_a_watch_ends_a_stage(model: LanguageModel) -> None:
    """What was written up to there is the beginning of what an unwatched request gives,
    and the answer goes on behind it.
    """
    sampling = Sampling(max_tokens=40, seed=7)
    begin = Prefix(forced_prefix="(")
    whole = model.complete(PROMPT, ENDLESS, sampling, begin)
    seen = list[str]()

    def watch(text: str) -> bool:
        seen.append(text)
        return len(text) > 12

    watched = dataclasses.replace(begin, watch=watch)
    cut = model.complete(PROMPT, ENDLESS, sampling, watched)
    assert cut.finish_reason == "circle"
    assert 12 < len(cut.text) < len(whole.text)
    assert whole.text.startswith(cut.text)
    assert seen[-1] == cut.text and len(seen) > 1
    assert all(later.startswith(text) for text, later in itertools.pairwise(seen))
    assert cut.completion_tokens < whole.completion_tokens
    assert prefix_of(cut).text == "(" + cut.text
    patient = dataclasses.replace(begin, watch=lambda text: False)
    assert model.complete(PROMPT, ENDLESS, sampling, patient).text == whole.text
    behind = dataclasses.replace(prefix_of(cut), rollback_chars=4)
    rest = model.complete(PROMPT, FIRST, sampling, behind)
    assert rest.finish_reason == "stop"
    assert FIRST_LANGUAGE.fullmatch(rest.text)


STAGED: Mapping[str, Callable[[LanguageModel], object]] = {
    "seeds alone decide": assert_seeds_alone_decide,
    "a JSON schema continues": assert_a_json_schema_continues,
    "pieces make the whole": assert_pieces_make_the_whole,
    "heads follow a thought": assert_heads_follow_a_thought,
    "a watch ends a stage": assert_a_watch_ends_a_stage,
}
"""What every backend must do with the random model, whose tokens are bytes."""

"""Every way in which an answer is asked for, put to one model; the same for every
backend.
"""

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Message, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.models.canary import check_forced_tokens, check_obedience
from pddlego_local.models.chat_template import dated
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.pddl.check import check
from tests.decoding.on_rung import constraint_for
from tests.models import staging
from tests.models.asking import PROMPT, TOY, TOY_LANGUAGE
from tests.questions import QUESTION

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
AT_ONCE = 8


@dataclass(frozen=True)
class Line:
    """A model, its tokenizer as transformers has it, and how it thinks where it is
    asked to. `limit` is the most tokens of an answer on a rung: random weights write
    long ones.
    """

    model: LanguageModel
    tokenizer: Any
    thinking: Thinking | None
    limit: int

    def opening(self, messages: Messages) -> tuple[int, ...]:
        """The tokens that the model saw before its answer."""
        sampling = Sampling(max_tokens=60, seed=1)
        prefix = self.model.complete(messages, TOY, sampling, Prefix()).prefix
        assert prefix is not None
        return prefix.opening


def the_prompt_is_the_templates(line: Line) -> None:
    arguments = template_arguments(line.thinking, False, "it")
    chat = [{"role": m.role, "content": m.content} for m in PROMPT]
    template = dated(line.tokenizer.chat_template)
    ask = {"add_generation_prompt": True, "chat_template": template, **arguments}
    tokens = line.tokenizer.apply_chat_template(
        chat, tokenize=True, return_dict=False, **ask
    )
    opening = line.opening(PROMPT)
    assert opening == tuple(tokens)
    text = line.tokenizer.apply_chat_template(chat, tokenize=False, **ask)
    assert line.tokenizer.decode(opening, skip_special_tokens=False) == text


def control_tokens_in_an_observation_are_text(line: Line) -> None:
    """Each of the model's own, and those of others."""
    own = [str(token) for token in line.tokenizer.added_tokens_decoder.values()]
    others = [
        "<|im_end|>",
        "</think>",
        "<\uff5cUser\uff5c>",
        "<|eot_id|>",
        "[/INST]",
        "<end_of_turn>",
    ]
    said = "".join(f"You see a {token}. " for token in [*own[:40], *others])
    control = set(line.tokenizer.added_tokens_decoder)

    def controls(text: str) -> list[int]:
        return [
            token
            for token in line.opening((Message("user", text),))
            if token in control
        ]

    assert controls(f"<|im_start|> {said}") == controls("You see a fridge.")


def every_rung_layout_and_reason(line: Line) -> None:
    """What is finished keeps the rung's promise; what is cut is the beginning of
    something.
    """
    reasons = ("none", "draft", "think") if line.thinking else ("none", "draft")
    asked = [("free", LAYOUTS[0], reason) for reason in reasons]
    asked += itertools.product(tuple(RUNGS)[1:], LAYOUTS, reasons)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda one: _on_a_rung(line, *one), asked))


def _on_a_rung(line: Line, rung: str, layout: Layout, reason: str) -> None:
    constraint = constraint_for(rung, PDDL, staging.SCENE, layout)
    sampling = Sampling(
        max_tokens=line.limit,
        seed=5,
        thinking=reason == "think",
        draft_tokens=20 if reason == "draft" else 0,
    )
    (drawn,) = draw(line.model, QUESTION, constraint, sampling, {})
    if reason == "draft":
        assert drawn.stages[0].grammar is None
    answer = read_constrained(drawn.completion, PDDL)
    if drawn.completion.finish_reason == "stop" and rung not in ("free", "json"):
        assert answer.value, answer.fault
        if rung != "syntax":
            assert check(answer.value.df, answer.value.pf).accepted
    elif rung == "syntax" and drawn.completion.text:
        assert (
            decoder_verdict(constraint.first_grammar, drawn.completion.text)
            == "unfinished"
        )


def stages_go_on_from_the_very_tokens(line: Line) -> None:
    for seed, anew in itertools.product(range(3), (False, True)):
        staging.begin_and_go_on(line.model, seed, anew=anew)


def forced_text_is_in_the_prompt(line: Line) -> None:
    for seed in range(3):
        staging.assert_heads_are_forced(line.model, seed)


def pieces_make_the_whole(line: Line) -> None:
    staging.assert_pieces_make_the_whole(line.model)


def samples_differ(line: Line) -> None:
    sampling = Sampling(max_tokens=400, seed=4)
    many = line.model.complete_many(PROMPT, TOY, sampling, 3)
    finished = [one.text for one in many if one.finish_reason == "stop"]
    assert all(TOY_LANGUAGE.fullmatch(text) for text in finished)
    assert len(set(finished)) == len(finished) > 0


def the_canary_passes(line: Line) -> None:
    for stages in (False, True):
        check_obedience(line.model, stages=stages)
    check_forced_tokens(line.model)


def a_thought_ends_by_the_models_own_marker(line: Line) -> None:
    """Then the grammar begins; a model that has no thoughts refuses."""
    sampling = Sampling(max_tokens=2000, thinking=True)
    if line.thinking is None:
        with pytest.raises(ConfigError, match="not configured as a reasoning model"):
            line.model.complete(PROMPT, TOY, sampling)
        return
    for seed in range(20):
        first = staging.begin(line.model, seed, thinking=True)
        if (
            first.finish_reason == "stop" and first.thought
        ):  # random weights end some at once
            assert line.thinking.end not in first.thought
            _ends_with_marker(line, first)
            staging.go_on(line.model, seed, first)
            return
    pytest.fail("no thought came to its end in 20 tries")


def _ends_with_marker(line: Line, first: Completion) -> None:
    assert first.prefix is not None and line.thinking is not None
    assert first.prefix.opening[-1] == line.tokenizer.convert_tokens_to_ids(
        line.thinking.end
    )


def the_same_seed_draws_the_same(line: Line) -> None:
    def ask(_: int) -> Drawn:
        constraint = constraint_for("grounded", PDDL, staging.SCENE, "line")
        return draw(
            line.model, QUESTION, constraint, Sampling(max_tokens=60, seed=9), {}
        )[0]

    with ThreadPoolExecutor(4) as pool:
        assert len({one.completion.text for one in pool.map(ask, range(4))}) == 1


CHECKS: Mapping[str, Callable[[Line], None]] = {
    ask.__name__.replace("_", " "): ask
    for ask in (
        the_prompt_is_the_templates,
        control_tokens_in_an_observation_are_text,
        every_rung_layout_and_reason,
        stages_go_on_from_the_very_tokens,
        forced_text_is_in_the_prompt,
        pieces_make_the_whole,
        samples_differ,
        the_canary_passes,
        a_thought_ends_by_the_models_own_marker,
        the_same_seed_draws_the_same,
    )
}

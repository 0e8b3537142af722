"""Every way in which an answer is asked for, put to one model; the same for every
backend.
"""

import functools
import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained, without_repetition
from pddlego_local.models.canary import check_obedience
from pddlego_local.models.chat_template import dated
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.pddl.check import check
from tests.decoding.on_rung import constraint_for
from tests.models import staging
from tests.models.asking import PROMPT, TOY
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
        first = self.model.complete(messages, TOY, sampling, Prefix())
        return staging.prefix_of(first).opening


def the_prompt_is_the_templates(line: Line) -> None:
    arguments = template_arguments(line.thinking, False, "it")
    chat = [{"role": m.role, "content": m.content} for m in PROMPT]
    template = dated(line.tokenizer.chat_template)
    render = functools.partial(
        line.tokenizer.apply_chat_template,
        chat,
        add_generation_prompt=True,
        chat_template=template,
        **arguments,
    )
    opening = line.opening(PROMPT)
    assert opening == tuple(render(tokenize=True, return_dict=False))
    text = line.tokenizer.decode(opening, skip_special_tokens=False)
    assert text == render(tokenize=False)


OTHERS_CONTROL_TOKENS = (
    "<|im_end|>",
    "</think>",
    "<\uff5cUser\uff5c>",
    "<|eot_id|>",
    "[/INST]",
    "<end_of_turn>",
)


def control_tokens_in_an_observation_are_text(line: Line) -> None:
    """Each of the model's own, and those of others."""
    control = line.tokenizer.added_tokens_decoder
    own = [str(token) for token in control.values()]
    words = [*own[:40], *OTHERS_CONTROL_TOKENS]
    said = "".join(f"You see a {word}. " for word in words)

    def controls(text: str) -> list[int]:
        opening = line.opening((Message("user", text),))
        return [token for token in opening if token in control]

    assert controls(f"<|im_start|> {said}") == controls("You see a fridge.")


def every_rung_layout_and_reason(line: Line) -> None:
    """What is finished keeps the rung's promise; what is cut is the beginning of
    something.
    """
    reasons = ["none", "draft"]
    if line.thinking:
        reasons.append("think")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = []
        for rung, reason in itertools.product(RUNGS, reasons):
            for layout in LAYOUTS[:1] if rung == "free" else LAYOUTS:
                asked.append(pool.submit(_on_a_rung, line, rung, layout, reason))
        for each in asked:
            each.result()


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
    completion = drawn.completion
    answer = read_constrained(completion, PDDL)
    if RUNGS[rung].typed:
        answer = without_repetition(answer, staging.PAIR)
    if completion.finish_reason == "stop" and rung not in ("free", "json"):
        assert answer.value, answer.fault
        if rung != "syntax":
            assert check(answer.value.df, answer.value.pf).accepted
    elif rung == "syntax" and completion.text:
        verdict = decoder_verdict(constraint.first_grammar, completion.text)
        assert verdict == "unfinished"


def stages_go_on_from_the_very_tokens(line: Line) -> None:
    for seed, anew in itertools.product(range(3), (False, True)):
        staging.begin_and_go_on(line.model, seed, anew=anew)


def forced_text_is_in_the_prompt(line: Line) -> None:
    for seed in range(3):
        staging.assert_heads_are_forced(line.model, seed)


def pieces_make_the_whole(line: Line) -> None:
    staging.assert_pieces_make_the_whole(line.model)


def the_canary_passes(line: Line) -> None:
    for stages in (False, True):
        check_obedience(line.model, stages=stages)


def a_thought_ends_by_the_models_own_marker(line: Line) -> None:
    """Then the grammar begins; a model that has no thoughts refuses."""
    sampling = Sampling(max_tokens=2000, thinking=True)
    if line.thinking is None:
        with pytest.raises(ConfigError, match="not configured as a reasoning model"):
            line.model.complete(PROMPT, TOY, sampling)
        return
    for seed in range(20):
        first = staging.begin(line.model, seed, thinking=True)
        # Random weights end some thoughts at once.
        if first.finish_reason == "stop" and first.thought:
            assert line.thinking.end not in first.thought
            end = line.tokenizer.convert_tokens_to_ids(line.thinking.end)
            assert staging.prefix_of(first).opening[-1] == end
            staging.go_on(line.model, seed, first)
            return
    pytest.fail("no thought came to its end in 20 tries")


CHECKS: Mapping[str, Callable[[Line], None]] = {
    ask.__name__.replace("_", " "): ask
    for ask in (
        the_prompt_is_the_templates,
        control_tokens_in_an_observation_are_text,
        every_rung_layout_and_reason,
        stages_go_on_from_the_very_tokens,
        forced_text_is_in_the_prompt,
        pieces_make_the_whole,
        the_canary_passes,
        a_thought_ends_by_the_models_own_marker,
    )
}

"""Drafts that are planted, and what every backend must make of them."""

import json
from typing import Any

from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Drawn, GrammarContext, Question
from pddlego_local.decoding.session import Constraint, Stage, Stages
from pddlego_local.episode.drawing import draw
from tests.models.asking import PROMPT
from tests.models.staging import FIRST, FIRST_LANGUAGE, second


class Planted:
    """A model with its drafts put in its mouth, as they stand."""

    def __init__(self, model: LanguageModel, text: str) -> None:
        self._model, self._text = model, text

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        if grammar is None:
            return self.draft(messages, sampling)
        return self._model.complete(messages, grammar, sampling, prefix)

    def draft(self, messages: Messages, sampling: Sampling) -> Completion:
        return Completion(self._text, "stop", 1, 1, 0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


class Dictated(Planted):
    """The same, but the model draws the tokens of the draft, so that its limit cuts
    it.
    """

    def draft(self, messages: Messages, sampling: Sampling) -> Completion:
        dictated = Grammar("dictated", "lark", f"start: {json.dumps(self._text)}\n")
        return self._model.complete(messages, dictated, sampling)


def drafted(
    model: Any,
    constraint: Constraint,
    *,
    seed: int = 3,
    limit: int = 60,
    prompt: Messages = PROMPT,
) -> Drawn:
    sampling = Sampling(max_tokens=1500, seed=seed, draft_tokens=limit)
    return draw(
        model, Question(PDDL, prompt, GrammarContext()), constraint, sampling, {}
    )[0]


def two_stages() -> Stages:
    first = yield Stage("first", FIRST)
    match = FIRST_LANGUAGE.fullmatch(first)
    assert match
    yield Stage("second", second(match[1]))


TWO_STAGES = Constraint("two stages", two_stages)

"""Answers to a question: how many, from which kind of model, and in which way each is drawn."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.episode.after_draft import draw_after_draft
from pddlego_local.episode.one_answer import StageTokens, draw_one
from pddlego_local.episode.rejection import Rejection


def draw(
    model: Model,
    question: Question[Fields],
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
    count: int = 1,
    rejection: Rejection | None = None,
) -> list[Drawn]:
    """`count` answers, each after a draft of its own where `sampling` asks for one, or by a
    `rejection` of its own. A model that decodes nothing gives whole answers, whatever the
    constraint, drafts nothing and rejects nothing.

    Raises as `draw_one` and `draw_after_draft`.
    """
    if not model.decodes:
        return [model.answer(question, sampling, number, count) for number in range(count)]
    if not (constraint.in_stages or sampling.draft_tokens or rejection):
        return _draw_in_one_request(model, question, constraint, sampling, count)

    def draw_sample(number: int) -> Drawn:
        """In requests of its own, by a seed of its own; the backend can batch them."""
        seed = derive_seed(sampling.seed, number) if number else sampling.seed
        own = dataclasses.replace(sampling, seed=seed)
        if rejection:
            return rejection.draw(model, question.messages, own)
        if own.draft_tokens:
            return draw_after_draft(model, question, constraint, own, stage_tokens)
        return draw_one(model, question.messages, constraint, own, stage_tokens)

    if count == 1:
        return [draw_sample(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(draw_sample, range(count)))


def _draw_in_one_request(
    model: LanguageModel,
    question: Question[Fields],
    constraint: Constraint,
    sampling: Sampling,
    count: int,
) -> list[Drawn]:
    """Answers of one stage each; their records list no stages."""
    if count == 1:
        drawn = draw_one(model, question.messages, constraint, sampling, {})
        return [Drawn(drawn.completion)]
    grammar = constraint.first_grammar
    completions = model.complete_many(question.messages, grammar, sampling, count)
    for completion in completions:
        ended = completion.finish_reason == "stop"
        constraint.begin().accept(completion.text, ended=ended)
    return [Drawn(completion) for completion in completions]

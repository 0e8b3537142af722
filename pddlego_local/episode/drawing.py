"""Draws the answers to a question, in the way that the model and the decoding settings
require.

After a draft, the model first answers freely, then under the grammar:

    the prompt → a free draft → `Form.after_draft`: "Now give your final answer …" → the
    answer

The prompt is the same with and without a draft. The second request also begins with it,
so the server's prefix cache holds it by then.
"""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import AnyQuestion, Drawn, Model
from pddlego_local.decoding.session import Constraint
from pddlego_local.episode.one_answer import StageTokens, draw_one, recorded
from pddlego_local.episode.rejection import Rejection


def draw(
    model: Model,
    question: AnyQuestion,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
    count: int = 1,
    rejection: Rejection | None = None,
) -> list[Drawn]:
    """Returns `count` answers to `question`.

    Each answer follows a separate draft if `sampling` asks for drafts, or a separate
    rejection sampling if `rejection` is given. A model that does not decode gives whole
    answers whatever the constraint, without drafts or rejection. Raises the errors of
    `draw_one`, and PromptTooLong if a draft leaves no room for the answer.
    """
    if not model.decodes:
        return [model.answer(question, sampling) for _ in range(count)]
    if not (constraint.in_stages or sampling.draft_tokens or rejection):
        return _draw_in_one_request(model, question, constraint, sampling, count)

    def draw_sample(number: int) -> Drawn:
        """Uses separate requests and a separate seed; the backend can batch the
        requests.
        """
        seed = derive_seed(sampling.seed, number) if number else sampling.seed
        own = dataclasses.replace(sampling, seed=seed)
        if rejection:
            return rejection.draw(model, question.messages, own)
        if own.draft_tokens:
            return _draw_after_draft(model, question, constraint, own, stage_tokens)
        return draw_one(model, question.messages, constraint, own, stage_tokens)

    if count == 1:
        return [draw_sample(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(draw_sample, range(count)))


def _draw_in_one_request(
    model: LanguageModel,
    question: AnyQuestion,
    constraint: Constraint,
    sampling: Sampling,
    n: int,
) -> list[Drawn]:
    """Draws answers of one stage each; their records list no stages."""
    if n == 1:
        return [
            Drawn(
                draw_one(model, question.messages, constraint, sampling, {}).completion
            )
        ]
    completions = model.complete_many(
        question.messages, constraint.first_grammar, sampling, n
    )
    for completion in completions:
        constraint.begin().accept(
            completion.text, ended=completion.finish_reason == "stop"
        )
    return [Drawn(completion) for completion in completions]


def _draw_after_draft(
    model: LanguageModel,
    question: AnyQuestion,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """Draws a draft of at most `sampling.draft_tokens` tokens, then the answer.

    A draft that the limit cut is used as it is. The completion's tokens and latency
    include both requests; its prompt tokens are those of the first one. Raises the
    errors of `draw_one`, and PromptTooLong if the draft leaves no room for an answer.
    """
    own = dataclasses.replace(sampling, draft_tokens=0)
    free = dataclasses.replace(
        own, seed=derive_seed(sampling.seed, "draft"), max_tokens=sampling.draft_tokens
    )
    draft, asked = (
        model.complete(question.messages, None, free),
        question.form.after_draft,
    )
    messages = (
        *question.messages,
        Message("assistant", draft.text),
        Message("user", asked),
    )
    try:
        answer = draw_one(model, messages, constraint, own, stage_tokens)
    except PromptTooLong as error:
        raise PromptTooLong(
            f"After the prompt and a draft of {draft.completion_tokens} tokens there is"
            " no room for the answer; lower decoding.draft_tokens, raise"
            " model.context_tokens or shorten the prompt."
        ) from error
    whole = dataclasses.replace(
        answer.completion,
        prompt_tokens=draft.prompt_tokens,
        completion_tokens=draft.completion_tokens + answer.completion.completion_tokens,
        latency_s=draft.latency_s + answer.completion.latency_s,
    )
    return Drawn(
        whole, (recorded("draft", None, free, draft, asked=asked), *answer.stages)
    )

"""Draws an answer after a draft: the model first answers freely, then under the grammar.

    the prompt → a free draft → `Form.after_draft`: "Now give your final answer …" → the answer

The prompt is the same with and without a draft. The second request also begins with it, so the
server's prefix cache holds it by then.
"""

import dataclasses

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.decoding.session import Constraint
from pddlego_local.episode.one_answer import StageTokens, draw_one, recorded


def draw_after_draft(
    model: LanguageModel,
    question: AnyQuestion,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """Draws a draft of at most `sampling.draft_tokens` tokens, then the answer.

    A draft that the limit cut is used as it is. The completion's tokens and latency include both
    requests; its prompt tokens are those of the first one. Raises the errors of `draw_one`, and
    PromptTooLong if the draft leaves no room for an answer.
    """
    own = dataclasses.replace(sampling, draft_tokens=0)
    free = dataclasses.replace(
        own, seed=derive_seed(sampling.seed, "draft"), max_tokens=sampling.draft_tokens
    )
    draft, asked = model.complete(question.messages, None, free), question.form.after_draft
    messages = (*question.messages, Message("assistant", draft.text), Message("user", asked))
    try:
        answer = draw_one(model, messages, constraint, own, stage_tokens)
    except PromptTooLong as error:
        raise PromptTooLong(
            f"After the prompt and a draft of {draft.completion_tokens} tokens there is no room "
            "for the answer; lower decoding.draft_tokens, raise model.context_tokens or shorten "
            "the prompt."
        ) from error
    whole = dataclasses.replace(
        answer.completion,
        prompt_tokens=draft.prompt_tokens,
        completion_tokens=draft.completion_tokens + answer.completion.completion_tokens,
        latency_s=draft.latency_s + answer.completion.latency_s,
    )
    return Drawn(whole, (recorded("draft", None, free, draft, asked=asked), *answer.stages))

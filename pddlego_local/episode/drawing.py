"""Drawing an answer from a model under a constraint: at once, or stage by stage as one answer."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Message, Messages, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.stages import Constraint, StagedGrammar
from pddlego_local.episode.growing import Growing, StageTokens, recorded


def draw(
    model: Model,
    question: Question[Keys],
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
    count: int = 1,
) -> list[Drawn]:
    """`count` answers, each after a draft of its own where `sampling` asks for one. A model that
    decodes nothing gives whole ones, whatever the constraint, and drafts nothing.

    Raises as the model does, and GrammarIgnored or ModelFault where a stage is not what its grammar
    permits.
    """
    if not model.decodes:
        return [model.answer(question, sampling, number, count) for number in range(count)]
    if isinstance(constraint, StagedGrammar) or sampling.draft_tokens:

        def draw_sample(number: int) -> Drawn:
            """In requests of its own, by a seed of its own; the backend can batch them."""
            seed = derive_seed(sampling.seed, number) if number else sampling.seed
            own = dataclasses.replace(sampling, seed=seed)
            if own.draft_tokens:
                return _drafted(model, question, constraint, own, stage_tokens)
            return written(model, question.messages, constraint, own, stage_tokens)

        if count == 1:
            return [draw_sample(0)]
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(draw_sample, range(count)))
    if count == 1:
        return [Drawn(model.complete(question.messages, constraint, sampling))]
    many = model.complete_many(question.messages, constraint, sampling, count)
    return [Drawn(completion) for completion in many]


def _drafted(
    model: LanguageModel,
    question: Question[Keys],
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """An answer after a draft.

        the prompt → a free draft → `Form.after_draft`: "Now give your final answer …" → the answer

    The prompt is the same with and without a draft, so the server's prefix cache has it by then. A
    draft that its limit cut is used as it is. Tokens and latency of the whole count both requests;
    its prompt is that of the first one, as of every answer in stages.
    """
    own = dataclasses.replace(sampling, draft_tokens=0)
    free = dataclasses.replace(
        own, seed=derive_seed(sampling.seed, "draft"), max_tokens=sampling.draft_tokens
    )
    draft, asked = model.complete(question.messages, None, free), question.form.after_draft
    messages = (*question.messages, Message("assistant", draft.text), Message("user", asked))
    try:
        answer = written(model, messages, constraint, own, stage_tokens)
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


def written(
    model: LanguageModel,
    messages: Messages,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """At once, or stage by stage."""
    if not isinstance(constraint, StagedGrammar):
        piece = model.complete(messages, constraint, sampling)
        return Drawn(piece, (recorded("answer", constraint, sampling, piece),))
    answer = Growing(model, messages, constraint, sampling, stage_tokens)
    while not answer.finish_reason:
        answer.draw_stage()
    return answer.whole()

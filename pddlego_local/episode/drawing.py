"""Draws the answers to a question, as the model and the decoding settings require.

- In one request, or stage by stage: each stage continues the ones before it.
- After a draft: the prompt → a free draft → `Form.after_draft` ("Now give your final
  answer …") → the answer. The second request begins with the prompt too, which the
  server's prefix cache holds by then.
- With rejection: the prompt → a free answer → is it in the language of a rung? → if
  not, another one. An accepted answer follows the model's own distribution, conditioned
  on the language; a mask draws from another one (docs/understand/control_arms.md).
"""

import dataclasses
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.nouns import (
    Completion,
    Grammar,
    Message,
    Messages,
    Prefix,
    Sampling,
)
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import AnyQuestion, Drawn, Model
from pddlego_local.decoding.session import AnswerSession, Constraint

StageTokens = Mapping[str, int]
"""The maximum number of tokens by stage name. Other stages may use all tokens that are
left.
"""


@dataclasses.dataclass(frozen=True)
class Rejection:
    """At most `tries` free answers are drawn. `why_not` returns the reason to reject
    one, or "" to accept it.
    """

    tries: int
    why_not: Callable[[Completion], str]


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
        own = sampling if number == 0 else with_seed(sampling, number)
        if rejection:
            return draw_until_accepted(model, question.messages, own, rejection)
        if own.draft_tokens:
            return _draw_after_draft(model, question, constraint, own, stage_tokens)
        return draw_one(model, question.messages, constraint, own, stage_tokens)

    if count == 1:
        return [draw_sample(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(draw_sample, range(count)))


def with_seed(sampling: Sampling, *parts: str | int) -> Sampling:
    """Returns the settings of a further request, which has a seed of its own."""
    return dataclasses.replace(sampling, seed=derive_seed(sampling.seed, *parts))


def _draw_in_one_request(
    model: LanguageModel,
    question: AnyQuestion,
    constraint: Constraint,
    sampling: Sampling,
    count: int,
) -> list[Drawn]:
    """Draws answers of one stage each; their records list no stages."""
    if count == 1:
        drawn = draw_one(model, question.messages, constraint, sampling, {})
        return [Drawn(drawn.completion)]
    grammar = constraint.first_grammar
    completions = model.complete_many(question.messages, grammar, sampling, count)
    for completion in completions:
        is_finished = completion.finish_reason == "stop"
        constraint.begin().accept(completion.text, ended=is_finished)
    return [Drawn(completion) for completion in completions]


def draw_one(
    model: LanguageModel,
    messages: Messages,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """Draws stages until the answer is complete or the token limit is reached.

    If a stage repeats itself, the repetition is removed. Its tokens are recorded as
    drawn, but do not count against the limit. Raises the errors of the model and of
    `AnswerSession.accept`. A ConfigError in a later stage becomes a ModelFault, since
    the model answered the first stage.
    """
    session = constraint.begin(thinks=sampling.thinking)
    stages: list[DrawnStage] = []
    left = sampling.max_tokens
    while True:
        stage = session.stage
        prefix = session.prefix
        own = sampling
        if prefix is not None:
            limit = min(stage_tokens.get(stage.name, left), left)
            if sampling.thinking and not stages:
                limit = left  # a stage's limit is not one of the thought before it
            own = with_seed(sampling, "stage", len(stages))
            own = dataclasses.replace(own, max_tokens=limit)
        try:
            piece = model.complete(messages, stage.grammar, own, prefix)
        except PromptTooLong:
            raise
        except ConfigError as error:
            if not stages:
                raise
            drawn_before = "(Earlier stages of this answer were drawn.)"
            raise ModelFault(f"{error} {drawn_before}") from error
        is_finished = piece.finish_reason == "stop"
        lost = session.accept(piece.text, piece.prefix, ended=is_finished)
        stages.append(_recorded(stage.name, stage.grammar, own, piece, prefix))
        left -= piece.completion_tokens
        if lost and piece.text:
            # The tokens of a repetition are given back. Their number is estimated by
            # the share of the text that the repetition is.
            removed = min(lost, len(piece.text))
            left += piece.completion_tokens * removed // len(piece.text)
        if not session.goes_on or left <= 0:
            break
    whole = _joined(session, stages, piece) if constraint.in_stages else piece
    return Drawn(whole, tuple(stages))


def _joined(
    session: AnswerSession, stages: list[DrawnStage], last: Completion
) -> Completion:
    """Joins the stages into one completion, which was cut if the session goes on."""
    return Completion(
        text=session.text,
        finish_reason="length" if session.goes_on else last.finish_reason,
        prompt_tokens=stages[0].prompt_tokens,
        completion_tokens=sum(stage.completion_tokens for stage in stages),
        latency_s=sum(stage.latency_s for stage in stages),
        thought=stages[0].thought,
        forced_tokens=sum(stage.forced_tokens for stage in stages),
    )


def _recorded(
    name: str,
    grammar: Grammar | None,
    sampling: Sampling,
    piece: Completion,
    prefix: Prefix | None = None,
    *,
    asked: str = "",
    why: str = "",
) -> DrawnStage:
    """Returns a stage as the transcript records it (`DrawnStage`)."""
    before = prefix or Prefix()
    return DrawnStage(
        name=name,
        grammar=grammar.sha256 if grammar else None,
        sampling=sampling,
        before=before.kept,
        drop=before.rollback_chars,
        head=before.forced_prefix,
        asked=asked,
        why=why,
        **piece.recorded | {"text": before.forced_prefix + piece.text},
    )


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
        with_seed(own, "draft"), max_tokens=sampling.draft_tokens
    )
    draft = model.complete(question.messages, None, free)
    asked = question.form.after_draft
    drafted = Message("assistant", draft.text), Message("user", asked)
    messages = (*question.messages, *drafted)
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
    stage = _recorded("draft", None, free, draft, asked=asked)
    return Drawn(whole, (stage, *answer.stages))


def draw_until_accepted(
    model: LanguageModel, messages: Messages, sampling: Sampling, rejection: Rejection
) -> Drawn:
    """Returns the first answer that is not rejected, or the last one if all are
    rejected.

    The first try is the answer of free decoding; each try has a separate seed. Each
    rejected answer is recorded as a stage. Tokens and latency include all tries. Raises
    the errors of the model.
    """
    rejected: list[DrawnStage] = []
    tokens = 0
    latency_s = 0.0
    for number in range(rejection.tries):
        own = sampling if number == 0 else with_seed(sampling, "try", number)
        completion = model.complete(messages, None, own)
        tokens += completion.completion_tokens
        latency_s += completion.latency_s
        why = rejection.why_not(completion)
        if not why:
            break
        rejected.append(_recorded("rejected", None, own, completion, why=why))
    whole = dataclasses.replace(
        completion, completion_tokens=tokens, latency_s=latency_s
    )
    return Drawn(whole, tuple(rejected))

"""Draws one answer from a model stage by stage; each stage continues the ones before
it.
"""

import dataclasses
from collections.abc import Mapping

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.session import AnswerSession, Constraint

StageTokens = Mapping[str, int]
"""The maximum number of tokens by stage name. Other stages may use all tokens that are
left.
"""


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
    session, drawn = constraint.begin(thinks=sampling.thinking), list[DrawnStage]()
    left, piece = sampling.max_tokens, None
    while session.goes_on and left > 0:
        own, prefix = sampling, session.prefix
        if prefix is not None:
            own = _own_sampling(
                sampling, session.stage.name, len(drawn), left, stage_tokens
            )
        stage = session.stage
        try:
            piece = model.complete(messages, stage.grammar, own, prefix)
        except ConfigError as error:
            if isinstance(error, PromptTooLong) or not drawn:
                raise
            raise ModelFault(
                f"{error} (Earlier stages of this answer were drawn.)"
            ) from error
        lost = session.accept(
            piece.text, piece.prefix, ended=piece.finish_reason == "stop"
        )
        drawn.append(recorded(stage.name, stage.grammar, own, piece, prefix))
        left -= piece.completion_tokens
        if lost and piece.text:
            # The tokens of the repetition are given back, estimated by its share of the
            # text.
            left += (
                piece.completion_tokens * min(lost, len(piece.text)) // len(piece.text)
            )
    assert piece is not None
    return Drawn(
        _whole(session, drawn, piece) if constraint.in_stages else piece, tuple(drawn)
    )


def _own_sampling(
    sampling: Sampling, name: str, number: int, left: int, stage_tokens: StageTokens
) -> Sampling:
    """Gives a stage its seed and its limit, which does not apply to a thought before
    stage 0.
    """
    thinks = sampling.thinking and number == 0
    limit = left if thinks else min(stage_tokens.get(name, left), left)
    seed = derive_seed(sampling.seed, "stage", number)
    return dataclasses.replace(sampling, seed=seed, max_tokens=limit)


def _whole(
    session: AnswerSession, drawn: list[DrawnStage], last: Completion
) -> Completion:
    """Joins the stages into one completion, which was cut if the session goes on."""
    return Completion(
        text=session.text,
        finish_reason="length" if session.goes_on else last.finish_reason,
        prompt_tokens=drawn[0].prompt_tokens,
        completion_tokens=sum(stage.completion_tokens for stage in drawn),
        latency_s=sum(stage.latency_s for stage in drawn),
        thought=drawn[0].thought,
        forced_tokens=sum(stage.forced_tokens for stage in drawn),
    )


def recorded(
    name: str,
    grammar: Grammar | None,
    sampling: Sampling,
    piece: Completion,
    prefix: Prefix | None = None,
    asked: str = "",
) -> DrawnStage:
    """Returns a stage as the transcript records it. `asked` is the user message before
    it.
    """
    before = prefix or Prefix()
    return DrawnStage(
        name=name,
        grammar=grammar.sha256 if grammar else None,
        sampling=sampling,
        before=before.kept,
        drop=before.rollback_chars,
        head=before.forced_prefix,
        asked=asked,
        **piece.recorded | {"text": before.forced_prefix + piece.text},
    )

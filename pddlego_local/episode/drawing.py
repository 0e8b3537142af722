"""Drawing an answer from a model under a constraint: at once, or stage by stage as one answer."""

import dataclasses
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.errors import GrammarIgnored, ModelFault, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Message, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.stages import Constraint, StagedGrammar, with_head_in_grammar

StageTokens = Mapping[str, int]
"""The most tokens of a stage, by its name; a stage that is not named has what is left."""

_BEGINNING = Prefix()


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
            return _written(model, question.messages, constraint, own, stage_tokens)

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
        answer = _written(model, messages, constraint, own, stage_tokens)
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
    return Drawn(whole, (_recorded("draft", None, free, draft, asked=asked), *answer.stages))


def _written(
    model: LanguageModel,
    messages: Messages,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
) -> Drawn:
    """At once, or stage by stage."""
    if not isinstance(constraint, StagedGrammar):
        piece = model.complete(messages, constraint, sampling)
        return Drawn(piece, (_recorded("answer", constraint, sampling, piece),))
    stages = constraint.stages()
    stage = next(stages)
    prefix, drawn, grammars = _BEGINNING, list[DrawnStage](), list[Grammar]()
    left = sampling.max_tokens
    while True:
        thinks_first = sampling.thinking and not drawn
        if thinks_first:  # what comes after a thought cannot stand in the prompt
            stage = with_head_in_grammar(stage)
        prefix = dataclasses.replace(prefix, drop=stage.drop, head=stage.head)
        limit = left if thinks_first else stage_tokens.get(stage.name, left)
        own = dataclasses.replace(
            sampling,
            seed=derive_seed(sampling.seed, "stage", len(drawn)),
            max_tokens=min(limit, left),
        )
        piece = model.complete(messages, stage.grammar, own, prefix)
        drawn.append(_recorded(stage.name, stage.grammar, own, piece, prefix))
        grammars.append(stage.grammar)
        left -= piece.completion_tokens
        prefix = piece.prefix or prefix
        if piece.finish_reason != "stop":
            return _joined(prefix.text, piece.finish_reason, drawn)
        try:
            stage = stages.send(stage.head + piece.text)
        except StopIteration:
            if not constraint.keeps(prefix.text):
                _check(drawn, grammars)
            return _joined(prefix.text, "stop", drawn)
        except (AssertionError, LookupError, ValueError):
            _check(drawn, grammars)  # text that no grammar let through may confuse the coroutine
            raise
        if left < 1:
            return _joined(prefix.text, "length", drawn)


def _recorded(
    name: str,
    grammar: Grammar | None,
    sampling: Sampling,
    piece: Completion,
    prefix: Prefix = _BEGINNING,
    asked: str = "",
) -> DrawnStage:
    return DrawnStage(
        name=name,
        grammar=grammar.sha256 if grammar else None,
        sampling=sampling,
        before=prefix.kept,
        drop=prefix.drop,
        head=prefix.head,
        asked=asked,
        **piece.recorded | {"text": prefix.head + piece.text},
    )


def _joined(text: str, finish_reason: str, drawn: list[DrawnStage]) -> Drawn:
    whole = Completion(
        text=text,
        finish_reason=finish_reason,  # type: ignore[arg-type]
        prompt_tokens=drawn[0].prompt_tokens,
        completion_tokens=sum(stage.completion_tokens for stage in drawn),
        latency_s=sum(stage.latency_s for stage in drawn),
        thought=drawn[0].thought,
        forced_tokens=sum(stage.forced_tokens for stage in drawn),
    )
    return Drawn(whole, tuple(drawn))


def _check(drawn: list[DrawnStage], grammars: list[Grammar]) -> None:
    """A finished stage must be in its language: the engine can end one early, in silence."""
    for stage, grammar in zip(drawn, grammars, strict=True):
        verdict = decoder_verdict(grammar, stage.text.removeprefix(stage.head))
        if verdict == "unfinished":
            raise ModelFault(
                f"The decoder ended the stage {stage.name!r} of an answer after "
                f"{len(stage.text)} characters, before its grammar was satisfied; the request can "
                "be repeated."
            )
        if verdict == "rejected":
            raise GrammarIgnored(
                f"The stage {stage.name!r} of an answer is outside its grammar: the model's "
                "backend does not obey grammars; start the server with the guidance backend, or "
                "choose decoding=free."
            )

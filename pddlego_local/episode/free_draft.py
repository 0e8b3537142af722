"""A free draft before the constrained answer: what is asked, and how it is recorded.

    the prompt → the model's draft → `Form.after_draft`: "Now give your final answer …" → the answer

The prompt is the same with and without a draft; the server's prefix cache has it from the draft.
"""

import dataclasses

from pddlego_local.core.nouns import Completion, Grammar, Message, Messages, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Drawn, Question


def write_draft(model: LanguageModel, question: Question[Keys], sampling: Sampling) -> DrawnStage:
    """A free answer of at most `sampling.draft_tokens`; one that the limit cut is used as it is."""
    own = dataclasses.replace(
        sampling,
        seed=derive_seed(sampling.seed, "draft"),
        max_tokens=sampling.draft_tokens,
        draft_tokens=0,
    )
    draft = model.complete(question.messages, None, own)
    return as_stage("draft", None, own, draft, asked=question.form.after_draft)


def conversation(question: Question[Keys], draft: DrawnStage) -> Messages:
    """What the model sees when it writes its answer."""
    written, asked = Message("assistant", draft.text), Message("user", draft.asked)
    return (*question.messages, written, asked)


def with_draft(draft: DrawnStage, answer: Drawn) -> Drawn:
    """The answer, with the draft as its first stage. The completion's tokens and latency count
    both; its prompt is that of the first request, as of every answer in stages."""
    completion = dataclasses.replace(
        answer.completion,
        prompt_tokens=draft.prompt_tokens,
        completion_tokens=draft.completion_tokens + answer.completion.completion_tokens,
        latency_s=draft.latency_s + answer.completion.latency_s,
    )
    return Drawn(completion, (draft, *answer.stages))


def as_stage(
    name: str, grammar: Grammar | None, sampling: Sampling, piece: Completion, asked: str = ""
) -> DrawnStage:
    """A whole completion as the record shows it."""
    return DrawnStage(
        name=name,
        grammar=grammar.sha256 if grammar else None,
        sampling=sampling,
        before="",
        text=piece.text,
        finish_reason=piece.finish_reason,
        prompt_tokens=piece.prompt_tokens,
        completion_tokens=piece.completion_tokens,
        latency_s=piece.latency_s,
        thought=piece.thought,
        forced_tokens=piece.forced_tokens,
        asked=asked,
    )

"""An answer that grows stage by stage, each drawn as a continuation of the ones before."""

import copy
import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Literal

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.stages import Stage, StagedGrammar, with_head_in_grammar

StageTokens = Mapping[str, int]
"""The most tokens of a stage, by its name; a stage that is not named has what is left."""

_BEGINNING = Prefix()


class Growing:
    """`finish_reason` is "" until the answer is over. `sampling` may change between stages."""

    def __init__(
        self,
        model: LanguageModel,
        messages: Messages,
        constraint: StagedGrammar,
        sampling: Sampling,
        stage_tokens: StageTokens,
    ) -> None:
        self._model, self._messages, self._constraint = model, messages, constraint
        self.sampling, self._stage_tokens = sampling, stage_tokens
        self._stages = constraint.stages()
        self._stage = next(self._stages)
        self._prefix, self._left = _BEGINNING, sampling.max_tokens
        self.drawn = list[DrawnStage]()
        self.finish_reason: Literal["", "stop", "length", "unfinished_thought"] = ""

    @property
    def rolls_back(self) -> bool:
        """Whether the end of what is written must be taken back before it goes on."""
        return not self.finish_reason and self._stage.drop > 0

    def copy(self) -> "Growing":
        """One that goes on from the same text: its stages are sent what was written again."""
        twin = copy.copy(self)
        twin.drawn = list(self.drawn)
        twin._stages = self._constraint.stages()
        next(twin._stages)
        for stage in [] if self.finish_reason else self.drawn:
            twin._stage = twin._stages.send(stage.text)
        return twin

    def draw_stage(self) -> Completion:
        """Draws the next stage. Raises as the model does, and GrammarIgnored or ModelFault where a
        stage is not what its grammar permits."""
        stage, sampling = self._stage, self.sampling
        thinks_first = sampling.thinking and not self.drawn
        if thinks_first or sampling.particles:
            # What comes after a thought cannot stand in the prompt; what is weighed is drawn.
            stage = with_head_in_grammar(stage)
        prefix = dataclasses.replace(self._prefix, drop=stage.drop, head=stage.head)
        limit = self._left if thinks_first else self._stage_tokens.get(stage.name, self._left)
        own = dataclasses.replace(
            sampling,
            seed=derive_seed(sampling.seed, "stage", len(self.drawn)),
            max_tokens=min(limit, self._left),
        )
        piece = self._model.complete(self._messages, stage.grammar, own, prefix)
        self.drawn.append(recorded(stage.name, stage.grammar, own, piece, prefix))
        self._left -= piece.completion_tokens
        self._prefix = piece.prefix or prefix
        if piece.finish_reason != "stop":
            self.finish_reason = piece.finish_reason
            return piece
        _check(stage, piece.text)
        try:
            self._stage = self._stages.send(stage.head + piece.text)
            self.finish_reason = "" if self._left > 0 else "length"
        except StopIteration:
            self.finish_reason = "stop"
        return piece

    @property
    def so_far(self) -> Prefix:
        return self._prefix

    def whole(self) -> Drawn:
        """The answer as it is."""
        drawn = self.drawn
        completion = Completion(
            text=self._prefix.text,
            finish_reason=self.finish_reason or "length",
            prompt_tokens=drawn[0].prompt_tokens,
            completion_tokens=sum(stage.completion_tokens for stage in drawn),
            latency_s=sum(stage.latency_s for stage in drawn),
            thought=drawn[0].thought,
            forced_tokens=sum(stage.forced_tokens for stage in drawn),
            log_mass=_product(stage.log_mass for stage in drawn),
            log_drawn=_product(stage.log_drawn for stage in drawn),
        )
        return Drawn(completion, tuple(drawn))


def _check(stage: Stage, text: str) -> None:
    """A stage that has ended must be in its language: an engine that fails permits nothing but the
    end of the text, and says no word of that."""
    match decoder_verdict(stage.grammar, text):
        case "unfinished":
            raise ModelFault(
                f"The decoder ended the stage {stage.name!r} of an answer after {len(text)} "
                "characters, before its grammar was satisfied; the request can be repeated."
            )
        case "rejected":
            raise GrammarIgnored(
                f"The stage {stage.name!r} of an answer is outside its grammar: the model's "
                "backend does not obey grammars; start the server with the guidance backend, or "
                "choose decoding=free."
            )


def _product(logs: Iterable[float | None]) -> float | None:
    """The log of the product, where all are known."""
    known = list(logs)
    return None if None in known else math.fsum(log for log in known if log)


def recorded(
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

"""One loaded model and how it draws one answer: chat template, grammar, seed, thought, tokens.

Outlines supplies the constrained decoding (llguidance masks as a logits processor); the call to
`generate` is ours because Outlines hands back text only, without tokens or finish reason. Under a
grammar its loop is ours too (`forced_runs`).
"""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import outlines
import torch
import transformers
from outlines.backends.llguidance import LLGuidanceBackend
from transformers import GenerationConfig, LogitsProcessorList

from pddlego_local.core.errors import ConfigError, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.chat_template import check_template, dated, rendering
from pddlego_local.models.continuation import begins_forced, continues
from pddlego_local.models.forced_runs import ForcedRuns, Masks
from pddlego_local.models.grammar import check_grammar
from pddlego_local.models.loading import load_model, load_tokenizer
from pddlego_local.models.plain_text import PlainText
from pddlego_local.models.seam import LocalTokenizer, Seam, seam
from pddlego_local.models.slices import with_word_slices
from pddlego_local.models.thinking import Thinking, detected, template_arguments


@dataclass(frozen=True)
class Generation:
    """A model ready to answer. Not thread-safe: torch's random state is the process's."""

    name: str
    model: Any
    tokenizer: Any
    backend: LLGuidanceBackend
    context_tokens: int
    thinking: Thinking | None
    end_ids: tuple[int, ...]
    forced_tokens: bool

    def answer(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """See `TransformersModel.complete`."""
        start = time.perf_counter()
        loop = self._forced_runs(grammar, sampling)
        thinks = sampling.thinking and not continues(prefix)
        opening, begun = self._before(messages, sampling, prefix)
        earlier = list(begun.tokens)
        before = opening + earlier
        budget = self._budget(len(before), begun.forced, sampling)
        torch.manual_seed(sampling.seed)
        thought: list[int] = []
        if thinks:
            thought = self._draw(before, sampling, budget, None, (self._marker(),))
        unfinished = thinks and (thought[-1] != self._marker() or len(thought) == budget)
        drawn: list[int] = []
        if not unfinished:
            drawn = self._draw(before + thought, sampling, budget - len(thought), loop)
        stopped = bool(drawn) and drawn[-1] in self.end_ids
        tokens = drawn[:-1] if stopped else drawn
        text = self._text(earlier, tokens)
        if prefix is not None:
            prefix = Prefix(prefix.continued + text, (*opening, *thought), (*earlier, *tokens))
        return Completion(
            text=text,
            finish_reason="unfinished_thought" if unfinished else "stop" if stopped else "length",
            prompt_tokens=len(before) - begun.forced,
            completion_tokens=begun.forced + len(thought) + len(drawn),
            latency_s=time.perf_counter() - start,
            thought=self._thought(thought),
            prefix=prefix,
            forced_tokens=begun.forced + (loop.forced_tokens if loop else 0),
        )

    def _before(
        self, messages: Messages, sampling: Sampling, prefix: Prefix | None
    ) -> tuple[list[int], Seam]:
        """The tokens before an answer and those of its beginning."""
        if prefix is not None and continues(prefix):
            return list(prefix.opening), seam(prefix, self._spelling)
        arguments = template_arguments(self.thinking, sampling.thinking, self.name)
        opening = self._encode(messages, arguments)
        if prefix is not None and begins_forced(prefix, sampling):
            return opening, seam(prefix, self._spelling)
        return opening, Seam((), 0)

    @cached_property
    def _spelling(self) -> LocalTokenizer:
        return LocalTokenizer(self.name, self.tokenizer.backend_tokenizer)

    @cached_property
    def _plain_text(self) -> PlainText:
        return PlainText(self._spelling)

    def _budget(self, used: int, forced: int, sampling: Sampling) -> int:
        """How many tokens may follow those `used`; the last `forced` of these are the answer's."""
        left = self.context_tokens - used
        if left < 1:
            raise PromptTooLong(
                f"The prompt, with the beginning of its answer, has {used} tokens and "
                f"{self.name} is set to a context of {self.context_tokens}; raise "
                "model.context_tokens or shorten the prompt."
            )
        return min(max(1, sampling.max_tokens - forced), left)

    def _text(self, earlier: list[int], tokens: list[int]) -> str:
        """The text of `tokens` where they stand: some tokenizers drop a blank at the start."""
        before = str(self.tokenizer.decode(earlier, skip_special_tokens=True))
        return str(self.tokenizer.decode(earlier + tokens, skip_special_tokens=True))[len(before) :]

    def _forced_runs(self, grammar: Grammar | None, sampling: Sampling) -> ForcedRuns | None:
        if grammar is None:
            return None
        check_grammar(grammar)
        of_kind = (
            self.backend.get_cfg_logits_processor
            if grammar.kind == "lark"
            else self.backend.get_json_schema_logits_processor
        )
        return ForcedRuns(Masks(of_kind(grammar.text)), sampling, runs=self.forced_tokens)

    def _encode(self, messages: Messages, arguments: dict[str, bool]) -> list[int]:
        messages = self._plain_text(messages)
        if self.tokenizer.chat_template is None:
            plain = "\n\n".join(message.content for message in messages) + "\n\n"
            return list(self.tokenizer(plain)["input_ids"])
        with rendering(self.name):
            text = self.tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in messages],
                tokenize=False,
                add_generation_prompt=True,
                **arguments,
            )
        # The template writes its own beginning-of-text token: no second one.
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _draw(
        self,
        ids: list[int],
        sampling: Sampling,
        max_tokens: int,
        loop: ForcedRuns | None,
        also_end: tuple[int, ...] = (),
    ) -> list[int]:
        first = loop.beginning(max_tokens) if loop else []
        if len(first) == max_tokens or first[-1:] == [self.end_ids[0]]:
            return first
        greedy = sampling.temperature == 0
        # Everything stated: a model's own generation_config (top_k 20, repetition penalty 1.05 in
        # Qwen's) would make backends and models differ.
        settings = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=max_tokens - len(first),
            do_sample=not greedy,
            **({} if greedy else {"temperature": sampling.temperature, "top_p": sampling.top_p}),
            top_k=None if greedy else 0,
            eos_token_id=[*self.end_ids, *also_end],
            pad_token_id=self.end_ids[0],
        )
        inputs = torch.tensor([ids + first], device=self.model.device)
        # The masking kernel would compile for 20 s at the first grammar.
        with torch.inference_mode(), torch.compiler.set_stance("force_eager"):
            output = self.model.generate(
                input_ids=inputs,
                attention_mask=torch.ones_like(inputs),
                generation_config=settings,
                logits_processor=LogitsProcessorList([loop.masks] if loop else []),
                custom_generate=loop,
            )
        return list(output[0, len(ids) :].tolist())

    def _marker(self) -> int:
        assert self.thinking is not None
        marker = self.tokenizer.get_vocab().get(self.thinking.end)
        if marker is None:
            raise ConfigError(
                f"model.thinking.end: {self.thinking.end!r} is not one token of {self.name}; give "
                "the marker as the model's tokenizer spells it."
            )
        return int(marker)

    def _thought(self, ids: list[int]) -> str:
        if self.thinking is None or not ids:
            return ""
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        return text.removesuffix(self.thinking.end).removeprefix(self.thinking.start)


def load_generation(
    folder: Path,
    *,
    name: str,
    device: str,
    dtype: str,
    context_tokens: int | None,
    thinking: Thinking | Literal["auto"] | None,
    threads: int | None,
    forced_tokens: bool,
) -> Generation:
    """Loads weights and tokenizer from `folder`, which takes seconds to minutes.

    Raises ConfigError if transformers cannot read the folder as a causal model.
    """
    if threads:
        torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tokenizer = load_tokenizer(folder)
    if isinstance(tokenizer.chat_template, str):
        tokenizer.chat_template = dated(tokenizer.chat_template)
        check_template(folder, tokenizer.chat_template, tokenizer.special_tokens_map)
    model = load_model(folder, dtype=dtype)
    model = model.to(device).eval()
    backend = LLGuidanceBackend(outlines.from_transformers(model, tokenizer))
    backend.llg_tokenizer = with_word_slices(backend.llg_tokenizer)
    ends = model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    end_ids = dict.fromkeys(e for e in [tokenizer.eos_token_id, *listed] if e is not None)
    if not end_ids:
        raise ConfigError(f"model.weights: {folder} names no token that ends an answer.")
    longest = context_tokens or getattr(model.config, "max_position_embeddings", None)
    if not isinstance(longest, int):
        raise ConfigError(f"{folder} does not tell its context; set model.context_tokens.")
    return Generation(
        name=name,
        model=model,
        tokenizer=tokenizer,
        backend=backend,
        context_tokens=longest,
        thinking=detected(tokenizer) if thinking == "auto" else thinking,
        end_ids=tuple(end_ids),
        forced_tokens=forced_tokens,
    )

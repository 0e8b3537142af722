"""One loaded model and how it draws one answer: chat template, grammar, seed, thought,
tokens.

Outlines supplies the constrained decoding (llguidance masks as a logits processor).
This module calls `generate` itself because Outlines returns only text, without tokens
or finish reason. Under a grammar, it also replaces the loop of `generate` (see
`forced_tokens`).
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import outlines
import torch
import transformers
from outlines.backends.llguidance import LLGuidanceBackend
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.chat_template import (
    check_template,
    dated,
    rendering,
    thinking_of,
)
from pddlego_local.models.forced_tokens import ForcedTokens
from pddlego_local.models.loading import load_model, load_tokenizer
from pddlego_local.models.request import check_grammar, continues, plain_text
from pddlego_local.models.splice import LocalTokenizer, splice
from pddlego_local.models.thinking import Thinking, template_arguments

_NEAR_TOKENS = 8
"""How many preceding tokens may influence how the tokens after them are decoded to
text.
"""


class Watched:
    """A stopping criterion: `watch` decides from the tokens after the first `begin`
    tokens.
    """

    def __init__(self, watch: Callable[[list[int]], bool], begin: int) -> None:
        self._watch, self._begin = watch, begin
        self.ended = False

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        self.ended = self._watch(input_ids[0, self._begin :].tolist())
        return torch.full(input_ids.shape[:1], self.ended, device=input_ids.device)


class Generation:
    """A model that is ready to answer.

    It is not thread-safe, because torch has one random state for the whole process.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str,
        device: str,
        dtype: str,
        context_tokens: int | None,
        thinking: Thinking | Literal["auto"] | None,
        forced_tokens: bool,
    ) -> None:
        """Loads weights and tokenizer from `folder`, which takes seconds to minutes.

        `name` is the model's name in error messages. Raises ConfigError if transformers
        cannot read the folder as a causal model.
        """
        self.name = name
        self._stopped = threading.Event()
        self._forced_tokens = forced_tokens
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self.tokenizer = tokenizer = load_tokenizer(folder)
        if isinstance(tokenizer.chat_template, str):
            tokenizer.chat_template = dated(tokenizer.chat_template)
            check_template(
                folder, tokenizer.chat_template, tokenizer.special_tokens_map
            )
        self.thinking = thinking_of(folder, name) if thinking == "auto" else thinking
        self._spelling = LocalTokenizer(name, tokenizer.backend_tokenizer)
        self._plain_text = plain_text(self._spelling)
        self.model = model = load_model(folder, dtype=dtype).to(device).eval()
        self._backend = LLGuidanceBackend(outlines.from_transformers(model, tokenizer))
        ends = model.generation_config.eos_token_id
        listed = [tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])]
        self.end_ids = list(dict.fromkeys(end for end in listed if end is not None))
        if not self.end_ids:
            raise ConfigError(
                f"model.weights: {folder} names no token that ends an answer."
            )
        longest = context_tokens or getattr(
            model.config, "max_position_embeddings", None
        )
        if not isinstance(longest, int):
            raise ConfigError(
                f"{folder} states no context length; set model.context_tokens."
            )
        self.context_tokens = longest

    def stop(self) -> None:
        """Aborts the answer that is being drawn, which raises ModelFault. This is
        permanent.
        """
        self._stopped.set()

    def _ends(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Stopping criterion of `generate`: after `stop`, the answer ends at its next
        token.
        """
        return torch.full(
            input_ids.shape[:1], self._stopped.is_set(), device=input_ids.device
        )

    def answer(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None,
    ) -> Completion:
        """Draws one answer; see `TransformersModel.complete`."""
        start = time.perf_counter()
        loop = self._forcing_loop(grammar, sampling)
        so_far = prefix or Prefix()
        opening = list(so_far.opening or self._prompt(messages, sampling))
        earlier, forced = splice(so_far, self._spelling)
        before = [*opening, *earlier]
        budget = self._budget(len(before), forced, sampling)
        torch.manual_seed(sampling.seed)
        thought: list[int] = []
        is_whole = True
        if not continues(so_far, sampling) and sampling.thinking:
            thought, is_whole = self._think(before, sampling, budget)
        written = self._reader_after(earlier)
        watch, watched = so_far.watch, None
        if watch:
            begin = len(before) + len(thought)
            watched = Watched(lambda tokens: watch(written(tokens)), begin)
        drawn: list[int] = []
        if is_whole:
            left = budget - len(thought)
            drawn = self._draw([*before, *thought], sampling, left, loop, watched)
        reason = self._reason(drawn, watched) if is_whole else "unfinished_thought"
        tokens = drawn[:-1] if reason == "stop" else drawn
        text = written(tokens)
        if prefix is not None:
            prefix = Prefix(
                prefix.continued + text, (*opening, *thought), (*earlier, *tokens)
            )
        return Completion(
            text=text,
            finish_reason=reason,
            prompt_tokens=len(before) - forced,
            completion_tokens=forced + len(thought) + len(drawn),
            latency_s=time.perf_counter() - start,
            thought=self._thought(thought),
            prefix=prefix,
            forced_tokens=forced + (loop.forced_tokens if loop else 0),
        )

    def _reason(
        self, drawn: list[int], watched: Watched | None
    ) -> Literal["stop", "length", "circle"]:
        """Returns why an answer ended with these tokens."""
        if drawn and drawn[-1] in self.end_ids:
            return "stop"
        if watched and watched.ended:
            return "circle"
        return "length"

    def _think(
        self, before: list[int], sampling: Sampling, budget: int
    ) -> tuple[list[int], bool]:
        """Returns the tokens of a thought, and whether it came to its end with tokens
        left for an answer.
        """
        marker = self._marker()
        thought = self._draw(before, sampling, budget, None, also_end=(marker,))
        return thought, thought[-1] == marker and len(thought) < budget

    def _reader_after(self, earlier: Sequence[int]) -> Callable[[list[int]], str]:
        """Returns a function that gives the text of tokens as it reads after the
        earlier tokens.
        """
        near = earlier[-_NEAR_TOKENS:]
        near_text = self._text(near)
        return lambda tokens: self._text([*near, *tokens])[len(near_text) :]

    def _forcing_loop(
        self, grammar: Grammar | None, sampling: Sampling
    ) -> ForcedTokens | None:
        if grammar is None:
            return None
        check_grammar(grammar)
        if grammar.kind == "lark":
            masks = self._backend.get_cfg_logits_processor(grammar.text)
        else:
            masks = self._backend.get_json_schema_logits_processor(grammar.text)
        return ForcedTokens(masks, sampling, runs=self._forced_tokens)

    def _prompt(self, messages: Messages, sampling: Sampling) -> list[int]:
        """Returns the prompt's tokens, up to where the answer begins."""
        arguments = template_arguments(self.thinking, sampling.thinking, self.name)
        chat = self._plain_text(messages)
        if self.tokenizer.chat_template is None:
            plain = "\n\n".join(message["content"] for message in chat) + "\n\n"
            return list(self.tokenizer(plain)["input_ids"])
        with rendering(self.name):
            text = self.tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True, **arguments
            )
        # The template writes its own beginning-of-text token; a second one would be
        # wrong.
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _budget(self, used: int, forced: int, sampling: Sampling) -> int:
        """Returns how many more tokens may be drawn after `used` tokens.

        The last `forced` of these belong to the answer already.
        """
        left = self.context_tokens - used
        if left < 1:
            raise PromptTooLong(
                f"The prompt and the beginning of its answer have {used} tokens, but"
                f" {self.name} is set to a context of {self.context_tokens}; raise"
                " model.context_tokens or shorten the prompt."
            )
        return min(max(1, sampling.max_tokens - forced), left)

    def _draw(
        self,
        ids: list[int],
        sampling: Sampling,
        max_tokens: int,
        loop: ForcedTokens | None,
        watched: Watched | None = None,
        also_end: tuple[int, ...] = (),
    ) -> list[int]:
        first = loop.beginning(max_tokens) if loop else []
        if len(first) == max_tokens or first[-1:] == self.end_ids[:1]:
            return first
        # All settings are stated. Otherwise a model's own generation_config (Qwen's has
        # top_k 20 and repetition penalty 1.05) would make backends and models differ.
        randomness: dict[str, Any] = {"do_sample": False, "top_k": None}
        if sampling.temperature > 0:
            randomness = {
                "do_sample": True,
                "top_k": 0,
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
            }
        settings = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=max_tokens - len(first),
            eos_token_id=[*self.end_ids, *also_end],
            pad_token_id=self.end_ids[0],
            **randomness,
        )
        inputs = torch.tensor([ids + first], device=self.model.device)
        # Without force_eager, compiling the masking kernel takes 20 s at the first
        # grammar.
        with torch.inference_mode(), torch.compiler.set_stance("force_eager"):
            output = self.model.generate(
                input_ids=inputs,
                attention_mask=torch.ones_like(inputs),
                generation_config=settings,
                logits_processor=LogitsProcessorList([loop] if loop else []),
                stopping_criteria=StoppingCriteriaList(
                    filter(None, [self._ends, watched])
                ),
                custom_generate=loop and loop.decode,
            )
        if self._stopped.is_set():
            raise ModelFault(f"{self.name} was closed while an answer was being drawn.")
        return list(output[0, len(ids) :].tolist())

    def _text(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _marker(self) -> int:
        assert self.thinking is not None
        marker = self.tokenizer.get_vocab().get(self.thinking.end)
        if marker is None:
            raise ConfigError(
                f"model.thinking.end: {self.thinking.end!r} is not one token of"
                f" {self.name}; give the marker as the model's tokenizer spells it."
            )
        return int(marker)

    def _thought(self, ids: list[int]) -> str:
        if self.thinking is None or not ids:
            return ""
        return (
            self._text(ids)
            .removesuffix(self.thinking.end)
            .removeprefix(self.thinking.start)
        )

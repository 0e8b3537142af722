"""Decoding under a grammar in process, where forced text is not sampled.

`generate` of transformers makes one forward pass a token. Where the grammar leaves one way to go
on, the tokens of that way need none of their own: they go into the pass of the token that was
sampled before them. llguidance keeps back what may still merge with the text behind a forced run,
so that the tokens are the usual ones of the text.
"""

from collections.abc import Iterable
from typing import Any

import torch
from llguidance import LLTokenizer
from outlines.backends.llguidance import LLGuidanceLogitsProcessor

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.grammars.terminals import FIRST_LETTERS, one_letter

_LETTER = r"[a-zA-Z0-9_\-]"


def with_word_slices(tokenizer: LLTokenizer) -> LLTokenizer:
    """The tokenizer for masks of a large vocabulary at half of their cost; they stay the same."""
    return tokenizer.with_slices(word_slices(LLTokenizer.general_slices()))


def word_slices(general: Iterable[str]) -> list[str]:
    """Slices of a vocabulary for PDDL, with llguidance's own, which are made for quoted text.

    llguidance asks of a slice once whether all its tokens are permitted. It compares repetitions,
    and what stands before them if that is the same: so there is a slice for each of the groups of
    letters that names are written with, for words of up to 20 letters (names have a limit, which
    longer ones may pass), and for words behind a blank. Its slice of up to 10 characters is left
    out: where it is, masks within names take four times as long.
    """
    names = [f"{one_letter(frozenset(group))}{_LETTER}{{0,19}}" for group in FIRST_LETTERS]
    return [
        *(*names, f"{_LETTER}{{1,20}}", *(f" {name}" for name in names)),
        *(f"{_LETTER}+", f" {_LETTER}+"),
        *(text for text in general if not text.endswith("{1,10}")),
    ]


class ForcedTokens(LLGuidanceLogitsProcessor):
    """Outlines' masks for one answer, and the decoding loop under them that `generate` is handed.

    `runs` False samples each token from its mask; the answer is the same as far as the arithmetic
    is: a pass over several tokens may round the logits otherwise in their last bits. Each token
    has a seed of its own, from its place, so that forced tokens use up no random numbers.
    """

    def __init__(self, masks: LLGuidanceLogitsProcessor, sampling: Sampling, *, runs: bool) -> None:
        super().__init__(masks.grammar, masks.llg_tokenizer, "torch")
        self._setup(batch_size=1)
        self._matcher = self.ll_matchers[0]
        self._end: int = self.llg_tokenizer.eos_token
        self._sampling, self._runs = sampling, runs
        self.forced_tokens = 0

    def process_logits(self, input_ids: Any, logits: Any) -> Any:
        scores = self._bias_logits(input_ids, logits)
        self._check()
        return scores

    def _check(self) -> None:
        """Raises RuntimeError where the engine has failed: it then permits nothing but the end, and
        an answer would end in the middle."""
        if self._matcher.is_error():
            reason = self._matcher.get_error().strip().splitlines()[0]
            raise RuntimeError(f"llguidance stopped in the middle of an answer: {reason}")

    def beginning(self, most: int) -> list[int]:
        """The run that an answer begins with: at most `most` tokens."""
        run = self._read_forced()[:most]
        self.forced_tokens += len(run)
        return run

    def decode(
        self,
        model: Any,
        input_ids: torch.Tensor,
        *,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **inputs: Any,
    ) -> torch.Tensor:
        """Called by `generate`, which has prepared the arguments. Returns prompt and answer."""
        unread: int | None = None  # all of the prompt
        while True:
            prepared = model.prepare_inputs_for_generation(
                input_ids, next_sequence_length=unread, is_first_iteration=unread is None, **inputs
            )
            outputs = model(**prepared, return_dict=True)
            logits = outputs.logits[:, -1].to(copy=True, dtype=torch.float32)
            scores = logits_processor(input_ids, logits)
            token = self._choose(scores, input_ids.shape[1])
            room = generation_config.max_length - input_ids.shape[1]
            tokens = [token, *self._run_after(token)][:room]
            self.forced_tokens += len(tokens) - 1
            inputs = model._update_model_kwargs_for_generation(
                outputs, inputs, num_new_tokens=len(tokens)
            )
            drawn = torch.tensor([tokens], dtype=input_ids.dtype, device=input_ids.device)
            input_ids = torch.cat([input_ids, drawn], dim=-1)
            if bool(stopping_criteria(input_ids, None).all()):
                return input_ids
            unread = len(tokens) if inputs.get("use_cache") else None

    def _choose(self, scores: torch.Tensor, place: int) -> int:
        """As `generate` does: its processors have applied temperature and top_p."""
        if self._sampling.temperature == 0:
            return int(scores.argmax(dim=-1))
        generator = torch.Generator(scores.device)
        generator.manual_seed(derive_seed(self._sampling.seed, "token", place))
        likely = torch.nn.functional.softmax(scores, dim=-1)
        return int(torch.multinomial(likely, 1, generator=generator))

    def _run_after(self, token: int) -> list[int]:
        if token == self._end:
            return []
        self._matcher.consume_tokens([token])
        return self._read_forced()

    def _read_forced(self) -> list[int]:
        """The tokens that the grammar leaves no choice about, with the end-of-text."""
        if not self._runs:
            return []
        run = [] if self._matcher.is_stopped() else list(self._matcher.compute_ff_tokens())
        if run:
            self._matcher.consume_tokens(run)
        self._check()
        return [*run, self._end] if self._matcher.is_stopped() else run

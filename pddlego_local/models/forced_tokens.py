"""In-process decoding under a grammar that inserts forced tokens instead of sampling
them.

`generate` of transformers makes one forward pass for each token. Where the grammar
permits only one continuation, its tokens need no separate passes: they join the pass of
the token that was sampled before them. llguidance withholds the end of a forced run
that may still merge with the text after it, so the tokens are those that the tokenizer
would give for the text.
"""

from typing import Any

import torch
from outlines.backends.llguidance import LLGuidanceLogitsProcessor

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed


class ForcedTokens(LLGuidanceLogitsProcessor):
    """Outlines' masks for one answer, and the decoding loop under these masks for
    `generate`.

    If `runs` is False, every token is sampled from its mask. The answer is then the
    same, up to rounding: a pass over several tokens may differ in the last bits of the
    logits. Each token has a separate seed, derived from its position, so forced tokens
    use up no random numbers.
    """

    def __init__(
        self, masks: LLGuidanceLogitsProcessor, sampling: Sampling, *, runs: bool
    ) -> None:
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
        """Raises RuntimeError if llguidance failed.

        Then it permits only the end of the text, so the answer would end in the middle.
        """
        if self._matcher.is_error():
            reason = self._matcher.get_error().strip().splitlines()[0]
            raise RuntimeError(
                f"llguidance stopped in the middle of an answer: {reason}"
            )

    def beginning(self, most: int) -> list[int]:
        """Returns the forced tokens at the beginning of the answer, at most `most` of
        them.
        """
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
        """Returns the tokens of prompt and answer, shape (1, tokens).

        `generate` calls this method with the arguments that it has prepared.
        """
        unread: int | None = None  # at first the model has read nothing of the prompt
        while True:
            prepared = model.prepare_inputs_for_generation(
                input_ids,
                next_sequence_length=unread,
                is_first_iteration=unread is None,
                **inputs,
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
            drawn = torch.tensor(
                [tokens], dtype=input_ids.dtype, device=input_ids.device
            )
            input_ids = torch.cat([input_ids, drawn], dim=-1)
            if bool(stopping_criteria(input_ids, None).all()):
                return input_ids
            unread = len(tokens) if inputs.get("use_cache") else None

    def _choose(self, scores: torch.Tensor, place: int) -> int:
        """Chooses a token as `generate` does; `scores` include temperature and top_p
        already.
        """
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
        """Returns the forced tokens that come next, including a forced end of text."""
        if not self._runs:
            return []
        run: list[int] = []
        if not self._matcher.is_stopped():
            run = list(self._matcher.compute_ff_tokens())
        if run:
            self._matcher.consume_tokens(run)
        self._check()
        return [*run, self._end] if self._matcher.is_stopped() else run

"""Tokens that a grammar forces are written, not sampled: a plugin of vLLM's server.

Where a grammar leaves one way to go on, the scheduler hands the tokens of that way to the engine as
drafts, as in speculative decoding: one pass of the model reads them all, and one token is sampled
after them. An answer is the one that a server without the plugin gives, be it greedy or seeded: a
draft counts only where its mask permits no other token, and it uses up the draw that sampling it
would have cost.

Seams. llguidance tokenizes forced text as the model's tokenizer would, and keeps back what could
still become part of a longer token. Its masks follow the same rule: where text is forced they too
permit one token alone. So drafts do not change how an answer is cut into tokens.

The vocabulary is sorted so that masks of PDDL cost a third (`with_word_slices` of the package).

Nothing is forced before the end of a thought, nor in requests without a grammar. Made for one
version of vLLM, which serving/launch.py checks; the engine's first model runner only.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from llguidance import LLTokenizer
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import SamplerOutput
from vllm.v1.sample.rejection_sampler import RejectionSampler
from vllm.v1.structured_output.backend_guidance import GuidanceBackend
from vllm.v1.worker import gpu_model_runner

WORD = r"[a-zA-Z0-9_\-]+"
_build_tokenizer = GuidanceBackend._build_ll_tokenizer


def _with_word_slices(tokenizer: Any, vocab_size: int) -> Any:
    slices = [WORD, f" {WORD}", *LLTokenizer.general_slices()]
    return _build_tokenizer(tokenizer, vocab_size).with_slices(slices)


GuidanceBackend._build_ll_tokenizer = staticmethod(_with_word_slices)


class ForcingScheduler(Scheduler):  # type: ignore[misc]
    """vLLM's scheduler, whose drafts are the forced tokens and nothing else."""

    def update_draft_token_ids(self, draft_token_ids: Any) -> None:
        """Called after each step, when the grammars have taken its tokens."""
        for request_id in draft_token_ids.req_ids:
            request = self.requests.get(request_id)
            if request is not None and not request.is_finished():
                request.spec_token_ids = self._forced(request)

    def _forced(self, request: Any) -> list[int]:
        if request.is_prefill_chunk or not request.use_structured_output:
            return []
        manager = self.structured_output_manager
        if manager._get_constraint_bounds(request, ()).constraint_start > 0:  # it still thinks
            return []
        matcher = request.structured_output_request.grammar.ll_matcher
        # One token is sampled after the drafts, and must fit in too.
        room = request.max_tokens - request.num_output_tokens - 1
        return list(matcher.compute_ff_tokens()[: max(0, min(room, self.num_spec_tokens))])


class NoProposer:
    """Whom the engine asks for drafts: has none, since the scheduler puts them in."""

    def __init__(self, vllm_config: Any) -> None:
        # The engine makes its sampler after its proposer, by this name.
        gpu_model_runner.RejectionSampler = ForcedTokenSampler

    def load_model(self, model: Any) -> None:
        """There is none to load."""

    def propose(self, sampled_token_ids: Sequence[Any], *_: Any, **__: Any) -> list[list[int]]:
        return [[] for _ in sampled_token_ids]


class ForcedTokenSampler(RejectionSampler):  # type: ignore[misc]
    """Takes the drafts that are forced, and samples the one token after them.

    vLLM's own would take them too, but draws twice more from the seed of a request with drafts. On
    the CPU it cannot sample beside drafts at all: vLLM 0.32 divides by temperatures that it wrote
    to a copy.
    """

    def forward(self, metadata: Any, draft_probs: Any, logits: Any, sampling_metadata: Any) -> Any:
        """`logits` are rows of the vocabulary's size, masked: the drafts' and one more a request.

        Returns the tokens, requests × (most drafts + 1), with -1 behind each request's last.
        """
        counts = metadata.num_draft_tokens
        drafts = metadata.draft_token_ids
        ends = list(itertools.accumulate(counts))
        taken = _leading(_forced(metadata, logits), counts)
        after = metadata.bonus_logits_indices.tolist()
        first = [row - count for row, count in zip(after, counts, strict=True)]
        self._use_up_draws(logits, first, taken, sampling_metadata.generators)
        sampled = self.sampler(
            logits=logits[[row + number for row, number in zip(first, taken, strict=True)]],
            sampling_metadata=replace(sampling_metadata, max_num_logprobs=None),
            predict_bonus_token=True,
        ).sampled_token_ids

        tokens = sampled.new_full((len(counts), metadata.max_spec_len + 1), -1)
        for request, (end, count, number) in enumerate(zip(ends, counts, taken, strict=True)):
            tokens[request, :number] = drafts[end - count : end - count + number]
            tokens[request, number] = sampled[request, 0]
        return SamplerOutput(tokens, self._logprobs(metadata, logits, sampling_metadata, tokens))

    def _use_up_draws(
        self, logits: Any, first: list[int], taken: list[int], generators: dict[int, Any]
    ) -> None:
        """Draws each forced token from its request's seed, as a server without drafts does."""
        for place in range(max(taken)):
            seeded = [request for request in generators if taken[request] > place]
            if seeded:
                rows = logits[[first[request] + place for request in seeded]].float()
                own = {row: generators[request] for row, request in enumerate(seeded)}
                self.sampler.topk_topp_sampler(rows, own, None, None)

    def _logprobs(self, metadata: Any, logits: Any, sampling_metadata: Any, tokens: Any) -> Any:
        wanted = sampling_metadata.max_num_logprobs
        if wanted is None:
            return None
        drafts, after = metadata.target_logits_indices, metadata.bonus_logits_indices
        return self._get_logprobs_tensors(
            wanted, metadata, logits, logits[drafts], logits[after], tokens
        )


def _forced(metadata: Any, logits: Any) -> list[bool]:
    """For each draft, whether its mask permits it and nothing else."""
    rows, drafts = metadata.target_logits_indices, metadata.draft_token_ids.long().clamp(min=0)
    permitted = logits > -torch.inf
    forced: list[bool] = ((permitted.sum(-1) == 1)[rows] & permitted[rows, drafts]).tolist()
    return forced


def _leading(forced: Sequence[bool], counts: Sequence[int]) -> list[int]:
    """How many drafts of each request are forced, up to its first that is not."""
    rest = iter(forced)
    own = [itertools.islice(rest, count) for count in counts]
    return [len(list(itertools.takewhile(bool, list(run)))) for run in own]

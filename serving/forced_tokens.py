"""A vLLM plugin that inserts the tokens a grammar forces instead of sampling them.

Where a grammar leaves one way to go on, the scheduler hands the tokens of that way to the engine as
drafts, as in speculative decoding: one pass of the model reads them all, and one token is sampled
after them. On the CPU an answer is the one that a server without the plugin gives, greedy or
seeded: a draft counts only where its mask permits no other token, and it uses up the draw that
sampling it would have cost.

This file is frozen. It is for vLLM's CPU build alone, of the one version that serving/launch.py
checks. It replaces parts of vLLM's first model runner, which vLLM calls deprecated. The CPU build
has no other runner. A CUDA server has the second one by default, and forced tokens take it back to
the first, which draws other numbers from a seed: there a seeded answer is not the one that the
default server gives. vllm#45400, where the second runner takes drafts from the grammar itself, is
what will replace this file; it is open. Until then a CUDA server is vLLM as it is, with
vllm_patches.py.

Data parallelism is refused: vLLM would pad the requests with drafts that it then rejects.

Seams. llguidance tokenizes forced text as the model's tokenizer would, and keeps back what could
still become part of a longer token. Its masks follow the same rule: where text is forced they too
permit one token alone. So drafts do not change how an answer is cut into tokens.

Nothing is forced before the end of a thought, nor in requests without a grammar.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import SamplerOutput
from vllm.v1.sample.rejection_sampler import RejectionSampler
from vllm.v1.worker import gpu_model_runner


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
    """A stub that the engine asks for drafts and that has none: the scheduler supplies them."""

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
        counts = torch.tensor(metadata.num_draft_tokens, device=logits.device)
        requests = torch.arange(len(counts), device=logits.device)
        owner = requests.repeat_interleave(counts)
        place = torch.arange(len(owner), device=logits.device) - (counts.cumsum(0) - counts)[owner]
        drafts = torch.full((len(counts), metadata.max_spec_len), -1, device=logits.device)
        drafts[owner, place] = metadata.draft_token_ids.long()
        forced = torch.zeros_like(drafts)
        forced[owner, place] = _forced(metadata, logits).long()
        leading = forced.cumprod(1)  # up to each request's first that is not
        taken = leading.sum(1)

        first = metadata.bonus_logits_indices - counts
        self._use_up_draws(logits, first, taken, sampling_metadata.generators)
        sampled = self.sampler(
            logits=logits[first + taken],
            sampling_metadata=replace(sampling_metadata, max_num_logprobs=None),
            predict_bonus_token=True,
        ).sampled_token_ids

        tokens = sampled.new_full((len(counts), metadata.max_spec_len + 1), -1)
        tokens[:, :-1] = drafts.where(leading.bool(), -1)
        tokens[requests, taken] = sampled[:, 0]
        return SamplerOutput(tokens, self._logprobs(metadata, logits, sampling_metadata, tokens))

    def _use_up_draws(
        self, logits: Any, first: Any, taken: Any, generators: dict[int, Any]
    ) -> None:
        """Draws each forced token from its request's seed, as a server without drafts does."""
        numbers = taken.tolist() if generators else [0]
        for place in range(max(numbers)):
            seeded = [request for request in generators if numbers[request] > place]
            if seeded:
                rows = logits[first[seeded] + place].float()
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


def _forced(metadata: Any, logits: Any) -> torch.Tensor:
    """For each draft, whether its mask permits it and nothing else."""
    rows, drafts = metadata.target_logits_indices, metadata.draft_token_ids.long().clamp(min=0)
    permitted = logits > -torch.inf
    forced: torch.Tensor = (permitted.sum(-1) == 1)[rows] & permitted[rows, drafts]
    return forced

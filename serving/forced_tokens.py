"""A vLLM plugin that inserts the tokens a grammar forces instead of sampling them.

If a grammar permits only one continuation, the scheduler gives its tokens to the engine
as drafts, as in speculative decoding: one pass of the model reads them all, and one
token is sampled after them. On the CPU, a server with the plugin gives the same answers
as one without it, greedy or seeded. The reason is that a draft is accepted only if its
mask permits no other token, and that it uses up the random draw that sampling it would
have used.

This file is frozen. It supports only vLLM's CPU build, in the one version that
serving/launch.py checks. It replaces parts of vLLM's first model runner, which vLLM
calls deprecated. The CPU build has no other runner. A CUDA server uses the second
runner by default. Forced tokens make it use the first, which draws other numbers from a
seed, so a seeded answer differs from that of the default server. In vllm#45400, which
is open, the second runner takes drafts from the grammar itself; that will replace this
file. Until then, a CUDA server runs unmodified vLLM with vllm_patches.py.

Data parallelism is refused: vLLM would pad the requests with drafts that it then
rejects.

Token boundaries: llguidance tokenizes forced text as the model's tokenizer would, and
withholds text that could still become part of a longer token. Its masks follow the same
rule: where text is forced, they too permit only one token. So drafts do not change how
an answer is split into tokens.

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
    """A vLLM scheduler whose drafts are exactly the forced tokens."""

    def update_draft_token_ids(self, draft_token_ids: Any) -> None:
        """Sets the drafts; vLLM calls this after each step, once the grammars have its
        tokens.
        """
        for request_id in draft_token_ids.req_ids:
            request = self.requests.get(request_id)
            if request is not None and not request.is_finished():
                request.spec_token_ids = self._forced(request)

    def _forced(self, request: Any) -> list[int]:
        if request.is_prefill_chunk or not request.use_structured_output:
            return []
        manager = self.structured_output_manager
        bounds = manager._get_constraint_bounds(request, ())
        if bounds.constraint_start > 0:  # still in a thought
            return []
        matcher = request.structured_output_request.grammar.ll_matcher
        # One token is sampled after the drafts and must also fit into the limit.
        room = request.max_tokens - request.num_output_tokens - 1
        most = max(0, min(room, self.num_spec_tokens))
        return list(matcher.compute_ff_tokens()[:most])


class NoProposer:
    """A stub proposer that never drafts; the scheduler supplies the drafts."""

    def __init__(self, vllm_config: Any) -> None:
        # The engine creates its sampler after its proposer, from this name.
        gpu_model_runner.RejectionSampler = ForcedTokenSampler

    def load_model(self, model: Any) -> None:
        """Does nothing, because there is no draft model."""

    def propose(
        self, sampled_token_ids: Sequence[Any], *_: Any, **__: Any
    ) -> list[list[int]]:
        """Returns an empty draft for each request."""
        return [[] for _ in sampled_token_ids]


class ForcedTokenSampler(RejectionSampler):  # type: ignore[misc]
    """Accepts the drafts that are forced, and samples the one token after them.

    vLLM's own sampler would accept them too, but it draws two extra numbers from the
    seed of a request with drafts. On the CPU it cannot sample at all when there are
    drafts: vLLM 0.32 divides by temperatures that it wrote to a copy.
    """

    def forward(
        self, metadata: Any, draft_probs: Any, logits: Any, sampling_metadata: Any
    ) -> Any:
        """Returns the accepted drafts and the sampled token of each request.

        `logits` are masked and have shape (rows, vocabulary), with one row for each
        draft and one more for each request. The tokens have shape (requests, most
        drafts + 1), with -1 after each request's last token.
        """
        device = logits.device
        counts = torch.tensor(metadata.num_draft_tokens, device=device)
        requests = torch.arange(len(counts), device=device)
        owner = requests.repeat_interleave(counts)
        first_draft = counts.cumsum(0) - counts
        place = torch.arange(len(owner), device=device) - first_draft[owner]
        drafts = torch.full((len(counts), metadata.max_spec_len), -1, device=device)
        drafts[owner, place] = metadata.draft_token_ids.long()
        forced = torch.zeros_like(drafts)
        forced[owner, place] = _forced(metadata, logits).long()
        # 1 for the drafts before a request's first unforced draft
        leading = forced.cumprod(1)
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
        logprobs = self._logprobs(metadata, logits, sampling_metadata, tokens)
        return SamplerOutput(tokens, logprobs)

    def _use_up_draws(
        self, logits: Any, first: Any, taken: Any, generators: dict[int, Any]
    ) -> None:
        """Draws each forced token with its request's seed, as a server without drafts
        does.
        """
        numbers = taken.tolist() if generators else [0]
        for place in range(max(numbers)):
            seeded = [request for request in generators if numbers[request] > place]
            if seeded:
                rows = logits[first[seeded] + place].float()
                own = {row: generators[request] for row, request in enumerate(seeded)}
                self.sampler.topk_topp_sampler(rows, own, None, None)

    def _logprobs(
        self, metadata: Any, logits: Any, sampling_metadata: Any, tokens: Any
    ) -> Any:
        wanted = sampling_metadata.max_num_logprobs
        if wanted is None:
            return None
        drafts, after = metadata.target_logits_indices, metadata.bonus_logits_indices
        return self._get_logprobs_tensors(
            wanted, metadata, logits, logits[drafts], logits[after], tokens
        )


def _forced(metadata: Any, logits: Any) -> torch.Tensor:
    """Returns for each draft whether its mask permits this token and no other."""
    rows = metadata.target_logits_indices
    drafts = metadata.draft_token_ids.long().clamp(min=0)
    permitted = logits > -torch.inf
    is_single = permitted.sum(-1) == 1
    forced: torch.Tensor = is_single[rows] & permitted[rows, drafts]
    return forced

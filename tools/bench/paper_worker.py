"""In the engine of a server whose GPU is on paper (`paper_gpu`): it waits instead of computing.

vLLM imports this module by `--worker-extension-cls`. Scheduler, masks, drafts and everything that
a runner prepares for a step are vLLM's own; what a GPU would do (model, applying masks, sampling)
takes as long as it would there, and the token that comes is the next one of a script. The wait
begins where the model would be launched and ends where its logits are needed, so that masks are
filled meanwhile, as they are beside a real GPU.

The folder PAPER_GPU holds `scripts.json`, a list of {"opening": [token], "free": [token], "typed":
[token]} (a request whose prompt begins with an opening writes the script's tokens, "typed" if it
has a grammar), and `step.json`, the seconds of a step, which may change while the server runs.
"""

import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from vllm.model_executor.models.llama import LlamaForCausalLM
from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackend
from vllm.v1.outputs import SamplerOutput
from vllm.v1.structured_output import backend_guidance
from vllm.v1.worker import gpu_model_runner
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

FOLDER = Path(os.environ["PAPER_GPU"])


class Step(NamedTuple):
    """Seconds: of reading the weights, of computing a token, of reading a token of the cache."""

    weights_s: float
    token_s: float
    cached_token_s: float

    def seconds(self, tokens: int, cached: int) -> float:
        return max(self.weights_s, tokens * self.token_s) + cached * self.cached_token_s


class PaperGpu:
    """Adds nothing to the worker: the module's import does what is needed."""


_masks: dict[str, Any] = {}
"""By request, the row of its mask behind its drafts: 32 tokens a number."""
_ready_at_s = 0.0


@cache
def _step(_changed: int) -> Step:
    return Step(**json.loads((FOLDER / "step.json").read_text()))


@cache
def _scripts() -> dict[tuple[int, ...], dict[str, list[int]]]:
    scripts = json.loads((FOLDER / "scripts.json").read_text())
    return {tuple(script.pop("opening")): script for script in scripts}


def _model_forward(self: Any, input_ids: Any = None, **_: Any) -> torch.Tensor:
    global _ready_at_s
    cached = int(self.input_batch.num_computed_tokens_cpu[: self.input_batch.num_reqs].sum())
    step = _step((FOLDER / "step.json").stat().st_mtime_ns)
    _ready_at_s = time.perf_counter() + step.seconds(len(input_ids), cached)
    return torch.zeros(len(input_ids), 1)


def _keep_masks(scheduler_output: Any, grammar_output: Any, *_: Any) -> None:
    row = 0
    for request in grammar_output.structured_output_request_ids:
        row += len(scheduler_output.scheduled_spec_decode_tokens.get(request, ()))
        _masks[request] = grammar_output.grammar_bitmask[row]
        row += 1


def _sample(self: Any, logits: Any, spec_decode_metadata: Any) -> SamplerOutput:
    """All drafts, which are forced, and one token more a request."""
    count = self.input_batch.num_reqs
    counts = spec_decode_metadata.num_draft_tokens if spec_decode_metadata else [0] * count
    drafts = iter(spec_decode_metadata.draft_token_ids.tolist() if spec_decode_metadata else ())
    rows = []
    for request, number in zip(self.input_batch.req_ids, counts, strict=True):
        taken = [next(drafts) for _ in range(number)]
        rows.append([*taken, _next_token(self.requests[request], number)])
    _masks.clear()
    most = max(map(len, rows))
    padded = [row + [-1] * (most - len(row)) for row in rows]
    time.sleep(max(0.0, _ready_at_s - time.perf_counter()))
    return SamplerOutput(torch.tensor(padded, dtype=torch.int32), None)


def _next_token(state: Any, drafted: int) -> int:
    if not hasattr(state, "script"):
        prompt = tuple(state.prompt_token_ids)
        opening = next((o for o in _scripts() if prompt[: len(o)] == o), None)
        kind = "typed" if state.sampling_params.structured_outputs else "free"
        state.script = _scripts()[opening][kind] if opening else []
        state.answer_begins = len(opening or ())
    place = state.num_tokens + drafted - state.answer_begins
    token = state.script[place] if place < len(state.script) else None
    mask = _masks.get(state.req_id)
    if mask is None:
        return int(token or 0)
    if token is not None and mask[token // 32] >> (token % 32) & 1:
        return int(token)
    word = int(mask.nonzero()[0][0])  # the script does not go on: what the grammar has first
    bits = int(mask[word]) & 0xFFFFFFFF
    return word * 32 + (bits & -bits).bit_length() - 1


def _serialize(kind: Any, text: Any, *settings: bool) -> Any:
    """llguidance's own form of grammars (`one_request`) is passed on as it is."""
    own = isinstance(text, str) and text.startswith('{"grammars"')
    return text if own else _serialize_by_vllm(kind, text, *settings)


_serialize_by_vllm = backend_guidance.serialize_guidance_grammar
backend_guidance.serialize_guidance_grammar = _serialize
# No attention is computed, so that blocks of the cache can be as small as on CUDA.
CPUAttentionBackend.get_supported_kernel_block_sizes = staticmethod(lambda *_: [16])
GPUModelRunner._model_forward = _model_forward
GPUModelRunner._sample = _sample
gpu_model_runner.apply_grammar_bitmask = _keep_masks
LlamaForCausalLM.compute_logits = lambda _, hidden_states: hidden_states

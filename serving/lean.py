"""What vLLM's server does more often than answers in stages need: a plugin of it, on every device.

vLLM loads it in all of its processes (`pddlego_lean-1.dist-info` names it, serving/launch.py puts
this folder on the path). No answer changes:

- A grammar is compiled once, where it is used: vLLM compiles it in the API server too, to validate
  it. Equal grammars share what was compiled. One that does not compile fails its request.
- A continued answer's response does not repeat its prompt's tokens, which the client sent.
- An answer that comes as a whole is spelled as a whole, not token by token behind its prompt.
- The API server looks environment variables up once, as vLLM's engine does, and not for each token.
- The vocabulary is sorted so that masks of PDDL cost a third (`with_word_slices` of the package).
- Masks are filled in parallel from 8 requests on, not from 128, where there are cores for it.

Made for one version of vLLM, which serving/launch.py checks.
"""

import functools
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from typing import Any

WORD = r"[a-zA-Z0-9_\-]+"
_PARALLEL_FROM = 8  # requests
_COMPILED = 256  # grammars that are kept
_SHOWN = 32  # tokens


def register() -> None:
    """Called by vLLM in each of its processes, before anything is made."""
    from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
    from vllm.v1.structured_output import StructuredOutputManager, backend_guidance

    backend = backend_guidance.GuidanceBackend
    backend_guidance.validate_guidance_grammar = _leave_to_engine
    backend._build_ll_tokenizer = staticmethod(_with_word_slices(backend._build_ll_tokenizer))
    backend.compile_grammar = _compiled_once(backend_guidance)
    StructuredOutputManager.__init__ = _in_parallel(StructuredOutputManager.__init__)
    OpenAIServingCompletion.request_output_to_completion_response = _without_prompt(
        OpenAIServingCompletion.request_output_to_completion_response
    )
    _spell_at_once(FastIncrementalDetokenizer)
    AsyncLLM._run_output_handler = _with_cached_environment(AsyncLLM._run_output_handler)


def _leave_to_engine(sampling_params: Any, tokenizer: Any = None) -> None:
    """In place of validating a grammar in the API server."""


def _with_word_slices(build: Any) -> Any:
    def build_sliced(tokenizer: Any, vocab_size: int) -> Any:
        built = build(tokenizer, vocab_size)
        return built.with_slices([WORD, f" {WORD}", *type(built).general_slices()])

    return build_sliced


def _compiled_once(module: Any) -> Any:
    @functools.lru_cache(_COMPILED)
    def matcher(tokenizer: Any, kind: Any, text: str, *settings: bool) -> Any:
        serialized = module.serialize_guidance_grammar(kind, text, *settings)
        made = module.llguidance.LLMatcher(tokenizer, serialized, log_level=1)
        if error := made.get_error():
            raise ValueError(f"The grammar does not compile: {error}")
        return made

    def compile_grammar(self: Any, kind: Any, text: str, stop_token_ids: Any = None) -> Any:
        settings = self.disable_any_whitespace, self.disable_additional_properties
        fresh = matcher(self.ll_tokenizer, kind, text, *settings).deep_copy()
        return module.GuidanceGrammar(fresh, self.ll_tokenizer, self.vocab_size)

    return compile_grammar


def _in_parallel(make: Any) -> Any:
    def make_parallel(self: Any, vllm_config: Any) -> None:
        make(self, vllm_config)
        self.fill_bitmask_parallel_threshold = _PARALLEL_FROM
        self.fill_bitmask_parallel_batch_size = _PARALLEL_FROM // 2
        if not hasattr(self, "executor_for_fillmask"):
            cores = multiprocessing.cpu_count()
            self.executor_for_fillmask = ThreadPoolExecutor(max(1, min(cores // 2, 8)))

    return make_parallel


def _without_prompt(respond: Any) -> Any:
    @functools.wraps(respond)
    def respond_without(self: Any, *given: Any, **named: Any) -> Any:
        response = respond(self, *given, **named)
        for choice in response.choices:
            choice.prompt_token_ids = None
        return response

    return respond_without


def _spell_at_once(detokenizer: Any) -> None:
    """Where no text is looked at before the answer ends: no stream, no stop strings. Of the prompt
    the tokenizer is shown as much as the first token's spelling may depend on."""
    from tokenizers.decoders import DecodeStream
    from vllm.sampling_params import RequestOutputKind

    begin, update = detokenizer.__init__, detokenizer.update
    spell = detokenizer.get_next_output_text

    def begin_whole(self: Any, tokenizer: Any, request: Any) -> None:
        begin(self, tokenizer, request)
        whole = request.sampling_params.output_kind == RequestOutputKind.FINAL_ONLY
        self.unspelled = [] if whole and not self.stop else None
        self.before = (request.prompt_token_ids or [])[-_SHOWN:]

    def keep(self: Any, new_token_ids: list[int], stop_terminated: bool) -> Any:
        if self.unspelled is None:
            return update(self, new_token_ids, stop_terminated)
        self.token_ids.extend(new_token_ids)
        silent = stop_terminated and not self.include_stop_str_in_output
        self.unspelled.extend(new_token_ids[:-1] if silent else new_token_ids)
        return None

    def spell_whole(self: Any, finished: bool, delta: bool) -> str:
        if self.unspelled:
            stream = DecodeStream(ids=self.before, skip_special_tokens=self.skip_special_tokens)
            try:
                text = stream.step(self.tokenizer, self.unspelled)
            except Exception:  # it raises nothing more particular
                text = None
            if text is None or "\ufffd" in text:  # a character in parts: vLLM's own way
                text = "".join(map(self.decode_next, self.unspelled))
            self.output_text = text
            self.unspelled = []
        return str(spell(self, finished, delta))

    detokenizer.__init__ = begin_whole
    detokenizer.update = keep
    detokenizer.get_next_output_text = spell_whole


def _with_cached_environment(run: Any) -> Any:
    def run_cached(self: Any) -> Any:
        from vllm.envs import enable_envs_cache

        enable_envs_cache()
        return run(self)

    return run_cached

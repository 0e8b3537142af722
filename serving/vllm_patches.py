"""A vLLM plugin that removes redundant server work for answers in stages, on every
device.

vLLM loads the plugin in all of its processes: `pddlego_vllm_patches-1.dist-info`
registers it, and serving/launch.py puts this folder on the path. The plugin changes no
answer that vLLM would finish:

- A grammar is compiled only once, where it is used. vLLM also compiles it in the API
  server, to validate it. Equal grammars share the compiled form. If a grammar does not
  compile, its request fails.
- The response of a continued answer does not repeat the prompt's tokens, which the
  client sent.
- An answer that is returned in one piece is detokenized at once, not token by token
  after its prompt.
- The API server looks up environment variables once, as vLLM's engine does, not for
  each token.
- The vocabulary is divided into slices for PDDL, so that masks cost less than half
  (`word_slices`).
- One call of llguidance fills all masks of a step, in parallel on the available cores.
- A thought cannot end with a call of a tool. vLLM's parser "qwen3" takes `<tool_call>`
  for such an end, the grammar then forbids the token, and the request fails.

The plugin is made for one version of vLLM, which serving/launch.py checks.
"""

import functools
from collections.abc import Iterable
from typing import Any

_LETTER = r"[a-zA-Z0-9_\-]"
# The groups of first letters in the package's decoding/grammars/builder.py, which
# this file cannot import: vLLM's environment does not have the package.
_FIRST_LETTERS = "A-Ca-c D-Fd-f G-Ig-i J-Lj-l M-Om-o P-Rp-r S-Us-u V-Zv-z"
_COMPILED = 256  # the number of compiled grammars that are kept
_SHOWN = 32  # the number of prompt tokens that the detokenizer sees


def register() -> None:
    """Patches vLLM; vLLM calls this in each of its processes before it creates any
    objects.
    """
    import matmul_tiles
    from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
    from vllm.v1.structured_output import StructuredOutputManager, backend_guidance

    backend = backend_guidance.GuidanceBackend
    backend_guidance.validate_guidance_grammar = _leave_to_engine
    backend._build_ll_tokenizer = staticmethod(
        _with_word_slices(backend._build_ll_tokenizer)
    )
    backend.compile_grammar = _compiled_once(backend_guidance)
    manager = StructuredOutputManager
    manager.grammar_bitmask = _without_tools(_filled_at_once(manager.grammar_bitmask))
    OpenAIServingCompletion.request_output_to_completion_response = _without_prompt(
        OpenAIServingCompletion.request_output_to_completion_response
    )
    _spell_at_once(FastIncrementalDetokenizer)
    matmul_tiles.use_table()
    AsyncLLM._run_output_handler = _with_cached_environment(
        AsyncLLM._run_output_handler
    )


def _leave_to_engine(sampling_params: Any, tokenizer: Any = None) -> None:
    """Replaces vLLM's validation of grammars in the API server and does nothing."""


def _with_word_slices(build: Any) -> Any:
    def build_sliced(tokenizer: Any, vocab_size: int) -> Any:
        built = build(tokenizer, vocab_size)
        return built.with_slices(word_slices(type(built).general_slices()))

    return build_sliced


def word_slices(general: Iterable[str]) -> list[str]:
    """Returns slices of a vocabulary for PDDL: regular expressions that match its
    words.

    llguidance checks once for a whole slice whether all its tokens are permitted. The
    check compares repetitions, and also what precedes them if that is the same. So
    there is a slice for each group of first letters of names in the grammars, a slice
    for words of up to 20 letters (names have a maximum length, which longer words may
    exceed), and slices for words after a space. `general` are llguidance's own slices,
    which are made for quoted text. They are kept, except for the slice of up to 10
    characters, with which masks within names take four times as long.
    """
    names = [f"[{first}]{_LETTER}{{0,19}}" for first in _FIRST_LETTERS.split()]
    names_after_space = [f" {name}" for name in names]
    kept = [text for text in general if not text.endswith("{1,10}")]
    any_length = [f"{_LETTER}+", f" {_LETTER}+"]
    return [*names, f"{_LETTER}{{1,20}}", *names_after_space, *any_length, *kept]


def _compiled_once(module: Any) -> Any:
    @functools.lru_cache(_COMPILED)
    def matcher(tokenizer: Any, kind: Any, text: str, *settings: bool) -> Any:
        serialized = module.serialize_guidance_grammar(kind, text, *settings)
        made = module.llguidance.LLMatcher(tokenizer, serialized, log_level=1)
        if error := made.get_error():
            raise ValueError(f"The grammar does not compile: {error}")
        return made

    def compile_grammar(
        self: Any, kind: Any, text: str, stop_token_ids: Any = None
    ) -> Any:
        settings = self.disable_any_whitespace, self.disable_additional_properties
        fresh = matcher(self.ll_tokenizer, kind, text, *settings).deep_copy()
        return module.GuidanceGrammar(fresh, self.ll_tokenizer, self.vocab_size)

    return compile_grammar


def _filled_at_once(fill: Any) -> Any:
    import llguidance

    executor = functools.cache(llguidance.LLExecutor)

    def fill_at_once(self: Any, requests: Any, request_ids: Any, drafts: Any) -> Any:
        """Fills all masks at once, except in two cases that vLLM's own method handles.

        These are the first step, which has no masks yet, and a step with drafts.
        """
        masks = self._grammar_bitmask
        if masks is None or any(drafts.get(request_id) for request_id in request_ids):
            return fill(self, requests, request_ids, drafts)
        if not request_ids:
            return None
        under_grammar: list[Any] = []
        free: list[int] = []  # rows in which every token is permitted
        for row, request_id in enumerate(request_ids):
            request = requests[request_id]
            grammar = request.structured_output_request.grammar
            thinks = self._get_constraint_bounds(request, ()).constraint_start > 0
            if thinks or grammar.is_terminated():
                free.append(row)
            else:
                under_grammar.append((grammar.ll_matcher, row))
        masks[free] = -1
        if under_grammar:
            bytes_of_row = masks.shape[1] * masks.element_size()
            executor().unsafe_compute_mask_ptr(
                under_grammar, masks.data_ptr(), bytes_of_row, len(masks)
            )
        return masks[: len(request_ids)].numpy()

    return fill_at_once


def _without_tools(fill: Any) -> Any:
    import numpy

    def fill_without(self: Any, requests: Any, request_ids: Any, drafts: Any) -> Any:
        """Forbids tokens that end a thought and are content, in the rows of thoughts.

        A request has a row for each draft and one more.
        """
        masks = fill(self, requests, request_ids, drafts)
        if masks is None or self.reasoner_cls is None:
            return masks
        row = 0
        for request_id in request_ids:
            request = requests[request_id]
            drafted = drafts.get(request_id, [])
            known = [token for token in drafted if token != -1]
            bounds = self._get_constraint_bounds(request, known)
            in_thought = min(bounds.constraint_start, len(drafted) + 1)
            for token in _content_ends(self._get_reasoner(request)):
                bit = numpy.uint32(1 << token % 32)
                words = masks.view(numpy.uint32)[row : row + in_thought, token // 32]
                words &= ~bit
            row += len(drafted) + 1
        return masks

    return fill_without


def _content_ends(reasoner: Any) -> list[int]:
    """Returns the tokens that end a thought although they belong to the answer."""
    ends = getattr(reasoner, "reasoning_end_token_ids", ())
    return [token for token in ends if reasoner.find_reasoning_end([token]).implicit]


def _without_prompt(respond: Any) -> Any:
    @functools.wraps(respond)
    def respond_without(self: Any, *given: Any, **named: Any) -> Any:
        response = respond(self, *given, **named)
        for choice in response.choices:
            choice.prompt_token_ids = None
        return response

    return respond_without


def _spell_at_once(detokenizer: Any) -> None:
    """Patches the detokenizer to convert an answer at once if its text is not needed
    earlier.

    This is so without streaming and stop strings. The detokenizer sees only the end of
    the prompt, on which the text of the first token may depend.
    """
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
            stream = DecodeStream(
                ids=self.before, skip_special_tokens=self.skip_special_tokens
            )
            try:
                text = stream.step(self.tokenizer, self.unspelled)
            except Exception:  # the library raises no more specific exception
                text = None
            # Characters in parts are left to vLLM's own method.
            if text is None or "\ufffd" in text:
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

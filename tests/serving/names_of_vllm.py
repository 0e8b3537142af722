"""Run by the serving environment's Python: prints, as JSON, which of vLLM's inner names
that serving/vllm_patches.py uses or replaces are missing.
"""

import importlib
import json

NAMES = {
    "vllm.entrypoints.openai.completion.serving": [
        "OpenAIServingCompletion.request_output_to_completion_response",
    ],
    "vllm.envs": ["enable_envs_cache"],
    "vllm.sampling_params": ["RequestOutputKind.FINAL_ONLY"],
    "vllm.v1.engine.async_llm": ["AsyncLLM._run_output_handler"],
    "vllm.v1.engine.detokenizer": [
        "FastIncrementalDetokenizer.update",
        "FastIncrementalDetokenizer.get_next_output_text",
        "FastIncrementalDetokenizer.decode_next",
    ],
    "vllm.v1.structured_output": [
        "StructuredOutputManager.grammar_bitmask",
        "StructuredOutputManager._get_constraint_bounds",
        "StructuredOutputManager._get_reasoner",
        "StructuredOutputManager._fill_bitmasks",
    ],
    "vllm.v1.structured_output.backend_guidance": [
        "validate_guidance_grammar",
        "serialize_guidance_grammar",
        "llguidance.LLMatcher",
        "GuidanceBackend._build_ll_tokenizer",
        "GuidanceBackend.compile_grammar",
        "GuidanceGrammar.is_terminated",
    ],
    "vllm.parser.engine.adapters": [
        "ParserEngineReasoningAdapter.find_reasoning_end",
        "ParserEngineReasoningAdapter.reasoning_end_token_ids",
    ],
}


def is_there(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


print(
    json.dumps(
        [
            f"{module}: {name}"
            for module, names in NAMES.items()
            for name in names
            if not is_there(module, name)
        ]
    )
)

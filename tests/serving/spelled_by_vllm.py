"""Run by the serving environment's Python: texts as vLLM spells them, token by token,
and as serving/vllm_patches.py does. Reads JSON: {"tokenizer", "prompts", "answers"}, of
tokens; prints how many of the texts there are, and the pairs that differ.
"""

import json
import sys
from types import SimpleNamespace

from transformers import AutoTokenizer
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
from vllm_patches import _spell_at_once

AtOnce = type("AtOnce", (FastIncrementalDetokenizer,), {})  # as a server has it
_spell_at_once(AtOnce)
given = json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(given["tokenizer"])
sampling = SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY)
number, different = 0, []
for prompt in given["prompts"]:
    request = SimpleNamespace(
        sampling_params=sampling, prompt_token_ids=prompt, request_id="x"
    )
    for answer in given["answers"]:
        for stopped in (False, True):
            texts = []
            for kind in (FastIncrementalDetokenizer, AtOnce):
                one = kind(tokenizer, request)
                for token in answer[:-1]:
                    one.update([token], False)
                one.update(answer[-1:], stopped)
                assert one.output_token_ids == answer
                texts.append(one.get_next_output_text(True, False))
            number += 1
            different += [texts] if texts[0] != texts[1] else []
print(json.dumps([number, different]))

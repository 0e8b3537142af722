"""Makes a tokenizer of 150,000 tokens, as large models have, and a tiny Llama of random
weights.

The cost of a mask depends on the size of the vocabulary, and the random model's own
1,024 tokens would hide it. The tokens are those of Mistral's Tekken, which comes with
vLLM; nothing is downloaded.
"""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken
from transformers import (
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
from transformers.convert_slow_tokenizer import TikTokenConverter

from pddlego_local.core.errors import MissingPart

_CONTEXT_TOKENS = 8_192
_END = "<|im_end|>"
_CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>{% endif %}"
)


def tekken_file() -> Path:
    """Returns the vocabulary's file in the serving environment, or raises
    MissingPart.
    """
    serving = Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving"))
    found = sorted(
        serving.glob("lib/python*/site-packages/mistral_common/data/tekken_*.json")
    )
    if not found:
        raise MissingPart(
            f"There is no large vocabulary in {serving}; run `make serving`."
        )
    return found[-1]


class _TekkenConverter(TikTokenConverter):
    @staticmethod
    def load_tiktoken_bpe(tiktoken_url: str) -> dict[bytes, int]:
        entries = json.loads(Path(tiktoken_url).read_text(encoding="utf-8"))["vocab"]
        return {
            base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries
        }


def large_tokenizer() -> Any:
    """Returns the vocabulary as a fast Hugging Face tokenizer. Takes 4 s. Raises
    MissingPart.
    """
    file = tekken_file()
    pattern = json.loads(file.read_text(encoding="utf-8"))["config"]["pattern"]
    bpe = _TekkenConverter(vocab_file=str(file), pattern=pattern).converted()  # type: ignore[no-untyped-call]
    bpe.add_special_tokens(
        [AddedToken(word, special=True) for word in ("<|im_start|>", _END)]
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bpe,
        bos_token="<|im_start|>",
        eos_token=_END,
        pad_token=_END,
        clean_up_tokenization_spaces=False,
        model_max_length=_CONTEXT_TOKENS,
    )
    tokenizer.chat_template = _CHAT_TEMPLATE
    return tokenizer


TINY: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,  # heads of 32: the smallest for vLLM's CPU attention
    "num_key_value_heads": 1,
}
"""A shape so small that almost only the vocabulary costs time."""


def make_large_vocabulary_llama(
    folder: Path,
    seed: int = 0,
    *,
    shape: Mapping[str, Any] = TINY,
    dtype: str = "float32",
    device: str = "cpu",
) -> Path:
    """Writes a Hugging Face model folder to `folder` (the tiny one: about 100 MB) and
    returns it.

    `device` is where the weights are drawn; on another device, the same seed gives
    other weights. Raises MissingPart if the vocabulary is absent.
    """
    tokenizer = large_tokenizer()
    marks = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = LlamaConfig(
        **shape,
        vocab_size=len(tokenizer),
        max_position_embeddings=_CONTEXT_TOKENS,
        # if tied, the model would repeat its last token for ever
        tie_word_embeddings=False,
        dtype=dtype,
        **marks,
    )
    with torch.random.fork_rng(devices=[]), torch.device(device):
        torch.manual_seed(seed)
        model = LlamaForCausalLM._from_config(config, dtype=getattr(torch, dtype))  # type: ignore[no-untyped-call]
    model.generation_config = GenerationConfig(**marks)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

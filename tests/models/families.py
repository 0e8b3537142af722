"""Model folders of random weights in the shape, and with the tokenizer, of real families.

A tokenizer and its chat template are the family's own where they are at hand (PDDLEGO_DATA), else
one of ours, filled up to the same size.
"""

import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pddlego_local.models.random import make_random_llama
from pddlego_local.models.thinking import Thinking
from tools.bench.large_vocabulary import TINY

ROOT = Path(__file__).parents[2]
TOKENIZERS = Path(os.environ.get("PDDLEGO_DATA", ROOT.parent / "shared" / "data")) / "tokenizers"
_CHAT = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
)
_MAY_THINK = "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"


@dataclass(frozen=True)
class Family:
    """`architecture` is what transformers calls it; `opening` what a stand-in for its chat template
    opens an answer with; `served_in` a data type that vLLM's CPU build has kernels for."""

    architecture: str
    vocabulary: int
    thinking: Thinking | None = None
    opening: str = ""
    served_in: Literal["float32", "bfloat16"] = "float32"
    shape: Mapping[str, Any] = field(default_factory=lambda: {"head_dim": 32})


_LATENT_ATTENTION: Mapping[str, Any] = {
    "num_key_value_heads": 2,
    "q_lora_rank": 32,
    "kv_lora_rank": 512,  # with 64 it is the one size of vLLM's CPU kernel
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 64,
    "v_head_dim": 32,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "topk_method": "noaux_tc",  # vLLM asks for these two, transformers knows no other
    "scoring_func": "sigmoid",
}
FAMILIES: Mapping[str, Family] = {
    "smollm2": Family("llama", 49_152),
    "qwen3": Family("qwen3", 151_936, Thinking(), _MAY_THINK),
    "llama3_1": Family("llama", 128_256),
    "deepseek_v3": Family("deepseek_v3", 129_280, served_in="bfloat16", shape=_LATENT_ATTENTION),
    "olmo3": Family("olmo3", 100_278, Thinking(switch=None), "<think>"),
}
MAY_ANSWER_AT_ONCE = [
    name for name, family in FAMILIES.items() if not family.thinking or family.thinking.switch
]


def make_family(out: Path, name: str) -> Path:
    """Writes two narrow layers of random weights, and the tokenizer, to `out` and returns it."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    family = FAMILIES[name]
    build: Any = AutoModelForCausalLM
    configure: Any = AutoConfig.for_model
    tokenizer = _own(out, name) or _stand_in(out, family)
    pad = tokenizer.pad_token_id
    ends = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.eos_token_id if pad is None else pad,
    }
    config = configure(
        family.architecture,
        **{**TINY, "vocab_size": max(family.vocabulary, len(tokenizer)), **family.shape},
        **ends,
        bos_token_id=None,
        tie_word_embeddings=False,  # tied, it would repeat its last token for ever
        max_position_embeddings=16_384,
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = build.from_config(config, dtype=torch.float32)
        if family.thinking:  # or it would think for ever
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(family.thinking.end)] *= 300
    model.generation_config = GenerationConfig(**ends)  # type: ignore[no-untyped-call]
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def _own(out: Path, name: str) -> Any:
    """The family's own, chat template included; None where it is not at hand."""
    from transformers import AutoTokenizer

    archive = TOKENIZERS / f"{name}.tar.xz"
    if not archive.is_file():
        return None
    with tarfile.open(archive) as files:
        files.extractall(out / "own", filter="data")
    (file,) = (out / "own").rglob("tokenizer.json")
    return AutoTokenizer.from_pretrained(file.parent)


def _stand_in(out: Path, family: Family) -> Any:
    """Ours, filled up to the family's size with tokens that no text is made of."""
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(make_random_llama(out / "random", seed=0))
    known = json.loads(tokenizer.backend_tokenizer.to_str())
    fill = range(len(tokenizer), family.vocabulary)
    known["model"]["vocab"] |= {f"unused{number}": number for number in fill}
    tokenizer._tokenizer = Tokenizer.from_str(json.dumps(known))
    assert len(tokenizer) == family.vocabulary
    tokenizer.chat_template = _CHAT + family.opening + "{% endif %}"
    return tokenizer

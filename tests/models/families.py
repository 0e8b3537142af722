"""Model folders of random weights in the shape, and with the tokenizer, of real
families.

A tokenizer and its chat template are the family's own where they are at hand
(PDDLEGO_DATA), else one of ours that cuts text in the same way, filled up to the same
size.
"""

import os
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.models.thinking import Thinking
from tests.models import family_tokenizers as stand_in
from tools.bench.large_vocabulary import TINY

ROOT = Path(__file__).parents[2]
TOKENIZERS = (
    Path(os.environ.get("PDDLEGO_DATA", ROOT.parent / "shared" / "data")) / "tokenizers"
)
_CHAT = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
)
_MAY_THINK = "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
_TOLD = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Family:
    """`architecture` is what transformers calls it. `opening` is what a stand-in for
    its chat template opens an answer with, `template` a whole one. `also_ends` is a
    token that ends an answer as the tokenizer's own does.
    """

    architecture: str
    vocabulary: int
    thinking: Thinking | None = None
    opening: str = ""
    shape: Mapping[str, Any] = field(default_factory=lambda: {"head_dim": 32})
    template: str = ""
    spelled: Callable[[Path, int], Any] = stand_in.of_bytes
    also_ends: str = ""


FAMILIES: Mapping[str, Family] = {
    "smollm2": Family("llama", 49_152),
    "qwen3": Family("qwen3", 151_936, Thinking(), _MAY_THINK),
    "llama3_1": Family("llama", 128_256),
    "deepseek_v3": Family("deepseek_v3", 129_280, shape=_TOLD["latent_attention"]),
    "olmo3": Family("olmo3", 100_278, Thinking(switch=None), "<think>"),
    "gemma3": Family(
        # the part that writes; pictures need packages that the CPU build is without
        "gemma3_text",
        262_208,
        shape={**_TOLD["windowed"], "query_pre_attn_scalar": 32},
        template=_TOLD["gemma3"],
        spelled=stand_in.of_sentence_pieces,
        also_ends="<end_of_turn>",
    ),
}
MAY_ANSWER_AT_ONCE = [
    name
    for name, family in FAMILIES.items()
    if not family.thinking or family.thinking.switch
]


def make_family(out: Path, name: str) -> Path:
    """Writes two narrow layers of random weights, and the tokenizer, to `out` and
    returns it.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    family = FAMILIES[name]
    build: Any = AutoModelForCausalLM
    configure: Any = AutoConfig.for_model
    tokenizer = _own(out, name)
    if tokenizer is None:
        tokenizer = family.spelled(out, family.vocabulary)
        tokenizer.chat_template = _CHAT + family.opening + "{% endif %}"
    tokenizer.chat_template = family.template or tokenizer.chat_template
    pad = tokenizer.pad_token_id
    ends = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.eos_token_id if pad is None else pad,
    }
    shape = {
        **TINY,
        "vocab_size": max(family.vocabulary, len(tokenizer)),
        "max_position_embeddings": 16_384,
        "tie_word_embeddings": False,  # tied, it would repeat its last token for ever
        "bos_token_id": None,
        **ends,
    }
    config = configure(family.architecture, **{**shape, **family.shape})
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = build.from_config(config, dtype=torch.float32)
        if family.thinking:  # or it would think for ever
            model.lm_head.weight[
                tokenizer.convert_tokens_to_ids(family.thinking.end)
            ] *= 300
    if family.also_ends:
        other = tokenizer.convert_tokens_to_ids(family.also_ends)
        ends["eos_token_id"] = [ends["eos_token_id"], other]
    model.generation_config = GenerationConfig(**ends)  # type: ignore[no-untyped-call]
    model.save_pretrained(out, max_shard_size="50MB")
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
    tokenizer: Any = AutoTokenizer.from_pretrained(file.parent)
    return tokenizer

"""A Llama with random weights, made on demand: a test of the decoding ladder and a
lower bound.

It knows no PDDL: whatever is right in its answers comes from the grammar. The weights
are written as an ordinary Hugging Face model folder, so the same weights run in process
and behind vLLM.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from pddlego_local.core.resources import table
from pddlego_local.models.cache import made_once
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.models.vllm.model import VllmModel

_MADE_OF: dict[str, Any] = table(__file__)
CONTEXT_TOKENS: int = _MADE_OF["context_tokens"]


def make_random_llama(folder: Path, seed: int) -> Path:
    """Writes config, weights, tokenizer and chat template to `folder` and returns it.

    The same seed gives the same files. The model has about 0.6 million parameters in
    float32 and a byte-level BPE vocabulary of 1,024 tokens, including the `<think>`
    markers. The vocabulary is trained on a page of the project's own text
    (random.yaml).
    """
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    ends = {
        f"{end}_token_id": getattr(tokenizer, f"{end}_token_id")
        for end in ("bos", "eos", "pad")
    }
    config = LlamaConfig(
        **_MADE_OF["shape"],
        vocab_size=len(tokenizer),
        max_position_embeddings=CONTEXT_TOKENS,
        # with tied embeddings it would repeat its last token forever
        tie_word_embeddings=False,
        dtype="float32",
        **ends,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(**ends)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    from tokenizers import (
        AddedToken,
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_MADE_OF["vocabulary"] - 2,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        min_frequency=1,
        show_progress=False,
    )
    bpe.train_from_iterator(_MADE_OF["corpus"], trainer)
    # As in Qwen3, the markers are not "special": the server's reasoning parser must see
    # them.
    bpe.add_tokens(
        [AddedToken(marker, special=False) for marker in ("<think>", "</think>")]
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bpe,
        bos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT_TOKENS,
    )
    tokenizer.chat_template = _MADE_OF["chat_template"]
    return tokenizer


def cached_random_llama(seed: int) -> Path:
    """Returns the folder of `make_random_llama` in the user's cache and makes it if
    needed.
    """
    recipe = json.dumps(list(_MADE_OF.values()))
    version = hashlib.sha256(recipe.encode()).hexdigest()[:8]
    name = f"random-llama-{version}-{seed}"
    return made_once(name, lambda made: make_random_llama(made, seed))


def RandomModel(
    *, seed: int = 0, context_tokens: int = CONTEXT_TOKENS, engine: Engine | None = None
) -> TransformersModel:
    """Returns the random Llama of `seed`, run in process."""
    return TransformersModel(
        weights=str(cached_random_llama(seed)),
        context_tokens=context_tokens,
        dtype="float32",
        engine=engine or Engine(device="cpu"),
    )


def RandomVllmModel(*, seed: int = 0, **settings: Any) -> VllmModel:
    """Returns the random Llama of `seed`, run behind vLLM; `settings` go to
    `VllmModel`.
    """
    return VllmModel(weights=str(cached_random_llama(seed)), **settings)

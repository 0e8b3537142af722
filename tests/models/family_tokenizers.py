"""Stand-ins for tokenizers that are not at hand: how a family cuts text, filled up to
its size.

What they have in common with the family's own is how blanks, digits and bytes outside
the vocabulary are spelled, which tokens are control tokens, and the class that its
files name.
"""

import json
from pathlib import Path
from typing import Any

from pddlego_local.models.random import _MADE_OF, make_random_llama
from tools.bench.large_vocabulary import large_tokenizer

_LEARNED = 1_000
_GEMMA3 = 262_145  # entries; its smallest model has one fewer, the larger ones 63 more


def of_bytes(out: Path, size: int) -> Any:
    """The random model's, of bytes, with markers of a thought, and filled up with
    tokens that no text is made of.
    """
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(
        make_random_llama(out / "random", seed=0)
    )
    known = json.loads(tokenizer.backend_tokenizer.to_str())
    known["model"]["vocab"] |= {
        f"unused{number}": number for number in range(len(tokenizer), size)
    }
    tokenizer._tokenizer = Tokenizer.from_str(json.dumps(known))
    return tokenizer


def of_sentence_pieces(out: Path, size: int) -> Any:
    """As Gemma 3's: blanks are "▁", and other bytes have tokens of their own."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    from transformers import GemmaTokenizer

    pieces = Tokenizer(models.BPE())
    pieces.normalizer = normalizers.Replace(" ", "▁")
    pieces.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trainer = trainers.BpeTrainer(vocab_size=_LEARNED, show_progress=False)
    pieces.train_from_iterator(_MADE_OF["corpus"], trainer)
    learned = json.loads(pieces.to_str())["model"]
    entries = [
        "<pad>",
        "<eos>",
        "<bos>",
        "<unk>",
        "<mask>",
        "<start_of_turn>",
        "<end_of_turn>",
    ]
    entries += [f"<0x{byte:02X}>" for byte in range(256)]
    entries += [piece for piece in learned["vocab"] if piece not in entries]
    entries += [f"<unused{number}>" for number in range(_GEMMA3 - 1 - len(entries))]
    merges: Any = [tuple(merge) for merge in learned["merges"]]
    tokenizer: Any = GemmaTokenizer(
        vocab={entry: number for number, entry in enumerate(entries)},
        merges=merges,
        add_bos_token=True,
    )
    tokenizer.add_special_tokens(
        {
            "additional_special_tokens": [
                "<start_of_turn>",
                "<end_of_turn>",
                "<image_soft_token>",
            ]
        }
    )
    return tokenizer


def of_tekken(out: Path, size: int) -> Any:
    """Mistral's own vocabulary, which comes with vLLM, without its control tokens'
    numbers.
    """
    tokenizer = large_tokenizer()
    marks = ["<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    tokenizer.bos_token, tokenizer.eos_token = marks[:2]
    return tokenizer

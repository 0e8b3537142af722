"""The folder of a model without weights: vLLM draws them itself (--load-format dummy).

The tokenizer is `nano`'s, whose tokens the recorded prompts have, and many more words:
a mask is as long as the vocabulary, and as costly as its words are alike. No text is
divided into the further words; a model draws them.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from itertools import islice, product
from pathlib import Path
from typing import Any

NANO = Path(__file__).parents[3] / "weights" / "nano"
_COPIED = ("tokenizer_config.json", "chat_template.jinja")
_CONSONANTS, _VOWELS = "bcdfghklmnprstvwz", "aeiou"


def make(folder: Path, shape: Mapping[str, int]) -> Path:
    """Writes the folder of a Llama of this shape. `shape` has the names of its
    config.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in _COPIED:
        shutil.copyfile(NANO / name, folder / name)
    of_nano = json.loads((NANO / "config.json").read_text(encoding="utf-8"))
    tokenizer = json.loads((NANO / "tokenizer.json").read_text(encoding="utf-8"))
    words: dict[str, int] = tokenizer["model"]["vocab"]
    number = max(words.values()) + 1
    new = (word for word in _words() if word not in words)
    for place, word in enumerate(islice(new, shape["vocab_size"] - number), number):
        words[word] = place
    config: dict[str, Any] = {
        key: of_nano[key]
        for key in ("architectures", "model_type", "hidden_act", "rms_norm_eps")
    }
    config |= {"eos_token_id": of_nano["eos_token_id"], "bos_token_id": None}
    config |= {"tie_word_embeddings": False, "dtype": "bfloat16", **shape}
    for name, content in (("config.json", config), ("tokenizer.json", tokenizer)):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _words() -> Iterator[str]:
    """Yields invented words, also capitalized, and after a space (written Ġ)."""
    syllables = [a + b for a, b in product(_CONSONANTS, _VOWELS)]
    for count in (2, 3, 4):
        for parts in product(syllables, repeat=count):
            word = "".join(parts)
            yield from (word, f"Ġ{word}", word.capitalize(), f"Ġ{word.capitalize()}")

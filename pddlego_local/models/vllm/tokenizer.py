"""Whether a server reads and writes text as the model's own tokenizer does, and that it may.

The transformers of vLLM's environment (before 5.20) puts a tokenizer of its own in the place of one
whose class is LlamaTokenizerFast, and blanks are lost (transformers#45488): a model with Llama 3's
vocabulary under that class, such as DeepSeek's distills, would read and write text without blanks.
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.models.cache import made_once
from pddlego_local.models.seam import LocalTokenizer
from pddlego_local.models.vllm.connection import Connection

PROBE = "Go  to (at room-1 12)\n\n\t[x] {y} naïve → 漢字 🙂"
REPLACED = ("LlamaTokenizer", "LlamaTokenizerFast")
_FILES = ("tokenizer.json", "special_tokens_map.json", "chat_template.jinja")


def read_as_it_is(folder: Path) -> Path | None:
    """A folder with the tokenizer of a model's folder under the class that reads tokenizer.json as
    it is; None where the model's own class does."""
    config = folder / "tokenizer_config.json"
    if not config.is_file() or not (folder / "tokenizer.json").is_file():
        return None
    settings = object_of(config)
    if settings.get("tokenizer_class") not in REPLACED:
        return None
    text = json.dumps({**settings, "tokenizer_class": "PreTrainedTokenizerFast"}, indent=2)
    files = [folder / name for name in _FILES if (folder / name).is_file()]
    digest = hashlib.sha256(text.encode() + b"".join(file.read_bytes() for file in files))

    def make(made: Path) -> None:
        (made / config.name).write_text(text, encoding="utf-8")
        for file in files:
            shutil.copyfile(file, made / file.name)

    return made_once(f"tokenizer-{digest.hexdigest()[:16]}", make)


def check_tokenizer(connection: Connection, own: LocalTokenizer) -> None:
    """Raises ConfigError if the server spells a text otherwise, ModelFault if it fails."""
    tokens = own.encode(PROBE)
    pairs: list[tuple[str, Any, Any]] = [
        ("reads", connection.encode(PROBE), tokens),
        ("writes", connection.decode(tokens), own.decode(tokens)),
    ]
    for verb, said, meant in pairs:
        if said != meant:
            raise ConfigError(
                f"vLLM {verb} text otherwise than the tokenizer.json of {own.name}: {said!r:.100} "
                f"in place of {meant!r:.100}. Its transformers may replace the tokenizer: set "
                'tokenizer_class to "PreTrainedTokenizerFast" in the tokenizer_config.json.'
            )

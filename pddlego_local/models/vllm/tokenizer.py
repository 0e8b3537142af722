"""Whether a server reads and writes text as the model's own tokenizer does, and that it may.

The transformers of vLLM's environment (before 5.20) puts a tokenizer of its own in the place of one
whose class is LlamaTokenizerFast, and blanks are lost (transformers#45488): a model with Llama 3's
vocabulary under that class, such as DeepSeek's distills, would read and write text without blanks.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.models.added_tokens import CONFIG, config_without, made_ordinary, spelling
from pddlego_local.models.cache import made_once
from pddlego_local.models.seam import LocalTokenizer
from pddlego_local.models.vllm.connection import Connection

PROBE = "Go  to (at room-1 12)\n\n\t[x] {y} naïve → 漢字 🙂 (:goal (at ?x - location))"
REPLACED = ("LlamaTokenizer", "LlamaTokenizerFast")
_TOKENS, _TEMPLATE = "special_tokens_map.json", "chat_template.jinja"


def read_as_it_is(folder: Path) -> Path | None:
    """A folder with the tokenizer of a model's folder under the class that reads tokenizer.json as
    it is, and with ordinary tokens alone for ordinary text (`added_tokens`); None where the model's
    own folder does."""
    config, own = folder / CONFIG, folder / "tokenizer.json"
    if not config.is_file() or not own.is_file():
        return None
    settings, before = object_of(config), own.read_text(encoding="utf-8")
    tokens = spelling(before, folder)
    if settings.get("tokenizer_class") not in REPLACED and not tokens:
        return None
    settings = {**config_without(tokens, settings), "tokenizer_class": "PreTrainedTokenizerFast"}
    texts = {CONFIG: json.dumps(settings, indent=2), own.name: made_ordinary(before, folder)}
    if (folder / _TOKENS).is_file():
        texts[_TOKENS] = json.dumps(config_without(tokens, object_of(folder / _TOKENS)), indent=2)
    if (folder / _TEMPLATE).is_file():
        texts[_TEMPLATE] = (folder / _TEMPLATE).read_text(encoding="utf-8")
    digest = hashlib.sha256("\0".join(texts.values()).encode())

    def make(made: Path) -> None:
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8")

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

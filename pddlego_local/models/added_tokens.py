"""Tokens that were added to a tokenizer and that spell ordinary text, such as "(:goal".

A grammar's text is forced or masked by its characters, and tokenizers cut text at added tokens
first. One that is special may not be written under a grammar, so that forced text which holds its
characters is cut into a token that the engine refuses, and the answer ends there. One that strips
takes the blanks beside it, which are lost. Such tokens are made ordinary: one that the vocabulary
has is a token like any other, and the others are never read or written. Control tokens, such as
"<|im_end|>" or "[INST]", stay as they are.
"""

import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Any

from pddlego_local.core.formats import object_of
from pddlego_local.models.cache import made_once

log = logging.getLogger(__name__)

CONFIG = "tokenizer_config.json"
_TOKENS, _TEMPLATE = "special_tokens_map.json", "chat_template.jinja"
_CONTROL = re.compile(r"\s*([<\[◁|].*[>\]▷|])?\s*", re.DOTALL)
_LISTS = ("extra_special_tokens", "additional_special_tokens")


def spelling(tokenizer: str, folder: Path) -> list[str]:
    """The added tokens of a tokenizer, given as JSON, that spell ordinary text and are special or
    strip. `folder` is the model's: the tokens that end its answers are none of these. Nor is a
    token with a line break, since no forced text has one: a model may know it from its prompts."""
    path = folder / CONFIG
    config = object_of(path) if path.is_file() else {}
    named = [value for key, value in config.items() if key.endswith("_token")]
    kept = {value.get("content") if isinstance(value, dict) else value for value in named}
    return [
        token["content"]
        for token in json.loads(tokenizer).get("added_tokens", [])
        if (token["special"] or token["lstrip"] or token["rstrip"])
        and token["content"] not in kept
        and not _CONTROL.fullmatch(token["content"])
        and "\n" not in token["content"]
    ]


def made_ordinary(tokenizer: str, folder: Path) -> str:
    """The tokenizer without them, as JSON; every other token keeps its number."""
    tokens = spelling(tokenizer, folder)
    if not tokens:
        return tokenizer
    log.warning(
        "%s: its added tokens %s spell ordinary text, which a grammar cannot force as one token: "
        "they are read and written as the other tokens of that text",
        folder,
        ", ".join(map(repr, tokens)),
    )
    content = json.loads(tokenizer)
    vocabulary = content["model"]["vocab"]
    known = vocabulary if isinstance(vocabulary, dict) else {piece for piece, _ in vocabulary}
    added = []
    for token in content["added_tokens"]:
        if token["content"] not in tokens:
            added.append(token)
        elif token["content"] not in known:  # without it, later ones would move up
            plain = {"special": True, "lstrip": False, "rstrip": False}
            added.append({**token, **plain, "content": f"<|never written {token['id']}|>"})
    return json.dumps({**content, "added_tokens": added}, ensure_ascii=False)


def config_without(tokens: list[str], config: dict[str, Any]) -> dict[str, Any]:
    """tokenizer_config.json without what would add these tokens again."""
    kept = {key: value for key, value in config.items() if key != "added_tokens_decoder"}
    for key in _LISTS:
        if isinstance(kept.get(key), list):
            kept[key] = [token for token in kept[key] if token not in tokens]
    return kept


def ordinary_tokenizer(folder: Path) -> Path | None:
    """A folder with the tokenizer of a model's folder in which these tokens are ordinary, for a
    server; None where there are none."""
    files = [folder / name for name in (CONFIG, "tokenizer.json", _TOKENS, _TEMPLATE)]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    own = texts.get("tokenizer.json")
    if own is None or CONFIG not in texts or not (tokens := spelling(own, folder)):
        return None
    texts["tokenizer.json"] = made_ordinary(own, folder)
    # The class that reads tokenizer.json as it is, whatever the model's own would do.
    for name, added in ((CONFIG, {"tokenizer_class": "PreTrainedTokenizerFast"}), (_TOKENS, {})):
        if name in texts:
            settings = config_without(tokens, object_of(folder / name)) | added
            texts[name] = json.dumps(settings, indent=2)
    digest = hashlib.sha256("\0".join(texts.values()).encode())

    def make(made: Path) -> None:
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8")

    return made_once(f"tokenizer-{digest.hexdigest()[:16]}", make)

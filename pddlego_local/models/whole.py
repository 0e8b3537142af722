"""Whether a model's folder holds what a model needs, as far as is seen without loading it."""

from pathlib import Path

import pydantic
from safetensors import SafetensorError, safe_open

from pddlego_local.core.formats import object_of

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_OBJECTS = (CONFIG, "tokenizer_config.json", "generation_config.json")
_SHARDS = pydantic.TypeAdapter(dict[str, str])


def flaw(folder: Path) -> str:
    """What is wrong, as "has no config.json"; "" if nothing is."""
    try:
        return _of_texts(folder) or _of_weights(folder)
    except OSError as error:
        return f"cannot be read ({error})"


def brings_code(folder: Path) -> str:
    """The file that names Python code of the folder's own, "" if none does."""
    for name in (CONFIG, "tokenizer_config.json"):
        path = folder / name
        if path.is_file() and object_of(path).get("auto_map"):
            return name
    return ""


def _of_texts(folder: Path) -> str:
    if not (folder / CONFIG).is_file():
        return f"has no {CONFIG}"
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        return "has no tokenizer (tokenizer.json)"
    for name in _OBJECTS:
        if (folder / name).is_file():
            try:
                object_of(folder / name)
            except ValueError as error:
                return f"has a {name} that cannot be read ({error})"
    return ""


def _of_weights(folder: Path) -> str:
    if (folder / INDEX).is_file():
        try:
            names = {*_SHARDS.validate_python(object_of(folder / INDEX).get("weight_map")).values()}
        except ValueError:
            return f"has no readable {INDEX}"
        for name in sorted(names):
            if Path(name).name != name or not (folder / name).is_file():
                return f"has no {name}"
        return next((cut for name in sorted(names) if (cut := _cut(folder / name))), "")
    files = sorted(folder.glob("*.safetensors"))
    if not files and not any(folder.glob("*.bin")):
        return "has no weights (*.safetensors)"
    return next((cut for file in files if (cut := _cut(file))), "")


def _cut(file: Path) -> str:
    """Reads the head of a file, which says how long it must be."""
    try:
        with safe_open(file, "np"):
            return ""
    except SafetensorError as error:
        return f"has weights that are cut or damaged ({file.name}: {error})"

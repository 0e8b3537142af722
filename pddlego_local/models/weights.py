"""Where a model's files are, whether they are whole, and what identifies them. Uses no network.

Weights are named by a folder, by a GGUF file, by the name of weights that come with this package
("nano"), or by a Hugging Face name that is already in the local cache. Loading code gets the
folder, so nothing has a reason to ask a hub; only `download: true` reaches for one.
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
from pddlego_local.models.gguf import hash_of, is_gguf, made_of_wheel, plain_folder

_EDGE_BYTES = 1 << 20
_OF_OURS = ("nano", "nano_early", "nano_described", "nano_edit")
_CONFIG = "config.json"
_INDEX = "model.safetensors.index.json"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_SHARDS = pydantic.TypeAdapter(dict[str, str])
# The same weights once more, in forms that neither vLLM nor transformers is given here.
_NOT_NEEDED = ["original/*", "metal/*", "onnx/*", "consolidated*", "*.pth", "*.gguf"]


def locate(weights: str, revision: str | None = None, download: bool = False) -> Path:
    """The folder that holds the model's files, checked for completeness; of a GGUF file it is made.

    Raises ConfigError for a folder that is absent or lacks something, and for a GGUF file that
    cannot be read; MissingPart for a name that is not (wholly) in the local cache, and for packages
    that a GGUF file takes.
    """
    if is_gguf(weights):
        return plain_folder(_path(weights))
    folder = shipped(weights) or _path(weights)
    if os.path.isdir(folder):  # noqa: PTH112 - nor does this
        if wrong := flaw(folder):
            raise ConfigError(
                f"model.weights: the folder {folder} {wrong}; point it at a whole "
                "Hugging Face model folder (config.json, tokenizer, *.safetensors)."
            )
        return folder
    if not _is_hub_name(weights):
        raise ConfigError(
            f"model.weights: there is no folder {folder}; give a model folder or a Hugging Face "
            "name such as Qwen/Qwen3-8B, or a GGUF file."
        )
    if weights in _OF_OURS:
        raise MissingPart(
            f"The weights {weights} are not in {resources.folder('weights')}; train them with "
            f"`make {weights}` and give the folder: model.weights=runs/{weights}/model."
        )
    try:
        return _download(weights, revision) if download else _cached(weights, revision)
    except MissingPart:
        if not revision and (folder_of_wheel := made_of_wheel(weights)):
            return folder_of_wheel
        raise


def _path(weights: str) -> Path:
    return Path(os.path.expanduser(weights))  # noqa: PTH111 - it raises for no name


def shipped(weights: str) -> Path | None:
    """The folder of weights that come with this package, by their name; None if there is none."""
    if not re.fullmatch(r"[a-z0-9_]{1,80}", weights):
        return None
    folder = resources.folder("weights") / weights
    return folder if folder.is_dir() else None


def folder_named(weights: str) -> Path:
    """The folder of weights that come with this package, else the path; it need not be there."""
    return shipped(weights) or _path(weights)


def in_the_box() -> list[str]:
    """The names of the weights that come with this package and are here."""
    return [name for name in _OF_OURS if shipped(name)]


def flaw(folder: Path) -> str:
    """What a folder lacks of what a model needs, as far as is seen without loading it, as "has no
    config.json"; "" if nothing is."""
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
    files = sorted(folder.glob("*.safetensors"))
    if (folder / _INDEX).is_file():
        try:
            names = {
                *_SHARDS.validate_python(object_of(folder / _INDEX).get("weight_map")).values()
            }
        except ValueError:
            yield f"has no readable {_INDEX}"
            return
        for name in sorted(names):
            if Path(name).name != name or not (folder / name).is_file():
                yield f"has no {name}"
        files = [folder / name for name in sorted(names)]
    elif not files and not any(folder.glob("*.bin")):
        yield "has no weights (*.safetensors)"
    for file in files:
        try:
            with safe_open(file, "np"):  # reads the head, which says how long it must be
                pass
        except SafetensorError as error:
            yield f"has weights that are cut or damaged ({file.name}: {error})"


def training_maps(weights: str) -> frozenset[str]:
    """The maps of the games that these weights learned from (`core.protocols.Mapped.map`), as the
    list beside them says: one hash a line, lines of comment begin with "#". Empty where there is
    no list."""
    file = _training_maps(weights)
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file else []
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _training_maps(weights: str) -> Path | None:
    file = folder_named(weights) / TRAINING_MAPS
    return file if file.is_file() else None


def fetch_command(name: str, revision: str | None = None) -> str:
    return f"make fetch MODEL={name}" + (f" REVISION={revision}" if revision else "")


def cache_folder() -> Path:
    """Where the hub's files are kept on this machine."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def on_hub(weights: str) -> bool:
    """Whether this is the name of a repository of the hub, with its owner."""
    return weights.count("/") == 1 and _is_hub_name(weights)


def _is_hub_name(weights: str) -> bool:
    elsewhere = weights.startswith(("/", ".", "~")) or is_gguf(weights)
    return weights.count("/") <= 1 and not elsewhere


def _cached(name: str, revision: str | None) -> Path:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    fetch = fetch_command(name, revision)
    try:
        config = try_to_load_from_cache(name, _CONFIG, revision=revision)
    except HFValidationError as error:
        raise ConfigError(f"model.weights: {name!r} is not a Hugging Face name: {error}") from None
    if not isinstance(config, str):
        raise MissingPart(
            f"The weights {name} are not on this machine; fetch them with `{fetch}` or point "
            "model.weights at a folder that holds them."
        )
    folder = Path(config).parent
    if wrong := flaw(folder):
        raise MissingPart(
            f"The local copy of {name} is not whole: it {wrong}; complete it with `{fetch}`."
        )
    return folder


def _download(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, ignore_patterns=_NOT_NEEDED))
    except Exception as error:  # every cause (network, licence, name) has the same remedy
        raise MissingPart(
            f"Could not download {name} ({type(error).__name__}: {error}); check the name, the "
            "network and the licence, or fetch it elsewhere and give the folder."
        ) from error


def identity_of(weights: str, revision: str | None, folder: Path | None) -> dict[str, str]:
    """What a record says of the weights: the name; of a `folder`, a snapshot's commit, the hash of
    a GGUF file, or a fingerprint; and the hash of the list of their training's maps, if any."""
    maps = _training_maps(weights)
    identity = {"weights": weights} | ({"training_maps_sha256": sha256_of(maps)} if maps else {})
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
    """SHA-256 over names, sizes, and the first and last MiB of the files that make the model.

    A 140-GB model is told apart in a moment; a change deep inside one shard that keeps its size
    would go unnoticed.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith(".") or path.suffix == ".md":
            continue
        if path.name == TRAINING_MAPS:  # what is known of the model, not what makes it
            continue
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE_BYTES))
            if size > 2 * _EDGE_BYTES:
                file.seek(-_EDGE_BYTES, 2)
            digest.update(file.read(_EDGE_BYTES))
    return digest.hexdigest()[:16]

"""Model metadata beside the weights: the card (README.md) and the list of training
maps.

The card begins with YAML for programs (front matter).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic
import yaml

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.cache import sha256_of

TRAINING_MAPS = "training_maps.txt"
_TEXTS = pydantic.TypeAdapter(dict[str, tuple[int, int]])


def front_matter(folder: Path) -> Mapping[str, Any]:
    """Returns the YAML at the top of the card; empty if there is no readable card."""
    from huggingface_hub import metadata_load

    try:
        return metadata_load(folder / "README.md") or {}
    except (OSError, ValueError, yaml.YAMLError):
        return {}


def _training(folder: Path) -> Mapping[str, Any]:
    """Returns what the card says about the model's training; empty if nothing."""
    ours = front_matter(folder).get("pddlego_local")
    return ours if isinstance(ours, Mapping) else {}


def learned(folder: Path) -> Mapping[str, str]:
    """Returns the settings that all training questions had, such as "method.variant":
    "compact".

    The result is empty if the card names none.
    """
    settings = _training(folder).get("trained_on")
    if not isinstance(settings, Mapping):
        return {}
    return {str(name): str(value) for name, value in settings.items()}


def known_texts(folder: Path) -> Mapping[str, tuple[int, int]] | None:
    """Returns the described worlds whose texts the model was trained on.

    Each world comes with its least and greatest number of blocks or packages. The
    result is empty if the training had no such texts, and None if the card names no
    training. Raises ConfigError if the card's `texts` are not names and numbers; the
    environment checks the names (`described.recognized`).
    """
    training = _training(folder)
    if "trained_on" not in training:
        return None
    try:
        return _TEXTS.validate_python(training.get("texts") or {})
    except ValueError as error:
        raise ConfigError(
            f"{folder / 'README.md'}: `texts` in the YAML at the top must list worlds"
            " in the form `blocksworld: [2, 9]`"
        ) from error


def listed(folder: Path) -> str:
    """Returns the card's lines about the files beside it: SHA-256 and name, as
    sha256sum prints.
    """
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.suffix != ".md"
    )
    return "".join(f"    {sha256_of(path)}  {path.name}\n" for path in files)

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


def learned(folder: Path) -> Mapping[str, str]:
    """Returns the settings that all training questions had, such as "method.variant":
    "compact".

    The result is empty if the card names none.
    """
    ours = front_matter(folder).get("pddlego_local")
    given = ours.get("trained_on") if isinstance(ours, Mapping) else None
    return (
        {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}
    )


def known_texts(folder: Path) -> Mapping[str, tuple[int, int]] | None:
    """Returns the described worlds whose texts the model was trained on.

    Each world comes with its least and greatest number of blocks or packages. The
    result is empty if the training had no such texts, and None if the card names no
    training. Raises ConfigError if the card's `texts` are not names and numbers; the
    environment checks the names (`described.recognized`).
    """
    ours = front_matter(folder).get("pddlego_local")
    if not isinstance(ours, Mapping) or "trained_on" not in ours:
        return None
    try:
        return _TEXTS.validate_python(ours.get("texts") or {})
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

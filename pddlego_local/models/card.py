"""What a model's folder tells of it beside the weights: its card, README.md, whose top is YAML for
programs, and the list of the maps that it learned from.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic
import yaml

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.generated import Family
from pddlego_local.models.cache import sha256_of

TRAINING_MAPS = "training_maps.txt"
_TEXTS = pydantic.TypeAdapter(dict[Family, tuple[int, int]])


def front_matter(folder: Path) -> Mapping[str, Any]:
    """Empty where there is no card, or none that can be read."""
    from huggingface_hub import metadata_load

    try:
        return metadata_load(folder / "README.md") or {}
    except (OSError, ValueError, yaml.YAMLError):
        return {}


def learned(folder: Path) -> Mapping[str, str]:
    """The settings that all its training questions had, as "method.variant": "compact"; empty where
    the card names none."""
    ours = front_matter(folder).get("pddlego_local")
    given = ours.get("trained_on") if isinstance(ours, Mapping) else None
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}


def known_texts(folder: Path) -> Mapping[Family, tuple[int, int]] | None:
    """The described worlds whose texts it learned, each with its least and its greatest number of
    blocks or packages; empty where its training had none, None where the card names no training.

    Raises ConfigError for a card that names no such worlds or numbers.
    """
    ours = front_matter(folder).get("pddlego_local")
    if not isinstance(ours, Mapping) or "trained_on" not in ours:
        return None
    try:
        return _TEXTS.validate_python(ours.get("texts") or {})
    except ValueError as error:
        raise ConfigError(
            f"{folder / 'README.md'}: `texts` at its top is no list of worlds such as "
            "`blocksworld: [2, 9]`"
        ) from error


def listed(folder: Path) -> str:
    """The lines of a card that tell the files beside it: SHA-256 and name, as sha256sum does."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix != ".md")
    return "".join(f"    {sha256_of(path)}  {path.name}\n" for path in files)

"""What the card of a model, README.md beside its weights, tells a program: the YAML at its top."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

OURS = "pddlego_local"


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
    ours = front_matter(folder).get(OURS)
    given = ours.get("trained_on") if isinstance(ours, Mapping) else None
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}

"""What the card of a model, README.md beside its weights, tells a program: the YAML at its top."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_LINE = "---\n"
OURS = "pddlego_local"


def front_matter(folder: Path) -> Mapping[str, Any]:
    """Empty where there is no card, or none that can be read."""
    card = folder / "README.md"
    if not card.is_file():
        return {}
    first, _, rest = card.read_text(encoding="utf-8", errors="replace").partition(_LINE)
    if first or _LINE not in rest:
        return {}
    try:
        told = yaml.safe_load(rest.partition(_LINE)[0])
    except yaml.YAMLError:
        return {}
    return told if isinstance(told, Mapping) else {}


def learned(folder: Path) -> Mapping[str, str]:
    """The settings that all its training questions had, as "method.variant": "compact"; empty where
    the card names none."""
    ours = front_matter(folder).get(OURS)
    told = ours.get("trained_on") if isinstance(ours, Mapping) else None
    return {str(k): str(v) for k, v in told.items()} if isinstance(told, Mapping) else {}

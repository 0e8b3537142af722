"""Warnings where a cell asks a small model of our own what it was not trained on."""

from collections.abc import Sequence
from typing import Any

from hydra.utils import get_class

from pddlego_local.models.card import learned
from pddlego_local.models.weights import folder_named
from pddlego_local.runner.config import CellConfig


def training_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """A sentence for each model whose card says what it was trained on, if a cell asks it something
    else."""
    new: dict[tuple[str, str], dict[str, None]] = {}
    for cell in cells:
        weights = str(cell.tree["model"].get("weights") or "")
        trained_on = learned(folder_named(weights)) if weights else {}
        known = ", ".join(f"{name}={value}" for name, value in trained_on.items())
        asked = {name: _asked(cell, name) for name in trained_on}
        unknown = (f"{name}={asked[name]}" for name in asked if asked[name] != trained_on[name])
        new.setdefault((cell.labels["model"], known), {}).update(dict.fromkeys(unknown))
    return [
        f"model={model} was trained on {known} alone: it never saw {', '.join(unknown)}, and what "
        "it wins there says little"
        for (model, known), unknown in new.items()
        if unknown
    ]


def _asked(config: CellConfig, name: str) -> str:
    """The cell's value of one of the settings that a card may name."""
    if name == "environment":  # the folder's name, of PACKAGE.game.CLASS: a label is anybody's
        return str(config.tree["environment"]["_target_"]).split(".")[-3]
    group, _, option = name.partition(".")
    if (group, option) == ("method", "prompts"):
        method: Any = get_class(config.tree["method"]["_target_"])
        return str(method.prompts)
    return str(config.tree[group].get(option))

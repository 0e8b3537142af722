"""Warnings if a cell uses a small trained model under settings that it was not trained
on.
"""

from collections.abc import Mapping, Sequence

from pddlego_local.models.card import learned
from pddlego_local.models.weights import folder_named
from pddlego_local.runner.config import CellConfig


def training_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """Returns a sentence for each model that a cell uses under other settings than its
    card names as those of its training.
    """
    new: dict[tuple[str, str], dict[str, None]] = {}
    for cell in cells:
        weights = str(cell.tree["model"].get("weights") or "")
        trained_on = learned(folder_named(weights)) if weights else {}
        known = ", ".join(f"{name}={value}" for name, value in trained_on.items())
        asked = {name: _asked(cell, name) for name in trained_on}
        unknown = (
            f"{name}={asked[name]}" for name in asked if asked[name] != trained_on[name]
        )
        new.setdefault((cell.labels["model"], known), {}).update(dict.fromkeys(unknown))
    return [
        f"model={model} was trained on {known} only: it never saw {', '.join(unknown)},"
        " and its success there says little"
        for (model, known), unknown in new.items()
        if unknown
    ]


def _asked(config: CellConfig, name: str) -> str:
    """Returns the cell's value of one of the settings that a card may name."""
    if name in ("environment", "method"):
        return config.kind(name)  # because labels can be chosen
    group, _, option = name.partition(".")
    if (group, option) == ("method", "prompts"):
        return str(getattr(config.class_of("method"), "prompts", ""))
    options = config.tree.get(group)
    return str(options.get(option) if isinstance(options, Mapping) else options)

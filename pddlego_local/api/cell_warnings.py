"""Warnings about cells whose results will say little: a small model is asked what it
was not trained on, or a rung that allows only names would allow any word.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hydra.utils import get_class

from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.models.card import learned
from pddlego_local.models.weights import folder_named
from pddlego_local.runner.config import CellConfig

GROUNDED = [name for name, rung in RUNGS.items() if rung.grounded]


def cell_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """Returns each warning once, as a sentence."""
    return [*training_warnings(cells), *_name_warnings(cells)]


def training_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """Returns a sentence for each model that a cell uses under other settings than its
    card names as those of its training.
    """
    found: dict[_Trained, list[str]] = {}
    for cell in cells:
        if excluded := never_seen(cell):
            known = [f"{name}={value}" for name, value in _trained_on(cell).items()]
            model = _Trained(cell.labels["model"], ", ".join(known))
            found.setdefault(model, []).extend(excluded)
    warnings = []
    for model, settings in found.items():
        unknown = ", ".join(dict.fromkeys(settings))
        warnings.append(
            f"model={model.label} was trained on {model.known} only: it never saw"
            f" {unknown}, and its success there says little"
        )
    return warnings


def never_seen(cell: CellConfig) -> list[str]:
    """Returns the settings of a cell that the model's card excludes from its
    training.
    """
    excluded = []
    for name, value in _trained_on(cell).items():
        if (given := asked(cell, name)) != value:
            excluded.append(f"{name}={given}")
    return excluded


def _trained_on(cell: CellConfig) -> Mapping[str, str]:
    weights = cell.tree["model"].get("weights")
    return learned(folder_named(str(weights))) if weights else {}


class _Trained(NamedTuple):
    """A model, and the settings of its training in words."""

    label: str
    known: str


def asked(cell: CellConfig, name: str) -> str:
    """Returns the cell's value of one of the settings that a card may name."""
    if name in ("environment", "method"):
        return cell.kind(name)  # because labels can be chosen
    if name == "method.prompts":
        return str(getattr(cell.class_of("method"), "prompts", ""))
    group, _, option = name.partition(".")
    options = cell.tree.get(group)
    return str(options.get(option) if isinstance(options, Mapping) else options)


def _name_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """Returns a sentence for each environment without `names` in which a cell uses
    "grounded", also in a repair or a rejection.
    """
    warnings: dict[str, None] = {}
    for cell in cells:
        if _is_grounded(cell) and _takes_any_word(cell):
            said = (
                f"environment={cell.labels['environment']} declares no `names`, so that"
                " grounded allows every word of its texts as the name of an object"
                " (`you`, `are`, `in`): declare a regular expression that finds the"
                " names alone, such as `names: room \\d+`"
            )
            warnings[said] = None
    return [*warnings]


def _is_grounded(cell: CellConfig) -> bool:
    decoding = cell.tree["decoding"]
    reject = decoding.get("reject") or {}
    rungs = (decoding["rung"], decoding["repair"], reject.get("rung"))
    return any(str(rung) in GROUNDED for rung in rungs)


def _takes_any_word(cell: CellConfig) -> bool:
    settings = cell.tree["environment"]
    kind: Any = get_class(settings["_target_"])
    if "names" in settings or not issubclass(kind, BaseEnvironment):
        return False
    return bool(kind.names is BaseEnvironment.names)

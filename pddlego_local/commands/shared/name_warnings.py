"""Warnings if a rung that allows only names is used where any word counts as a name."""

from collections.abc import Sequence
from typing import Any

from hydra.utils import get_class

from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.runner.config import CellConfig


def name_warnings(cells: Sequence[CellConfig]) -> list[str]:
    """Returns a sentence for each environment without `names` in which a cell uses
    "grounded", also in a repair or a rejection.
    """
    environments = dict.fromkeys(
        cell.labels["environment"]
        for cell in cells
        if _is_grounded(cell) and _takes_any_word(cell)
    )
    return [
        f"environment={environment} declares no `names`, so that grounded allows every"
        " word of its texts as the name of an object (`you`, `are`, `in`): declare a"
        " regular expression that finds the names alone, such as `names: room \\d+`"
        for environment in environments
    ]


def _is_grounded(cell: CellConfig) -> bool:
    decoding = cell.tree["decoding"]
    reject = decoding.get("reject") or {}
    known = (
        RUNGS.get(str(one))
        for one in (decoding["rung"], decoding["repair"], reject.get("rung"))
    )
    return any(rung is not None and rung.grounded for rung in known)


def _takes_any_word(cell: CellConfig) -> bool:
    settings = cell.tree["environment"]
    kind: Any = get_class(settings["_target_"])
    inherits = issubclass(kind, BaseEnvironment) and kind.names is BaseEnvironment.names
    return inherits and "names" not in settings

"""The table of the models that have a YAML file: size, licence, and whether the files
are here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.filesize import decimal
from rich.table import Column, Table

from pddlego_local.commands.shared.fit import about_of, find_files
from pddlego_local.core import yaml_faults
from pddlego_local.core.resources import folder
from pddlego_local.models.card import front_matter
from pddlego_local.models.weights import shipped, weights_bytes


def model_table() -> Table:
    """Returns the table of models, the smallest first."""
    table = Table(
        Column("model=", no_wrap=True),
        Column("weights", justify="right"),
        Column("files"),
        Column("licence"),
        Column("context", justify="right"),
        caption=(
            "context: the configured tokens of prompt and answer. Other models:"
            " model=vllm or model=transformers with model.weights."
        ),
    )
    for _, cells in sorted(_rows()):
        table.add_row(*cells)
    return table


def _rows() -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields the size of each model's weights, in bytes, and its row."""
    for path in (folder("conf") / "model").glob("*.yaml"):
        settings = settings_of(path)
        own = shipped(str(settings.get("weights")))
        if about := about_of(settings):
            size = about.weights_bytes(settings["dtype"])
            licence = about.licence
            files, _ = find_files(settings)
            here = "ready" if files else "missing"
        elif own:
            size = weights_bytes(own)
            licence = str(front_matter(own).get("license", "")).upper()
            here = "ready"
        elif {"weights", "run"} & settings.keys():  # the user names these weights
            continue
        else:
            yield 0, (path.stem, "–", "ready", "", "")
            continue
        context = settings.get("context_tokens")
        tokens = f"{context:,}" if context else ""
        yield size, (path.stem, decimal(size), here, licence, tokens)


def settings_of(path: Path) -> dict[str, Any]:
    """Merges a model's YAML file with those that it names as its defaults.

    The result is the same as Hydra's, in a hundredth of the time, but references to a
    run's settings are not resolved.
    """
    own = yaml_faults.read(path)
    names = own.pop("defaults", ["_self_"])[:-1]
    bases = [settings_of(path.parent / f"{name}.yaml") for name in names]
    merged: Any = OmegaConf.to_container(OmegaConf.merge(*bases, own))
    return dict(merged)

"""The table of the models that have a YAML file: size, licence, and whether the files
are here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.table import Column, Table

from pddlego_local.commands.shared.fit import GB, about_of, find_files
from pddlego_local.core import yaml_faults
from pddlego_local.core.resources import folder
from pddlego_local.models.card import front_matter
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.memory import needs_found, needs_told
from pddlego_local.models.weights import shipped

CARDS = (24, 48, 80)  # GB of memory of common GPUs


def model_table() -> Table:
    """Returns the table of models, the smallest first."""
    table = Table(
        Column("model=", no_wrap=True),
        Column("parameters", justify="right"),
        Column("weights", justify="right"),
        Column("files"),
        *(Column(f"{card} GB", justify="right") for card in CARDS),
        Column("licence"),
        Column("context", justify="right"),
        caption=_caption(),
    )
    for _, cells in sorted(_rows()):
        table.add_row(*cells)
    return table


def _caption() -> str:
    size = f"{gpu_memory() / GB:.0f} GB" if gpu_memory() else "unknown memory"
    here = f"{gpu_count()} GPUs of {size}" if gpu_count() else "no NVIDIA GPU"
    return (
        "context: the configured tokens, of those the model supports. 24, 48, 80 GB:"
        " how many such GPUs hold the weights and one answer of the configured"
        " context. Other models: model=vllm or model=transformers with model.weights."
        f" This machine: {here}."
    )


def _rows() -> Iterator[tuple[float, tuple[str, ...]]]:
    """Yields each model's number of parameters and its row."""
    for path in (folder("conf") / "model").glob("*.yaml"):
        settings = settings_of(path)
        if about := about_of(settings):
            needs, tokens = (
                needs_told(about, settings["dtype"]),
                settings["context_tokens"],
            )
            files, _ = find_files(path.stem, settings)
            licence, here = about.licence, "ready" if files else "missing"
            size = f"{needs.weights / GB:.1f} GB"
        elif own := shipped(
            str(settings.get("weights"))
        ):  # the size comes from its files
            needs = needs_found(own, settings["dtype"])
            tokens = needs.most_context_tokens
            licence, here = str(front_matter(own).get("license", "")).upper(), "ready"
            size = f"{needs.weights / GB:.2f} GB"
        else:
            if not {"weights", "run"} & settings.keys():  # the user names these weights
                yield 0.0, (path.stem, "–", "", "ready", *[""] * 5)
            continue
        counts = [str(needs.fewest(tokens, card * GB) or "–") for card in CARDS]
        context = f"{tokens:,} of {needs.most_context_tokens:,}"
        amount = _in_short(needs.parameters)
        yield (
            needs.parameters,
            (path.stem, amount, size, here, *counts, licence, context),
        )


def _in_short(parameters: float) -> str:
    billions = parameters / 1e9
    return f"{billions:.1f} B" if billions >= 1 else f"{parameters / 1e6:.0f} M"


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

"""`pddlego models`: the models that have a YAML, their size and licence, and which run here."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table

from pddlego_local.commands.fit import GB, about_of, on_cuda
from pddlego_local.errors import MissingPart
from pddlego_local.models.about import About
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.memory import Gpus, fewest, shape_told
from pddlego_local.models.weights import locate
from pddlego_local.resources import folder

HELP = "the models that have a config: size, licence, context, and which run on this machine"

_CARDS = (24, 48, 80)  # GB of memory of common GPUs
_PIPE_WIDTH = 170  # columns, where nobody says how wide the page is


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def carry_out(arguments: argparse.Namespace) -> int:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    rows = sorted(_rows(), key=lambda row: row[0])
    table = Table(caption=_caption())
    for title in ("model=", "parameters", "licence", "context", "weights"):
        table.add_column(title, no_wrap=title == "model=", justify=_side(title))
    for card in _CARDS:
        table.add_column(f"{card} GB", justify="right")
    table.add_column("here")
    for _, cells in rows:
        table.add_row(*cells)
    console.print(table)
    return 0


def _side(title: str) -> Any:
    return "left" if title in ("model=", "licence") else "right"


def _caption() -> str:
    here = f"{gpu_count()} GPUs of {gpu_memory() / GB:.0f} GB" if gpu_count() else "no NVIDIA GPU"
    return (
        "context: as configured, of what the model has. 24, 48, 80 GB: how many such GPUs hold the "
        "weights and one answer as long as the configured context. Others: model=vllm or "
        f"model=transformers with model.weights. Here: {here}."
    )


def _rows() -> list[tuple[tuple[float, str], Sequence[str]]]:
    """Each with its rank: the smallest first."""
    rows = []
    for path in sorted((folder("conf") / "model").glob("*.yaml")):
        settings = told(path)
        if about := about_of(settings):
            rows.append(((about.parameters, path.stem), _cells(path.stem, settings, about)))
        elif not {"weights", "run"} & settings.keys():  # those the user says
            rows.append(((0.0, path.stem), (path.stem, "–", "", "", "", "", "", "", "ready")))
    return rows


def told(path: Path) -> dict[str, Any]:
    """A model's YAML over those that it names as its defaults: as Hydra composes it, in a hundredth
    of the time.
    """
    own = yaml.safe_load(path.read_text())
    bases = [told(path.parent / f"{name}.yaml") for name in own.pop("defaults", ["_self_"])[:-1]]
    merged: Any = OmegaConf.to_container(OmegaConf.merge(*bases, own))
    return dict(merged)


def _cells(stem: str, settings: Mapping[str, Any], about: About) -> Sequence[str]:
    shape = shape_told(about, settings["dtype"])
    tokens = settings["context_tokens"]
    counts = [fewest(shape, tokens, card * GB) for card in _CARDS]
    return (
        stem,
        _short(about.parameters),
        about.licence,
        f"{tokens:,} of {about.most_context_tokens:,}",
        f"{shape.weights / GB:.1f} GB",
        *(str(count) if count else "–" for count in counts),
        _here(settings, about),
    )


def _short(parameters: float) -> str:
    billions = parameters / 1e9
    return f"{billions:.1f} B" if billions >= 1 else f"{parameters / 1e6:.0f} M"


def _here(settings: Mapping[str, Any], about: About) -> str:
    """Whether it fits the GPUs that are here, and whether its weights are."""
    if not on_cuda(settings):
        return f"on the CPU, {_files(settings)}"
    wanted = int(settings["server"]["tensor_parallel_size"])
    if gpu_count() < wanted:
        return "needs a GPU" if wanted == 1 else f"needs {wanted} GPUs"
    used = float(settings["server"]["gpu_memory_utilization"])
    gpus = Gpus(wanted, gpu_memory(), used)
    if not gpus.answers(shape_told(about, settings["dtype"]), settings["context_tokens"]):
        return "too large"
    return f"fits, {_files(settings)}"


def _files(settings: Mapping[str, Any]) -> str:
    try:
        locate(settings["weights"], settings["revision"])
    except MissingPart:
        return "to be fetched"
    return "ready"

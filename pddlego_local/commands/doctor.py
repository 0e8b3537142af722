"""`pddlego doctor`: what is installed, what is missing, what to type."""

import argparse
import contextlib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from pddlego_local.config import compose_cell
from pddlego_local.environments.alfworld.installation import find_environment
from pddlego_local.environments.textworld_express.game import java_path
from pddlego_local.errors import ConfigError, PddlegoError
from pddlego_local.models.machine import gpu_count
from pddlego_local.provenance import provenance
from pddlego_local.resources import folder

HELP = "what is installed, what is missing, what to type"

_TASK = (
    "(define (domain d) (:predicates (a) (b)) (:action go :precondition (a) :effect (b)))",
    "(define (problem p) (:domain d) (:init (a)) (:goal (b)))",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def carry_out(arguments: argparse.Namespace) -> int:
    """Always 0: what is missing is the answer, not a failure."""
    console = Console(highlight=False, soft_wrap=True)
    about = provenance()
    console.print(f"python {about['python']}, commit {about['commit']}")
    packages = dict(about["packages"])  # type: ignore[call-overload]
    console.print(", ".join(f"{name} {version or '–'}" for name, version in packages.items()))
    _try(console, "Java", java_path)
    _try(console, "game", _game)
    _try(console, "ALFWorld", find_environment)
    _try(console, "planner", _plan)
    console.print(_models())
    return 0


def _try(console: Console, what: str, attempt: Callable[[], object]) -> None:
    try:
        console.print(f"[green]ok[/]       {what}: {attempt()}")
    except PddlegoError as error:
        console.print(f"[yellow]missing[/]  {what}: {error}")


def _game() -> str:
    with contextlib.closing(compose_cell([]).build("environment")) as environment:
        return str(environment.reset(0).text)


def _plan() -> str:
    with contextlib.closing(compose_cell([]).build("planner")) as planner:
        return str(planner.plan(*_TASK).outcome)


def _models() -> Table:
    """One row for all models in the same state; what is ready comes first."""
    saying = defaultdict(list)
    for path in sorted((folder("conf") / "model").glob("*.yaml")):
        saying[_state(path.stem)].append(path.stem)
    table = Table("model=", "", title="models", title_justify="left")
    for (_, words), stems in sorted(saying.items()):
        table.add_row(", ".join(stems), words)
    return table


def _state(stem: str) -> tuple[int, str]:
    """A rank, and whether a model is ready, lacks something, or is nothing for this machine."""
    try:
        cell = compose_cell([f"model={stem}"])
    except ConfigError as error:  # which model, the user says
        return 2, f"give {str(error).split(':')[0]}=…"
    model = cell.tree["model"]
    needed = _gpus_needed(model)
    if needed > gpu_count():
        return 3 + needed, f"needs {_gpus(needed, model['weights'])}"
    habits = model.get("thinking")
    always_thinks = isinstance(habits, dict) and habits.get("switch") is None
    try:
        cell.build("model").preflight(thinking=always_thinks)
    except PddlegoError as error:
        return 1, f"missing: {error}"
    return 0, "ready"


def _gpus_needed(model: Mapping[str, Any]) -> int:
    """By its settings; 0 if it runs without, or elsewhere."""
    server = model.get("server", {})
    if server.get("url"):
        return 0
    if server.get("device") == "cuda":
        return int(server.get("tensor_parallel_size", 1))
    return int(model.get("engine", {}).get("device") == "cuda")


def _gpus(count: int, weights: str) -> str:
    """With how much memory, from the billions of parameters that a name tells: two bytes each, and
    a quarter more for the cache."""
    named = re.search(r"(\d+(?:\.\d+)?)B\b", weights)
    memory = f" with {math.ceil(float(named[1]) * 2 * 1.25 / count)} GB" if named else ""
    return f"a GPU{memory}" if count == 1 else f"{count} GPUs{memory} each"

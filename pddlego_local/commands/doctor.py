"""`pddlego doctor`: what is installed, what is missing, what to type."""

import argparse
import contextlib
import functools
from collections.abc import Callable

from rich.console import Console

from pddlego_local.config import compose_cell
from pddlego_local.environments.alfworld.installation import find_environment
from pddlego_local.environments.textworld_express.game import java_path
from pddlego_local.errors import PddlegoError
from pddlego_local.provenance import provenance
from pddlego_local.resources import folder

HELP = "what is installed, what is missing, what to type"

_TASK = (
    "(define (domain d) (:predicates (a) (b)) (:action go :precondition (a) :effect (b)))",
    "(define (problem p) (:domain d) (:init (a)) (:goal (b)))",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def carry_out(given: argparse.Namespace) -> int:
    """Always 0: what is missing is the answer, not a failure."""
    console = Console(highlight=False, soft_wrap=True)
    about = provenance()
    console.print(f"python {about['python']}, commit {about['commit']}")
    for package, version in dict(about["packages"]).items():  # type: ignore[call-overload]
        console.print(f"  {package:24} {version or '[red]missing[/]'}")
    _try(console, "Java", java_path)
    _try(console, "game", lambda: compose_cell([]).build("environment").reset(0).text)
    _try(console, "ALFWorld", find_environment)
    _try(console, "planner", _plan)
    for path in sorted((folder("conf") / "model").glob("*.yaml")):
        _try(console, f"model={path.stem}", functools.partial(_model, path.stem))
    return 0


def _try(console: Console, what: str, attempt: Callable[[], object]) -> None:
    try:
        console.print(f"[green]ok[/]       {what}: {attempt()}")
    except PddlegoError as error:
        console.print(f"[yellow]missing[/]  {what}: {error}")


def _plan() -> str:
    with contextlib.closing(compose_cell([]).build("planner")) as planner:
        return str(planner.plan(*_TASK).outcome)


def _model(stem: str) -> str:
    cell = compose_cell([f"model={stem}"])
    habits = cell.tree["model"].get("thinking")
    always_thinks = isinstance(habits, dict) and habits.get("switch") is None
    cell.build("model").preflight(thinking=always_thinks)
    return "ready"

"""`pddlego doctor`: lists what is installed, what is missing and how to add it, and the
models.
"""

import argparse
import contextlib
from collections.abc import Callable
from pathlib import Path

from rich.filesize import decimal

from pddlego_local.api.library import plan
from pddlego_local.commands.shared.fit import look_at, model_settings
from pddlego_local.commands.shared.model_list import model_table
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.console import literal_console, styled
from pddlego_local.core.errors import MissingPart, PddlegoError
from pddlego_local.environments.alfworld.installation import find_environment
from pddlego_local.environments.textworld_express.game import java_path
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.vllm.server import serving_build
from pddlego_local.models.weights import in_the_box
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.provenance import provenance

_DOMAIN = (
    "(define (domain d) (:predicates (a) (b))"
    " (:action go :precondition (a) :effect (b)))"
)
_PROBLEM = "(define (problem p) (:domain d) (:init (a)) (:goal (b)))"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="check size and files of this model",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """For the installation, returns 0 even if a part is missing, because listing
    missing parts is the purpose. For models, returns 1 if the weights of one do not fit
    or its files are missing.
    """
    if not arguments.models:
        return _installation()
    fits = [look_at(name, model_settings(name)) for name in arguments.models]
    for fit in fits:
        print(fit)
    return 0 if all(fit.ready for fit in fits) else 1


def _installation() -> int:
    console = literal_console(soft_wrap=True)
    about = provenance()
    console.print(f"python {about['python']}, commit {about['commit']}")
    packages = []
    for name, version in about["packages"].items():
        packages.append(f"{name} {version or '–'}")
    console.print(", ".join(packages))
    parts: dict[str, Callable[[], object]] = {
        "Java": java_path,
        "game": _game,
        "ALFWorld": find_environment,
        "planner": lambda: plan(_DOMAIN, _PROBLEM).outcome,
        "GPU": _gpus,
        "vLLM": _serving,
    }
    for name, attempt in parts.items():
        try:
            console.print(styled("ok", "green", f"       {name}: {attempt()}"))
        except PddlegoError as error:
            console.print(styled("missing", "yellow", f"  {name}: {error}"))
    models = ", ".join(in_the_box()) or "none"
    console.print(styled("ok", "green", f"       models included: {models}"))
    show(screen(), model_table())
    print(
        "`pddlego doctor MODEL` checks size and files of one of them, or of any other"
        " model."
    )
    return 0


def _gpus() -> str:
    if count := gpu_count():
        memory = gpu_memory()
        size = f"with {decimal(memory)} each" if memory else "of unknown memory"
        return f"{count} from NVIDIA, {size}"
    raise MissingPart(
        "no NVIDIA GPU is visible (nvidia-smi lists none): the listed models need one,"
        f" except {', '.join(in_the_box())} and smollm2, which play on the CPU"
    )


def _serving() -> str:
    """Returns the vLLM build in the environment that model=vllm uses."""
    settings = model_settings("./none")
    env = Path(settings["server"]["env"])
    build, version = serving_build(env)
    text = f"{version}, {build} build in {env}"
    if build == "cpu" and gpu_count():
        text += (
            ": slow, although a GPU is present: run `make clean serving DEVICE=cuda`"
        )
    return text


def _game() -> str:
    with contextlib.closing(compose_cell([]).build("environment")) as environment:
        return str(environment.reset(0).text)

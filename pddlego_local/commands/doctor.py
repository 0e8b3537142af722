"""`pddlego doctor`: lists what is installed, what is missing and how to add it, and the
models.
"""

import argparse
import contextlib
from collections.abc import Callable
from pathlib import Path

from pddlego_local.api.library import plan
from pddlego_local.commands.shared.fit import GB, Asked, look_at, model_settings
from pddlego_local.commands.shared.model_list import model_table
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.console import literal_console, styled
from pddlego_local.core.errors import ConfigError, MissingPart, PddlegoError
from pddlego_local.environments.alfworld.installation import find_environment
from pddlego_local.environments.textworld_express.game import java_path
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.vllm.server import serving_build
from pddlego_local.models.weights import in_the_box
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.provenance import provenance

_TASK = (
    (
        "(define (domain d) (:predicates (a) (b)) (:action go :precondition (a) :effect"
        " (b)))"
    ),
    "(define (problem p) (:domain d) (:init (a)) (:goal (b)))",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "models",
        nargs="*",
        metavar="MODEL",
        help="check memory and files of this model",
    )
    add(
        "--context",
        type=int,
        metavar="TOKENS",
        help="tokens of an answer and its prompt",
    )
    add("--gpus", type=int, metavar="N", help="number of GPUs of another machine")
    add(
        "--gpu-memory",
        type=float,
        metavar="GB",
        help="memory of each GPU of another machine",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """For the installation, returns 0 even if a part is missing, because listing
    missing parts is the purpose. For models, returns 1 if one does not fit or its files
    are missing.
    """
    if not arguments.models and (
        arguments.context or arguments.gpus or arguments.gpu_memory
    ):
        raise ConfigError("--context, --gpus and --gpu-memory need the name of a MODEL")
    return _fit(arguments) if arguments.models else _installation()


def _fit(arguments: argparse.Namespace) -> int:
    for option in ("context", "gpus", "gpu_memory"):
        if (given := getattr(arguments, option)) is not None and given <= 0:
            raise ConfigError(
                f"--{option.replace('_', '-')} {given}: give more than 0."
            )
    memory = arguments.gpu_memory and int(arguments.gpu_memory * GB)
    asked = Asked(arguments.context, arguments.gpus, memory)
    ready = 0
    for name in arguments.models:
        fit = look_at(name, model_settings(name), asked)
        print(fit)
        ready += fit.ready
    return 0 if ready == len(arguments.models) else 1


def _installation() -> int:
    console = literal_console(soft_wrap=True)
    about = provenance()
    console.print(f"python {about['python']}, commit {about['commit']}")
    packages = about["packages"].items()
    console.print(", ".join(f"{name} {version or '–'}" for name, version in packages))
    parts: dict[str, Callable[[], object]] = {
        "Java": java_path,
        "game": _game,
        "ALFWorld": find_environment,
        "planner": lambda: plan(*_TASK).outcome,
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
        "`pddlego doctor MODEL` checks memory and files of one of them, or of any other"
        " model."
    )
    return 0


def _gpus() -> str:
    if count := gpu_count():
        size = (
            f"with {gpu_memory() / GB:.0f} GB each"
            if gpu_memory()
            else "of unknown memory"
        )
        return f"{count} from NVIDIA, {size}"
    raise MissingPart(
        "no NVIDIA GPU is visible (nvidia-smi lists none): the listed models need one,"
        f" except {', '.join(in_the_box())} and smollm2, which play on the CPU"
    )


def _serving() -> str:
    """Returns the vLLM build in the environment that model=vllm uses."""
    env = Path(
        compose_cell(["model=vllm", "model.weights=none"]).tree["model"]["server"][
            "env"
        ]
    )
    build, version = serving_build(env)
    slow = ": slow, although a GPU is present: run `make clean serving DEVICE=cuda`"
    return (
        f"{version}, {build} build in"
        f" {env}{slow * (build == 'cpu' and gpu_count() > 0)}"
    )


def _game() -> str:
    with contextlib.closing(compose_cell([]).build("environment")) as environment:
        return str(environment.reset(0).text)

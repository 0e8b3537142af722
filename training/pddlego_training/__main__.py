"""`pddlego-train`: plays games, and trains a small model on their questions."""

import argparse
import importlib.util
from collections.abc import Sequence

from pddlego_local import cli
from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import MissingPart
from pddlego_training.settings import (
    CONF,
    GrpoSettings,
    TrainSettings,
    compose_settings,
)


def main() -> None:
    """Runs the command line of this process, which ends with its exit code."""
    cli.main(dispatch=carry_out)


def carry_out(arguments: Sequence[str]) -> int:
    """Carries out one command, and returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="pddlego-train",
        description="Trains a small model; the same command continues it.",
    )
    names = sorted(file.stem for file in CONF.glob("*.yaml"))
    parser.add_argument("name", choices=names, help="a file of settings in conf/")
    parser.add_argument(
        "overrides", nargs="*", help="Hydra overrides, such as threads=1"
    )
    options = parser.parse_args(arguments)
    if options.name == "grpo":
        _reinforce(options.overrides)
    else:
        _train(options.name, options.overrides)
    return 0


def _reinforce(overrides: Sequence[str]) -> None:
    settings = compose_settings(GrpoSettings, "grpo", overrides)
    from pddlego_training.grpo import Reinforcement

    console = literal_console(soft_wrap=True)
    console.print(f"trained: {Reinforcement(settings).carry_out(console)}")


def _train(name: str, overrides: Sequence[str]) -> None:
    settings = compose_settings(TrainSettings, name, overrides)
    needed = ["accelerate", "peft"] if settings.lora else ["accelerate"]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingPart(
            f"Training needs {', '.join(missing)}: `pip install --editable training`,"
            " or `make nano`."
        )
    from pddlego_training.campaign import Campaign

    Campaign(settings, literal_console(soft_wrap=True)).carry_out()


if __name__ == "__main__":
    main()

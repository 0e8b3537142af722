"""`pddlego-train`: plays games, and trains a small model on their questions."""

import argparse
from collections.abc import Sequence

from pddlego_local import cli
from pddlego_local.core.console import literal_console
from pddlego_training.settings import CONF, compose_settings


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
    settings = compose_settings(options.name, options.overrides)
    from pddlego_training.campaign import Campaign

    Campaign(settings, literal_console(soft_wrap=True)).carry_out()
    return 0


if __name__ == "__main__":
    main()

"""`pddlego train`: trains a small model, from games played for data to a model folder."""

import argparse
import importlib.util

from rich.console import Console

from pddlego_local.core.errors import MissingPart
from pddlego_local.training.settings import compose_training


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a file of conf/train, such as nano or lora")
    parser.add_argument("overrides", nargs="*", help="Hydra overrides, such as threads=1")


def carry_out(arguments: argparse.Namespace) -> int:
    settings = compose_training(arguments.name, arguments.overrides)
    needed = ["accelerate", *["peft"] * bool(settings.lora)]
    if missing := [name for name in needed if importlib.util.find_spec(name) is None]:
        raise MissingPart(
            f"Training needs {', '.join(missing)}: `pip install 'pddlego_local[train]'`, or in a "
            "checkout `make nano`."
        )
    from pddlego_local.training.campaign import Campaign

    Campaign(settings, Console(highlight=False, soft_wrap=True)).carry_out()
    return 0

"""`pddlego train`: trains a small model, from games played for data to a model
folder.
"""

import argparse
import importlib.util

from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import MissingPart
from pddlego_local.core.resources import folder
from pddlego_local.training.settings import (
    GrpoSettings,
    TrainSettings,
    compose_settings,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = sorted(file.stem for file in (folder("conf") / "train").glob("*.yaml"))
    parser.add_argument(
        "name", choices=names, help="the settings, a file of conf/train"
    )
    parser.add_argument(
        "overrides", nargs="*", help="Hydra overrides, such as threads=1"
    )


def carry_out(arguments: argparse.Namespace) -> int:
    console = literal_console(soft_wrap=True)
    if arguments.name == "grpo":
        grpo = compose_settings(GrpoSettings, arguments.name, arguments.overrides)
        from pddlego_local.training.grpo import Reinforcement

        console.print(f"trained: {Reinforcement(grpo).carry_out(console)}")
        return 0
    settings = compose_settings(TrainSettings, arguments.name, arguments.overrides)
    needed = ["accelerate", *["peft"] * bool(settings.lora)]
    if missing := [name for name in needed if importlib.util.find_spec(name) is None]:
        raise MissingPart(
            f"Training needs {', '.join(missing)}: `pip install"
            " 'pddlego_local[train]'`, or in a checkout `make nano`."
        )
    from pddlego_local.training.campaign import Campaign

    Campaign(settings, console).carry_out()
    return 0

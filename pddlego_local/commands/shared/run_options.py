"""The options of `pddlego run`."""

import argparse
import textwrap

from pddlego_local.core.resources import folder
from pddlego_local.runner.overrides import GROUPS


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="pddlego run",
        description="Plays one cell, or with -m every combination of the values that commas "
        "separate. The same command\nagain continues: what is done is kept.",
        epilog=_choices_and_settings(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("overrides", nargs="*", metavar="OPTION=VALUE", help="such as model=nano seed=0,1")
    add("-m", "--multirun", action="store_true", help="a sweep")
    look = "what would be played, what each model needs, the disk; plays nothing"
    add("--dry-run", action="store_true", help=look)
    every = "the same with a line for each cell, however many they are"
    add("--dry-run=cells", dest="dry_run", action="store_const", const="cells", help=every)
    add("-cd", "--config-dir", metavar="DIR", help="configurations of your own beside these")
    add("--cfg", choices=["job", "hydra", "all"], help="print the configuration as composed")
    return made


def _choices_and_settings() -> str:
    """The choices of each group, and every setting outside them, as its file explains it."""
    parts = ["Choices; the file of each in conf/ says what it is and which options it has:\n"]
    for group in (*GROUPS, "arm", "experiment"):
        choices = ", ".join(sorted(path.stem for path in (folder("conf") / group).glob("*.yaml")))
        parts.append(textwrap.fill(f"  {group}={choices}", 100, subsequent_indent="    "))
    settings = (folder("conf") / "config.yaml").read_text(encoding="utf-8")
    settings = settings[settings.index("\nname:") : settings.index("\nhydra:")]
    return "\n".join([*parts, "\nSettings outside the groups (conf/config.yaml):", settings])

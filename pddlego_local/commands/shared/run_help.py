"""`pddlego run --help`, and what a shell's completion asks. Both know the groups of `conf/`."""

import os
import textwrap
from collections.abc import Sequence

from pddlego_local.core.resources import folder
from pddlego_local.runner.config import GROUPS

_USAGE = """\
usage: pddlego run [-m] [--dry-run] [OPTION=VALUE ...]

Plays one cell, or with -m every combination of the values that commas separate. The same command
again continues: what is done is kept.

  -m               a sweep, such as model=nano,random decoding=free,syntax seed=0,1
  --dry-run        what would be played, what each model needs, the disk; plays nothing
                   (--dry-run=cells: a line for each cell, however many they are)
  --config-dir DIR configurations of your own beside these: an environment, a method
  --cfg job        the configuration as it would be composed
  -sc install=bash completion for a shell: eval "$(pddlego run -sc install=bash)"; zsh and fish too

  pddlego run model=nano method.variant=compact decoding=grounded environment.rooms=5
  pddlego run -m experiment=smoke --dry-run
"""


def help_text() -> str:
    """Usage, the choices of each group, and every setting outside them, as its file explains it."""
    parts = [
        _USAGE,
        "Choices; the file of each in conf/ says what it is and what it can be told:\n",
    ]
    for group in (*GROUPS, "experiment"):
        choices = ", ".join(sorted(path.stem for path in (folder("conf") / group).glob("*.yaml")))
        parts.append(textwrap.fill(f"  {group}={choices}", 100, subsequent_indent="    "))
    settings = (folder("conf") / "config.yaml").read_text(encoding="utf-8")
    settings = settings[settings.index("\nname:") : settings.index("\nhydra:")]
    return "\n".join([*parts, "\nSettings outside the groups (conf/config.yaml):", settings])


def complete(commands: Sequence[str]) -> bool:
    """Prints the commands that the line so far (COMP_LINE) may mean; or makes it one that Hydra
    completes, and returns True."""
    program, _, rest = os.environ.get("COMP_LINE", "").lstrip().partition(" ")
    command, whole, rest = rest.lstrip().partition(" ")
    if whole and command == "run":
        os.environ["COMP_LINE"] = f"{program} {rest}"
        return True
    if not whole:
        print(" ".join(name for name in commands if name.startswith(command)))
    return False

"""What is wrong with records: printed, while what can be read of them is reported."""

import sys
from collections.abc import Sequence

from pddlego_local.core.visible import visible

MOST = 20


def print_problems(problems: Sequence[str]) -> int:
    """To standard error; returns the command's exit code: 1 if there are any."""
    for problem in problems[:MOST]:
        print(visible(f"problem: {problem}"), file=sys.stderr)
    if len(problems) > MOST:
        print(f"and {len(problems) - MOST} further problems", file=sys.stderr)
    return 1 if problems else 0

"""`pddlego status`: how far a run has come, seen from another terminal."""

import argparse
import datetime
import time
from pathlib import Path

from pddlego_local.commands.shared.screen import print_problems
from pddlego_local.report.progress import Progress, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="a folder below runs/: an experiment's or a cell's")


def carry_out(arguments: argparse.Namespace) -> int:
    seen = progress(arguments.run)
    for name, text in _lines(seen, time.time()):
        print(f"{name:9} {text}")
    return print_problems(seen.problems)


def _lines(seen: Progress, now: float) -> list[tuple[str, str]]:
    """`now` in seconds since 1970."""
    under_way = seen.cells_begun - seen.cells_done
    lines = [
        ("cells", f"{seen.cells_done} of {seen.cells} done, {under_way} begun and not done"),
        ("episodes", f"{seen.done:,} of {seen.episodes:,} done"),
        ("success", f"{seen.standing.success or 'nothing has ended'}, all cells together"),
        ("faults", f"{seen.faults:,}, and {seen.open_faults:,} episodes wait to be tried again"),
        ("starts", f"{seen.starts:,}: cells that were begun, or continued after a stop"),
    ]
    if seen.tokens_per_s is not None:
        lines.append(("tokens", f"{seen.tokens_per_s:,.0f}/s, drawn by episodes that ended"))
    if seen.left_s is not None:
        lines.append(("time left", f"{_in_words(seen.left_s)} at the pace so far"))
    if seen.last_written is not None:
        lines.append(("written", f"{_in_words(now - seen.last_written)} ago"))
    return lines


def _in_words(seconds: float) -> str:
    """Hours, minutes and seconds, as "1:02:03"."""
    return str(datetime.timedelta(seconds=max(0, round(seconds))))

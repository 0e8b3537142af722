"""`pddlego eval`: a model plays the frozen suite, and gets a card."""

import argparse
import contextlib
from pathlib import Path

from pddlego_local.api.evaluation import Evaluation, evaluation
from pddlego_local.commands.run import play
from pddlego_local.commands.shared import dry_run
from pddlego_local.commands.shared.bundle_check import check
from pddlego_local.commands.shared.dry_run import AskedCell
from pddlego_local.commands.shared.options import path
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.grouping import grouped
from pddlego_local.core.visible import visible
from pddlego_local.report.bundle import check_name, evaluation_in, pack
from pddlego_local.report.card import write_card
from pddlego_local.report.card.compared import write_comparison
from pddlego_local.runner.config import hydra_for
from pddlego_local.runner.run import asked_and_missing
from pddlego_local.runner.suite import suite

MODEL = """\
a name that `pddlego doctor` lists, a hub name in the local cache, a model folder, or a
GGUF file; reference and random_policy are the ceiling and the floor
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", nargs="?", default="", metavar="MODEL", help=MODEL)
    add(
        "overrides",
        nargs="*",
        metavar="OPTION=VALUE",
        help="options of model, run and name, such as run.concurrency=16",
    )
    add(
        "--size",
        default="quick",
        help=f"one of {', '.join(suite().sizes)} (default: quick)",
    )
    add("--url", metavar="URL", help="a running server, such as http://HOST:PORT/v1")
    add("--thinking", action="store_true", help="let the model think before it answers")
    add(
        "--dry-run",
        action="store_true",
        help="show what would be played and what is missing; play nothing",
    )
    add(
        "--compare",
        nargs=2,
        type=path,
        metavar=("A", "B"),
        help="compare two folders or bundles on the same games; play nothing",
    )
    add(
        "--bundle",
        type=path,
        metavar="FILE",
        help="then pack the records into one file NAME.tar.xz",
    )
    add(
        "--check",
        type=path,
        metavar="FILE",
        help="play a bundle's episodes again with its answers, and name what differs",
    )
    add(
        "--server",
        metavar="URL",
        help="with --check: draw ten greedy answers again from this server",
    )
    add(
        "--out",
        type=path,
        metavar="FOLDER",
        help="the folder for the page of --compare (default: that of B)",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Plays what is missing and writes the card. Returns 3 if episodes have no result
    because the infrastructure failed. A check returns 1 if something differs.
    """
    if arguments.check:
        return check(arguments.check, arguments.server)
    if arguments.server:
        raise ConfigError("--server is for --check; --url is a server that plays.")
    if arguments.compare:
        first, second = arguments.compare
        return _compare(first, second, arguments.out)
    if arguments.out:
        raise ConfigError("--out is the folder of --compare; write run.out=FOLDER.")
    if arguments.bundle:
        check_name(arguments.bundle)
    model, overrides = arguments.model, arguments.overrides
    if "=" in model and arguments.url:  # the server's own model
        model, overrides = "", [model, *overrides]
    with hydra_for(None):
        planned = evaluation(
            model,
            arguments.size,
            server=arguments.url,
            thinking=arguments.thinking,
            overrides=overrides,
        )
        if arguments.dry_run:
            _list(planned, model or planned.entry.name)
            return 0
        planned.begin()
        _print_not_played(planned)
        code = play(planned.configs)
    print(f"the card: {write_card(planned.folder)}")
    if arguments.bundle:
        pack(planned.folder, arguments.bundle)
        print(f"the bundle: {arguments.bundle}")
    return code


def _list(planned: Evaluation, model: str) -> None:
    """Prints the cells, what the model needs, what is not played, and the sum of the
    token limits of the episodes that are left.
    """
    cells = [AskedCell(cell.words, cell.config) for cell in planned.cells]
    dry_run.list_cells(cells, model)
    _print_not_played(planned)
    answers = sum(
        asked_and_missing([config])[1] * config.tree["decoding"]["max_tokens"]
        for config in planned.configs
    )
    print(
        f"Token limits: {answers:,} tokens if each episode that is left asks for one"
        " answer. Most answers are shorter, and most episodes ask for several."
    )
    entry = planned.entry
    print(f"Suite {entry.suite}, {entry.sha256[:12]}; records: {planned.folder}")


def _print_not_played(planned: Evaluation) -> None:
    reasons = grouped((play.why, play) for play in planned.entry.plays if play.why)
    for why, plays in reasons.items():
        names = dict.fromkeys(f"{play.part} by {play.arm}" for play in plays)
        print(visible(f"not played: {', '.join(names)}: {why}"))


def _compare(first: Path, second: Path, out: Path | None) -> int:
    if out is None and second.is_file():
        raise ConfigError("--compare of bundles: name a folder for its page with --out")
    with contextlib.ExitStack() as stack:
        base = stack.enter_context(evaluation_in(first))
        other = stack.enter_context(evaluation_in(second))
        page, text = write_comparison(base, other, out or second)
    print(text)
    print(f"the page: {page}")
    return 0

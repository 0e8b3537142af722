"""`pddlego canary`: asks a running server whether it obeys a grammar."""

import argparse

from rich.table import Table

from pddlego_local.api.canary import canary
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.visible import visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("url", help="the server's address, such as http://127.0.0.1:8000/v1")
    add(
        "--model",
        metavar="NAME",
        help="the server's name for its model (default: the first that it lists)",
    )
    add("--key", default="none", help="the server's key")
    add(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="the time for each question (default: 60)",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0 if the server obeys a constraint, and 1 if it obeys none. No server
    at the address is a fault of the infrastructure (3).
    """
    found = canary(
        arguments.url, arguments.model, key=arguments.key, seconds=arguments.seconds
    )
    console = screen()
    console.print(visible(f"{found.url} serves {found.model}."))
    table = Table("constraint", "result", "what the server said")
    for probe in found.probes:
        table.add_row(probe.asked, probe.verdict, visible(probe.said))
    show(console, table)
    console.print(visible(f"In this project: {found.advice}"))
    return 0 if found.obeyed else 1

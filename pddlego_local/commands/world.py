"""`pddlego world check`: what an author needs to know of a partly seen world."""

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from pddlego_local.commands.shared.options import count, path
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.commands.shared.world_check import WorldCheck, check_world
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.visible import visible
from pddlego_local.environments.explored.box import in_the_box
from pddlego_local.environments.explored.world import Checked

MOST_SHOWN = 600  # characters of the first text
RATIO = "1.1: nothing need be explored; 1.5 and more: a partly seen world"
RULES = (
    "The rules a to e are those of docs/extend/own_pddl.md. A precondition of an action"
    " is also seen from where the action could be carried out (rule e)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["check"], help="the only thing to do so far")
    parser.add_argument(
        "worlds",
        nargs="+",
        metavar="WORLD",
        help=(
            "a folder with domain.pddl, world.yaml and problems, or a world in the box"
            f" ({', '.join(in_the_box())}); several make one row each"
        ),
    )
    parser.add_argument(
        *("-n", "--games"), type=count(10_000), default=50, help="(default 50)"
    )
    parser.add_argument(
        "--walks", type=count(10_000), default=40, help="random walks (default 40)"
    )
    parser.add_argument(
        "--seconds",
        type=count(3_600),
        default=10,
        help="CPU time for each plan (default 10)",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 1 if a world is refused, or the reference loses a game of it."""
    settings = arguments.games, arguments.walks, arguments.seconds
    folders = [*map(_folder, arguments.worlds)]
    if len(folders) == 1:
        found = check_world(folders[0], *settings)
        for table in (_phrases(found), _visible(found), _games(found)):
            show(screen(), table)
        return 1 if found.lost else 0
    rows, is_good = list[Mapping[str, str]](), True
    for folder in folders:
        try:
            found = check_world(folder, *settings)
        except ConfigError as error:
            rows.append({"world": folder.name, "lost, why": f"refused: {error}"})
            is_good = False
        else:
            rows.append(row_of(found))
            is_good = is_good and not found.lost
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*(visible(row.get(name, "")) for name in COLUMNS))
    show(screen(), table)
    return 0 if is_good else 1


def _folder(name: str) -> Path:
    """Returns the folder of that name, or else that of the world in the box."""
    folder = path(name)
    return folder if folder.exists() else in_the_box().get(name, folder)


COLUMNS = (
    *("world", "won", "lost, why", "actions", "optimum", "ratio", "random"),
    *("dead ends", "unknown or unsure", "first text"),
)


def row_of(found: WorldCheck) -> Mapping[str, str]:
    """Returns the row of one world."""
    walks = found.walks
    cells = (
        *(found.name, f"{len(found.won)} of {len(found.scored)}", _counted(found.lost)),
        *(_mean_actions(found.won), _mean_optimum(found), _ratio(found)),
        _won(found.random),
        f"{walks.dead_ends} of {walks.decided}",
        ", ".join(sorted(walks.unknown | walks.unsure)),
        f"{found.first_tokens} tokens",
    )
    return dict(zip(COLUMNS, cells, strict=True))


def _phrases(found: WorldCheck) -> Table:
    table = Table("key", "phrase", "example", title="What is said")
    for example in found.examples:
        table.add_row(*map(visible, (example.key, example.phrase, example.text)))
    return table


def _visible(found: WorldCheck) -> Table:
    columns = "fact", "rule", "is seen", "and from where these actions are possible"
    table = Table(*columns, title="What is seen where", caption=RULES)
    for seen in found.visible:
        cells = seen.predicate, seen.rule, seen.where, ", ".join(seen.also_for)
        table.add_row(*map(visible, cells))
    return table


def _games(found: WorldCheck) -> Table:
    table = Table("what", "found", title=f"{found.name}: games and walks")
    for what, value in _lines(found):
        table.add_row(what, visible(value))
    return table


def _lines(found: WorldCheck) -> Iterator[tuple[str, str]]:
    walks = found.walks
    yield "actions that work from anywhere", ", ".join(found.from_anywhere) or "none"
    yield "commands that fit two actions", _counted(walks.two_meanings) or "none"
    yield "possible, but the player does not know", _counted(walks.unknown) or "none"
    yield "changes that cannot be foreseen", _counted(walks.unsure) or "none"
    yield "states looked at on random walks", str(walks.states)
    yield "dead ends", walks.dead_ends_in_words
    if measured := walks.checked:
        yield "a line for world.yaml", _line_of(measured)
        if found.written and found.written != measured:
            yield "world.yaml has another one", _line_of(found.written)
    yield "the reference won", f"{len(found.won)} of {len(found.scored)} games"
    if found.lost:
        yield "it lost", _counted(found.lost)
    trivial = len(found.reference) - len(found.scored)
    if trivial:
        yield "games that are won at the start", str(trivial)
    yield "its actions, on average", _mean_actions(found.won)
    yield "the optimum with full information", _mean_optimum(found)
    yield "reference ÷ optimum", f"{_ratio(found)} ({RATIO})"
    yield "the random policy won", f"{_won(found.random)} games"
    if found.budget:
        yield "a budget to use", f"{{unit: actions, limit: {found.budget}}}"
    words = len(found.first_text.split())
    yield (
        "the longest first text",
        f"{words} words, about {found.first_tokens} tokens (characters ÷ 4)",
    )
    yield "it says", textwrap.shorten(found.first_text, MOST_SHOWN, placeholder=" …")


def _line_of(checked: Checked) -> str:
    return f"checked: {{walks: {checked.walks}, dead_ends: {checked.dead_ends}}}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in sorted(counts.items()))


def _won(rows: Sequence[EpisodeRow]) -> str:
    scored = [row for row in rows if row.outcome != "success_at_start"]
    return f"{sum(row.success for row in scored)} of {len(scored)}"


def _mean_actions(rows: Sequence[EpisodeRow]) -> str:
    return f"{sum(row.actions for row in rows) / len(rows):.1f}" if rows else "–"


def _mean_optimum(found: WorldCheck) -> str:
    """Returns the mean of the games that the reference won; "≤" if one of the plans is
    not proved to be the shortest.
    """
    known = [found.optima[row.game] for row in found.won if row.game in found.optima]
    if not known:
        return "–"
    sign = "" if all(each.is_proved for each in known) else "≤ "
    return f"{sign}{sum(each.actions for each in known) / len(known):.1f}"


def _ratio(found: WorldCheck) -> str:
    return "–" if found.ratio is None else f"{found.ratio:.1f}"

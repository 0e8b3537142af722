"""`pddlego show`: prints one transcript for reading in a terminal."""

import argparse
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import print_problems, screen, show
from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import Event, Plan
from pddlego_local.core.record.folder import missing_end, read_events
from pddlego_local.core.record.run_record import read_run
from pddlego_local.core.resources import jinja
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.map.layout import Layout
from pddlego_local.report.map.text import text_map
from pddlego_local.report.pages.episode import parts_of
from pddlego_local.report.pages.maps import Moment, Reference, moments_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "run",
        type=path,
        nargs="?",
        default=Path("runs"),
        help="a folder at or below runs/",
    )
    add(
        "episode",
        nargs="?",
        help="GAME or GAME-TRIAL; RUN must then be or hold a single cell",
    )
    add("--prompts", action="store_true", help="print the prompts as well")


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.episode is None:
        return _show_what_there_is(arguments.run)
    game, _, trial = arguments.episode.partition("-")
    transcripts = _cell(arguments.run) / "transcripts"
    path = transcripts / f"{game}-{trial or 0}.jsonl"
    if not path.exists():
        names = sorted(file.stem for file in transcripts.glob("*.jsonl"))
        raise ConfigError(
            f"{path}: no such transcript; there are: {', '.join(names) or 'none'}"
        )
    console = literal_console(soft_wrap=True)
    events = read_events(path)
    maps = _maps(path.parent.parent, events, console.width)
    for event in events:
        rendered = getattr(_EVENTS, event.event)(event, arguments.prompts)
        console.print(_with_styles(rendered), end="")
        if isinstance(event, Plan):
            console.print(next(maps), end="")
    return print_problems(missing_end(path, events))


def _cell(folder: Path) -> Path:
    """Returns the only cell at or below the folder. Raises ConfigError if there are
    several.
    """
    below = sorted(path.parent for path in folder.rglob("transcripts"))
    if len(below) > 1:
        raise ConfigError(
            f"{folder} holds {len(below)} cells; name one, such as {below[0]}"
        )
    return below[0] if below else folder


def _maps(cell: Path, events: Sequence[Event], width: int) -> Iterator[Text]:
    """Yields the map of each planned file, or an empty text if it is as before."""
    is_whole = (cell / "run.json").exists()
    reference = Reference.of(read_run(cell)) if is_whole else Reference({})
    layout = Layout()
    before: Moment | None = None
    for moment in moments_of(events, reference):
        if before and before.world == moment.world:
            yield Text()
            continue
        found = moment.differences
        yield text_map(
            moment.world,
            before=before.world if before else None,
            wrong=found.wrong if found else (),
            width=width,
            layout=layout,
        )
        before = moment


def _show_what_there_is(folder: Path) -> int:
    """Lists the episodes of a single cell, or the cells. Returns 1 if a part of them
    cannot be read, else 0. Raises ConfigError if there are none.
    """
    cells = find_cells([folder])
    first = shlex.quote(str(cells[0].folder))
    if len(cells) == 1:
        table = _episodes(cells[0])
        what_next = f"{first} EPISODE"
    else:
        table = _cells(cells)
        what_next = first
    show(screen(), table)
    print(f"next: pddlego show {what_next}")
    return print_problems(cells.problems)


def _cells(cells: Iterable[CellRecord]) -> Table:
    table = Table("cell", "episodes", "won")
    for cell in cells:
        won = sum(row.success for row in cell.rows)
        table.add_row(str(cell.folder), str(len(cell.rows)), str(won))
    return table


def _episodes(cell: CellRecord) -> Table:
    table = Table("episode", "outcome", "steps", "calls", "answers")
    for row in cell.rows:
        answers = [f"{cause} {number}" for cause, number in row.causes.items()]
        table.add_row(
            f"{row.game}-{row.trial}",
            row.outcome,
            str(row.steps),
            str(row.calls),
            ", ".join(answers),
        )
    return table


def _readable(answer: str) -> str:
    """Returns an answer with the line breaks in its values, if it is a JSON object."""
    lines = []
    for key, part in parts_of(answer):
        is_short = key and "\n" not in part
        lines.append(f"{key}: {part}" if is_short else part)
    return "\n".join(lines)


# In a value, these stand for the characters that rich could read as markup. No other
# text has them, because `visible` replaces each lone surrogate.
_BRACKET = "\ud800"
_BACKSLASH = "\ud801"


def _literal(value: object) -> str:
    text = visible(str(value))
    return text.replace("[", _BRACKET).replace("\\", _BACKSLASH)


def _with_styles(rendered: str) -> Text:
    """Returns the text with the styles of the template; the values in it are
    literal.
    """
    text = Text.from_markup(rendered, emoji=False)
    plain = text.plain.replace(_BRACKET, "[").replace(_BACKSLASH, "\\")
    return Text(plain, spans=text.spans)


_EVENTS = (
    jinja(finalize=_literal)
    .from_string(
        Path(__file__).with_name("transcript.jinja").read_text(encoding="utf-8")
    )
    .make_module({"readable": _readable, "CAUSES": CAUSES, "OUTCOMES": OUTCOMES})
)

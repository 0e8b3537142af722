"""`pddlego show`: prints one transcript for reading in a terminal."""

import argparse
import shlex
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record import events
from pddlego_local.core.record.folder import read_events
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import find_cells
from pddlego_local.report.pages.episode import parts_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, runs = parser.add_argument, Path("runs")
    add("run", type=Path, nargs="?", default=runs, help="a folder at or below runs/")
    add("episode", nargs="?", help="GAME or GAME-TRIAL; RUN must then be or hold a single cell")
    add("--prompts", action="store_true", help="print the prompts as well")


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.episode is None:
        _show_what_there_is(arguments.run)
        return 0
    name = arguments.episode if "-" in arguments.episode else f"{arguments.episode}-0"
    path = _cell(arguments.run) / "transcripts" / f"{name}.jsonl"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in path.parent.glob("*.jsonl"))) or "none"
        raise ConfigError(f"{path}: no such transcript; there are: {there}")
    console = Console(highlight=False, soft_wrap=True)
    for event in read_events(path):
        for line in _lines(event, prompts=arguments.prompts):
            console.print(visible(line))
    return 0


def _cell(folder: Path) -> Path:
    """Returns the only cell at or below the folder. Raises ConfigError if there are several."""
    below = sorted(path.parent for path in folder.rglob("transcripts"))
    if len(below) > 1:
        raise ConfigError(
            f"{folder} holds {len(below)} cells; name one of them, such as {below[0]}"
        )
    return below[0] if below else folder


def _show_what_there_is(folder: Path) -> None:
    """Lists the episodes of a single cell, or the cells. Raises ConfigError if there are none."""
    cells = find_cells([folder])
    where = shlex.quote(str(cells[0].folder))
    if len(cells) == 1:
        table, what_next = Table("episode", "outcome", "steps", "calls", "answers"), " EPISODE"
        for row in cells[0].rows:
            causes = ", ".join(f"{cause} {count}" for cause, count in row.causes.items())
            numbers = (f"{row.game}-{row.trial}", row.outcome, row.steps, row.calls, causes)
            table.add_row(*map(str, numbers))
    else:
        table, what_next = Table("cell", "episodes", "won"), ""
        for cell in cells:
            won = sum(row.success for row in cell.rows)
            table.add_row(str(cell.folder), str(len(cell.rows)), str(won))
    show(screen(), table)
    print(f"next: pddlego show {where}{what_next}")


def _lines(event: events.Event, *, prompts: bool) -> list[str]:
    match event:
        case events.Start():
            return [f"[bold]game {event.game}[/]", f"  {escape(event.observation)}"]
        case events.Call():
            return _call(event, prompts=prompts)
        case events.Plan():
            steps = " ".join(event.plan) or event.message
            aim = f" for {event.goal}" if event.goal else ""
            return [f"[cyan]planner[/] {event.cause}{escape(aim)}: {escape(steps)}"]
        case events.Chosen():
            return [f"[cyan]chosen[/] sample {event.where.sample}"]
        case events.ActionTaken():
            mark = "[red]✗[/]" if event.refused else "[green]✓[/]"
            command = event.command or event.planned or ""
            answer = event.feedback or event.observation
            return [f"  {mark} [bold]{escape(command)}[/]  {escape(answer)}"]
        case events.Restart():
            return [f"[magenta]restart[/] replaying {len(event.replayed)} actions"]
        case events.Note():
            return [f"[blue]note[/] {escape(k)}: {escape(str(v))}" for k, v in event.facts.items()]
        case events.Repair():
            return [f"[magenta]repair[/] {escape(change)}" for change in event.changes]
        case events.EditApplied():
            return [f"[red]edit[/] {escape(fault)}" for fault in event.faults]
        case events.Unsolvable():
            return [f"[red]unsolvable[/] {escape(event.message)}"]
        case events.End(row=row):
            numbers = f"steps {row.steps}, actions {row.actions}, refused {row.refused}"
            cost = f"calls {row.calls}, {_tokens(row)}, {row.wall_time_s:.1f} s"
            means = OUTCOMES[row.outcome].means
            return [f"[bold]{row.outcome}[/] {means} ({numbers}, {cost})"]


def _call(call: events.Call, *, prompts: bool) -> list[str]:
    where = call.where
    place = f"step {where.step}, attempt {where.attempt}, retry {where.retry}"
    place += f", sample {where.sample} of {call.of}" if call.of > 1 else ""
    cost = f"{_tokens(call)}, {call.latency_s:.2f} s, {call.finish_reason}"
    lines = [f"\n[yellow]model[/] {escape(call.form)}, {place} ({cost})"]
    if call.stages:
        stages = ", ".join(_stage(stage) for stage in call.stages)
        lines.append(f"[dim]stages, tokens: {stages}[/]")
    if prompts:
        lines += [f"[dim]{escape(m.role)}:\n{escape(m.content)}[/]" for m in call.messages]
    if call.draft:
        lines += [f"[dim]{escape(text)}[/]" for text in (call.draft.text, call.draft.asked)]
    for stage in call.rejected:
        lines += [f"[red]rejected[/] {escape(stage.why)}", f"[dim]{escape(stage.text)}[/]"]
    if call.thought:
        lines.append(f"[dim]{escape(call.thought)}[/]")
    if call.fault:
        meaning = CAUSES[call.fault].means
        return [*lines, f"[red]{call.fault}[/] {meaning}", escape(call.text)]
    parts = parts_of(call.text)
    texts = [f"{key}: {part}" if key and "\n" not in part else part for key, part in parts]
    return [*lines, escape("\n".join(texts))]


def _tokens(counted: events.Call | EpisodeRow) -> str:
    forced = f" of which {counted.forced_tokens} forced" if counted.forced_tokens else ""
    return f"{counted.completion_tokens} tokens{forced}"


def _stage(stage: events.DrawnStage) -> str:
    forced = f" ({stage.forced_tokens} forced)" if stage.forced_tokens else ""
    rolled_back = "↩ " if stage.drop else ""
    return f"{rolled_back}{stage.name} {stage.completion_tokens}{forced}"

"""`pddlego show`: one transcript that a person can follow in a terminal."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from pddlego_local.errors import ConfigError
from pddlego_local.record import read_rows

HELP = "one episode's transcript, to read"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="a cell's folder, below runs/<experiment>/")
    parser.add_argument("episode", help="GAME or GAME-TRIAL, such as 7 or 7-0")
    parser.add_argument("--prompts", action="store_true", help="print the prompts as well")


def carry_out(given: argparse.Namespace) -> int:
    name = given.episode if "-" in given.episode else f"{given.episode}-0"
    folder = given.run / "transcripts"
    path = folder / f"{name}.jsonl"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl"))) or "none"
        raise ConfigError(f"{path}: no such transcript; there are: {there}")
    console = Console(highlight=False, soft_wrap=True)
    for event in read_rows(path):
        for line in _lines(event, prompts=given.prompts):
            console.print(line)
    return 0


def _lines(event: dict[str, Any], *, prompts: bool) -> list[str]:
    match event["event"]:
        case "start":
            return [f"[bold]game {event['game']}[/]", f"  {escape(event['observation'])}"]
        case "call":
            return _call(event, prompts=prompts)
        case "plan":
            steps = " ".join(event["plan"]) or event["message"]
            aim = f" for {event['goal']}" if event["goal"] else ""
            return [f"[cyan]planner[/] {event['outcome']}{escape(aim)}: {escape(steps)}"]
        case "action":
            mark = "[red]✗[/]" if event["feedback"] else "[green]✓[/]"
            said = event["feedback"] or event["observation"]
            return [
                f"  {mark} [bold]{escape(event['command'] or event['planned'])}[/]  {escape(said)}"
            ]
        case "restart":
            return [f"[magenta]restart[/] replaying {len(event['replayed'])} actions"]
        case "note":
            facts = {key: value for key, value in event.items() if key != "event"}
            return [f"[blue]note[/] {escape(key)}: {escape(str(v))}" for key, v in facts.items()]
        case "repair":
            return [f"[magenta]repair[/] {escape(change)}" for change in event["changes"]]
        case "edit":
            return [f"[red]edit[/] {escape(fault)}" for fault in event["faults"]]
        case "end":
            numbers = ("steps", "actions", "calls", "completion_tokens", "wall_time_s")
            told = ", ".join(f"{key} {event[key]}" for key in numbers)
            return [f"[bold]{event['outcome']}[/] ({told})"]
        case other:
            return [f"{other}: {escape(str(event))}"]


def _call(event: dict[str, Any], *, prompts: bool) -> list[str]:
    names = (name for name in ("step", "attempt", "retry", "sample") if name in event)
    where = ", ".join(f"{name} {event[name]}" for name in names)
    cost = (
        f"{event['completion_tokens']} tokens, {event['latency_s']:.2f} s, {event['finish_reason']}"
    )
    lines = [f"\n[yellow]model[/] {event['form']}, {where} ({cost})"]
    if stages := event.get("stages"):
        told = ", ".join(f"{stage['name']} {stage['completion_tokens']}" for stage in stages)
        lines.append(f"[dim]stages, tokens: {told}[/]")
    if prompts:
        lines += [
            f"[dim]{escape(m['role'])}:\n{escape(m['content'])}[/]" for m in event["messages"]
        ]
    if event["thought"]:
        lines.append(f"[dim]{escape(event['thought'])}[/]")
    if event["fault"]:
        return [*lines, f"[red]{event['fault']}[/]", escape(event["text"])]
    return [*lines, escape(_unpacked(event["text"]))]


def _unpacked(text: str) -> str:
    """The strings of an answer with their line breaks, as a person reads them."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    if not isinstance(answer, dict):
        return text
    return "\n".join(
        v if isinstance(v, str) else f"{k}: {json.dumps(v)}" for k, v in answer.items()
    )

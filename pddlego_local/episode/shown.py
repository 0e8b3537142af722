"""What a prompt shows of the game, written down while it is rendered.

A template passes what it shows through one of the filters here. They return it as text and keep
it, so that a grammar can know exactly the names that the prompt shows (the rung "grounded").
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import jinja2
from jinja2.runtime import Context

from pddlego_local.core.nouns import Turn


@dataclass
class Shown:
    """A rendered text and what it shows of the game.

    `turns` are commands and what was seen after them, those of examples included, `pddl` the PDDL
    files, `commands` those that are offered.
    """

    text: str = ""
    turns: list[Turn] = field(default_factory=list)
    pddl: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def transcript(turns: Sequence[Turn]) -> str:
    """Turns as a prompt shows them: "Action: move west" and, on the next line, what was seen."""
    return "\n".join(f"Action: {turn.command}\n{turn.text}" for turn in turns)


@jinja2.pass_context
def _turns(context: Context, turns: Sequence[Turn] | str) -> str:
    """Turns, or the text of an example in the same form."""
    text = turns if isinstance(turns, str) else transcript(turns)
    context["shown_here"].turns.extend(_read(turns) if isinstance(turns, str) else turns)
    return text


@jinja2.pass_context
def _dialogue(context: Context, text: str) -> str:
    """An actor's game as an example: its own JSON objects, and what the game answered."""
    context["shown_here"].turns.extend(_read_dialogue(text))
    return text


@jinja2.pass_context
def _observed(context: Context, text: str) -> str:
    """What the game said, alone."""
    context["shown_here"].turns.append(Turn("", text))
    return text


@jinja2.pass_context
def _command(context: Context, command: str) -> str:
    """A command that is shown as an example."""
    context["shown_here"].turns.append(Turn(command, ""))
    return command


@jinja2.pass_context
def _example(context: Context, template: str) -> str:
    """A command with its names in brackets, as schemas of commands are shown."""
    context["shown_here"].turns.append(Turn(template.replace("[", "").replace("]", ""), ""))
    return template


@jinja2.pass_context
def _pddl(context: Context, text: str) -> str:
    context["shown_here"].pddl.append(text)
    return text


@jinja2.pass_context
def _edits(context: Context, text: str) -> str:
    """An edit as an example: the objects that it adds."""
    added = " ".join(json.loads(text)["objects"]["add"])
    context["shown_here"].pddl.append(f"(define (problem example) (:objects {added}))")
    return text


@jinja2.pass_context
def _offered(context: Context, commands: Sequence[str]) -> Sequence[str]:
    context["shown_here"].commands.extend(commands)
    return commands


def _read(text: str) -> Iterator[Turn]:
    """Turns from the text that `transcript` makes of them."""
    for part in re.split(r"^Action: ", text, flags=re.MULTILINE)[1:]:
        command, _, seen = part.partition("\n")
        yield Turn(command, seen.strip())


def _read_dialogue(text: str) -> Iterator[Turn]:
    command, seen = "", list[str]()
    for line in text.splitlines():
        if not line.startswith("{"):
            seen.append(line)
        elif (move := json.loads(line))["kind"] == "act":
            yield Turn(command, "\n".join(seen))
            command, seen = move["text"], []
    yield Turn(command, "\n".join(seen))


FILTERS = {
    "turns": _turns,
    "dialogue": _dialogue,
    "observed": _observed,
    "command": _command,
    "example": _example,
    "pddl": _pddl,
    "edits": _edits,
    "offered": _offered,
}

"""What a prompt shows of the game, written down while it is rendered, and the names in that.

A template passes what it shows through one of the filters here. They return it as text and keep
it, so that a grammar can know exactly the names that the prompt shows (the rung "grounded"): no
more and no less. Those are the names of the game's texts, as the environment reads them, of the
commands, and of the objects that the PDDL files in the prompt declare; demonstrations count as what
else is shown.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jinja2
from jinja2.runtime import Context

from pddlego_local.core.nouns import Names, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read


@dataclass
class Shown:
    """A rendered text and what it shows of the game.

    `turns` are commands and what was seen after them, `examples` those of demonstrations, which are
    another game's; `pddl` are the PDDL files, `commands` those that are offered.
    """

    text: str = ""
    turns: list[Turn] = field(default_factory=list)
    examples: list[Turn] = field(default_factory=list)
    pddl: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def transcript(turns: Sequence[Turn]) -> str:
    """Turns as a prompt shows them: "Action: move west" and, on the next line, what was seen."""
    return "\n".join(f"Action: {turn.command}\n{turn.text}" for turn in turns)


def names_shown(environment: Environment, shown: Shown) -> Names:
    """What a grammar may know: the names that the prompt shows."""
    # One after the other: a room of the game may have the name of one of a demonstration.
    texts = [environment.names(turns) for turns in (shown.examples, shown.turns)]
    declared = [name for text in shown.pddl for name in _declared(text)]
    in_commands = [
        name
        for turn in (*shown.examples, *shown.turns)
        for action in environment.actions
        for name in (action.arguments(turn.command) or {}).values()
    ]
    seen = [name for one in texts for name in one.objects]
    objects = {name.lower(): name for name in reversed([*seen, *declared])}
    return Names(
        tuple(reversed(objects.values())),
        tuple(dict.fromkeys([*(name for one in texts for name in one.things), *in_commands])),
    )


def _declared(text: str) -> Iterator[str]:
    """The constants of a domain or the objects of a problem, as far as the text can be read."""
    if (block := read(text, lambda *_: None)) is None:
        return
    is_problem = any(item.head == "problem" for item in block.blocks)
    entries = read_problem(block).objects if is_problem else read_domain(block).constants
    yield from (entry.word.text for entry in entries)


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


def _added(edit: str) -> Iterator[str]:
    """The objects that an edit adds, as a file that declares them."""
    added = " ".join(json.loads(edit)["objects"]["add"])
    yield f"(define (problem example) (:objects {added}))"


def _keeps(
    what: str, parts: Callable[[Any], Iterable[Turn | str]]
) -> Callable[[Context, Any], Any]:
    """A filter that adds these `parts` of what is shown to one list of the prompt's `Shown`."""

    @jinja2.pass_context
    def keep(context: Context, shown: Any) -> Any:
        getattr(context["shown_here"], what).extend(parts(shown))
        return shown

    return keep


@jinja2.pass_context
def _turns(context: Context, shown: Sequence[Turn] | str) -> str:
    here: Shown = context["shown_here"]
    if isinstance(shown, str):
        here.examples.extend(_read(shown))
        return shown
    here.turns.extend(shown)
    return transcript(shown)


FILTERS = {
    # turns, or the text of an example in the same form
    "turns": _turns,
    # an actor's game as an example: its own JSON objects, and what the game answered
    "dialogue": _keeps("examples", _read_dialogue),
    # what the game said, alone
    "observed": _keeps("turns", lambda text: [Turn("", text)]),
    # a command that is shown as an example
    "command": _keeps("examples", lambda command: [Turn(command, "")]),
    # a command with its names in brackets, as schemas of commands are shown
    "example": _keeps("examples", lambda template: [Turn(re.sub(r"[][]", "", template), "")]),
    "pddl": _keeps("pddl", lambda text: [text]),
    # an edit as an example
    "edits": _keeps("pddl", _added),
    "offered": _keeps("commands", lambda commands: commands),
}

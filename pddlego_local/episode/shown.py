"""Records what a prompt shows of the game while it is rendered, and finds the names in
it.

A template passes what it shows through one of the filters here. A filter returns it as
text and keeps it, so that a grammar permits exactly the names that the prompt shows
(the rung "grounded"). These names come from the game's texts, as the environment reads
them, from the commands, and from the objects that the PDDL files in the prompt declare.
Demonstrations are treated like everything else that is shown; solved examples are not:
an object that only another world has is not shown of this one.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jinja2
from jinja2.runtime import Context

from pddlego_local.core.nouns import Names, Turn, Turns
from pddlego_local.core.protocols import Environment
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read


@dataclass
class Shown:
    """A rendered text and what it shows of the game.

    `turns` are commands and the observations after them, and `pddl` are the PDDL files.
    `examples` and `example_pddl` are the turns and the files of demonstrations, which
    come from another game. `commands` are the commands that are offered.
    """

    text: str = ""
    turns: list[Turn] = field(default_factory=list)
    examples: list[Turn] = field(default_factory=list)
    example_pddl: list[str] = field(default_factory=list)
    pddl: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def transcript(turns: Turns) -> str:
    """Formats turns for a prompt: "Action: move west" and, on the next line, the
    observation.
    """
    lines = []
    for turn in turns:
        lines += [f"Action: {turn.command}", turn.text]
    return "\n".join(lines)


def names_shown(environment: Environment, shown: Shown) -> Names:
    """Returns the names that the prompt shows; a grammar may use no others."""
    # Read separately: a room of the game may have the same name as one in a
    # demonstration.
    objects: list[str] = []
    things: list[str] = []
    for turns in (shown.examples, shown.turns):
        names = environment.names(turns)
        objects += names.objects
        things += names.things
    for text in (*shown.example_pddl, *shown.pddl):
        objects += _declared(text)
    for turn in (*shown.examples, *shown.turns):
        for action in environment.actions:
            arguments = action.arguments(turn.command) or {}
            things += arguments.values()
    # PDDL knows no capitals. Of several spellings, the first is used, at the place of
    # the last.
    spelled: dict[str, str] = {}
    for name in objects:
        key = name.lower()
        spelled[key] = spelled.pop(key, name)
    distinct_things = dict.fromkeys(things)
    return Names(tuple(spelled.values()), tuple(distinct_things))


def _declared(text: str) -> Iterator[str]:
    """Yields a domain's constants or a problem's objects, as far as the text can be
    parsed.
    """
    block = read(text, lambda *_: None)
    if block is None:
        return
    is_problem = any(item.head == "problem" for item in block.blocks)
    if is_problem:
        declared = read_problem(block).objects
    else:
        declared = read_domain(block).constants
    for entry in declared:
        yield entry.word.text


def _read(text: str) -> Iterator[Turn]:
    """Yields the turns in a text that has the format of `transcript`."""
    for part in re.split(r"^Action: ", text, flags=re.MULTILINE)[1:]:
        command, _, seen = part.partition("\n")
        yield Turn(command, seen.strip())


def _read_dialogue(text: str) -> Iterator[Turn]:
    command = ""
    seen = list[str]()
    for line in text.splitlines():
        if not line.startswith("{"):
            seen.append(line)
            continue
        move = json.loads(line)
        if move["kind"] == "act":
            yield Turn(command, "\n".join(seen))
            command = move["text"]
            seen = []
    yield Turn(command, "\n".join(seen))


def _added(edit: str) -> Iterator[str]:
    """Yields a file that declares the objects that an edit adds."""
    added = " ".join(json.loads(edit)["objects"]["add"])
    yield f"(define (problem example) (:objects {added}))"


def _keeps(
    where: str, parts: Callable[[Any], Iterable[Turn | str]]
) -> Callable[[Context, Any], Any]:
    """Returns a filter that adds these `parts` of its input to one list of the prompt's
    `Shown`.
    """

    @jinja2.pass_context
    def keep(context: Context, shown: Any) -> Any:
        getattr(context["shown_here"], where).extend(parts(shown))
        return shown

    return keep


@jinja2.pass_context
def _turns(context: Context, shown: Turns | str) -> str:
    here: Shown = context["shown_here"]
    if isinstance(shown, str):
        here.examples.extend(_read(shown))
        return shown
    here.turns.extend(shown)
    return transcript(shown)


@jinja2.pass_context
def _pddl(context: Context, text: str) -> str:
    here: Shown = context["shown_here"]
    # Templates use one filter for all files. Their texts are hashed into records, so
    # they stay.
    demonstration = context["environment"].get("demonstration", {})
    if text == demonstration.get("problem"):
        here.example_pddl.append(text)
    else:
        here.pddl.append(text)
    return text


FILTERS = {
    # turns, or the text of an example in the same form
    "turns": _turns,
    # an example game of an actor: its JSON objects and the game's answers
    "dialogue": _keeps("examples", _read_dialogue),
    # an observation without its command
    "observed": _keeps("turns", lambda text: [Turn("", text)]),
    # a command that is shown as an example
    "command": _keeps("examples", lambda command: [Turn(command, "")]),
    # a command with its names in brackets, like the schemas of commands in a prompt
    "example": _keeps(
        "examples", lambda template: [Turn(re.sub(r"[][]", "", template), "")]
    ),
    "pddl": _pddl,
    # an edit as an example
    "edits": _keeps("example_pddl", _added),
    # the file of a solved example, whose names are not the game's
    "solved": _keeps("example_pddl", lambda file: []),
    "offered": _keeps("commands", lambda commands: commands),
}

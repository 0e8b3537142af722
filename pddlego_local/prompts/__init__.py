"""Prompts are data: `<method>/<part>.jinja` says what is told. The words of an environment, and the
examples that some methods show for it, lie in the environment's folder (`environments.family`).
Methods that ask alike share a folder. All is hashed into the record.

A template passes what it shows of the game through a filter, which writes it down: `turns` and
`dialogue` for what was done and seen, `pddl` for files, `offered` for commands. So a grammar can
know exactly the names that the prompt shows (the rung "grounded").
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import jinja2
from jinja2 import meta
from jinja2.runtime import Context

from pddlego_local.core import Turn
from pddlego_local.environments import family

_FOLDER = resources.files(__name__)
_JINJA = jinja2.Environment(
    loader=jinja2.FunctionLoader(lambda name: (_FOLDER / name).read_text()),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)


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


def render(template: str, environment: str, **facts: object) -> Shown:
    """One message of the template "pddlego_plus/prompt".

    `environment` is its package. `facts` are what the template names; it also finds `environment`,
    its words, and `examples`.
    """
    names = words(template.partition("/")[0])
    shown = Shown()
    shown.text = _JINJA.get_template(f"{template}.jinja").render(
        environment=family.words(environment, names[0]),
        examples=family.words(environment, names[1]) if names[1:] else {},
        shown_here=shown,
        **facts,
    )
    return shown


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


_FILTERS = (_turns, _dialogue, _observed, _command, _example, _pddl, _edits, _offered)
_JINJA.filters |= {filter_.__name__.removeprefix("_"): filter_ for filter_ in _FILTERS}


@cache
def words(folder: str) -> tuple[str, ...]:
    """The files that the prompts of this folder need of an environment."""
    named = (meta.find_undeclared_variables(_JINJA.parse(text)) for text in _templates(folder))
    needed = {"environment"}.union(*named)
    return ("prompts/environment.yaml",) + (f"prompts/{folder}.yaml",) * ("examples" in needed)


def sha256(folder: str, environment: str) -> str:
    """One hash for all that the prompts of this folder in this environment are made from.

    "" if there is no folder: a method that asks no model.
    """
    if not folder:
        return ""
    texts = [*_templates(folder), *(family.text(environment, name) for name in words(folder))]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _templates(folder: str) -> list[str]:
    files = [file for file in (_FOLDER / folder).iterdir() if file.name.endswith(".jinja")]
    return [file.read_text() for file in sorted(files, key=lambda file: file.name)]

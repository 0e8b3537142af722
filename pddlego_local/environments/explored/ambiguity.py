"""Refuses texts that could be read in two ways.

A method learns of the world from the texts alone. So each predicate and each action is
said with names in its slots, and what is said must have one reading: its own.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.phrases import (
    Phrase,
    grouped_facts,
    sentence,
    spelled,
)
from pddlego_local.environments.explored.play import (
    GOAL,
    LOOK,
    NO_LONGER,
    REFUSED,
    TASK,
)
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import Task

_MANNERS = ("big", "old", "new", "red")
_OTHER_PHRASE = "give one of them another phrase"


class Said(NamedTuple):
    """A sentence that says facts. `key` names the phrase in `world.yaml`."""

    key: str
    text: str
    facts: Sequence[Fact]
    place: str


def refuse_ambiguous(world: World, telling: Telling, commands: Commands) -> None:
    """Raises ConfigError for the first text of a world with a second reading."""
    for said in _all_said(telling):
        _check_fact(world, telling, said)
    _check_aims(world, telling)
    _check_kinds(world, telling)
    for text in (world.file.task or TASK).split(". "):
        _check_no_fact(world, telling, "task", sentence(text.removesuffix(".")))
    for name, phrase in commands.phrases.items():
        for names in _fillings(phrase.parameters):
            _check_command(world, commands, name, names)
            command = phrase.said(names)
            _check_no_fact(world, telling, f"do.{name}", f"You {command}.")


def refuse_names(
    world: World, task: Task, telling: Telling, commands: Commands
) -> None:
    """Raises ConfigError for an object whose name would be misread, since it has a word
    of a phrase.
    """
    phrases = [
        *(*telling.phrases.values(), *telling.defaults.values()),
        *(*telling.aims.values(), *commands.phrases.values()),
    ]
    words = {"and", *(w for each in phrases for w in each.around.lower().split())}
    stems = {re.sub(r"\d+$", "", name): name for name in task.objects}
    for name in stems.values():
        if words.isdisjoint(spelled(name).split()) and not re.search("[.,;:]", name):
            continue
        for key, text in _misread_with(name, telling, commands):
            raise ConfigError(
                f"{world.folder}: the name {name} would be misread in {text!r}; give"
                f" the object another name, or change {key} in world.yaml."
            )


def _misread_with(
    name: str, telling: Telling, commands: Commands
) -> Iterator[tuple[str, str]]:
    """Yields the key of each phrase that is misread with this name, and the text."""
    for said in _all_said(telling, name):
        if telling.readings(said.text, said.place) != [tuple(said.facts)]:
            yield said.key, said.text
    for predicate, phrase in telling.aims.items():
        for things in _fillings(phrase.parameters, name):
            text = phrase.said(things)
            if telling.aim_readings(text) != [((predicate, *things.values()),)]:
                yield f"aim.{predicate}", text
    for action, phrase in commands.phrases.items():
        for things in _fillings(phrase.parameters, name):
            command = phrase.said(things)
            if phrase.read(command) != {slot: [things[slot]] for slot in phrase.slots}:
                yield f"do.{action}", command


def _all_said(telling: Telling, name: str = "") -> Iterator[Said]:
    """Yields sentences for facts of every predicate. `name` is among their things."""
    for predicate in telling.phrases:
        for phrase in telling.used(predicate):
            yield from _said_of(predicate, phrase, name)


def _said_of(predicate: str, phrase: Phrase, name: str) -> Iterator[Said]:
    place = "some_place"
    for names in _fillings(phrase.parameters, name):
        things = names | dict.fromkeys(phrase.unsaid, place)
        if name and name not in things.values():
            continue
        star = phrase.starred
        listed = [things[star], "thing8", "good_thing"] if star else [""]
        for count in range(1, len(listed) + 1):
            facts = [
                (predicate, *(things | ({star: each} if star else {})).values())
                for each in listed[:count]
            ]
            (filled,) = grouped_facts(facts, phrase)
            text = sentence(phrase.said(filled))
            yield Said(f"say.{predicate}", text, facts, place)


def _fillings(parameters: Sequence[str], name: str = "") -> Iterator[dict[str, str]]:
    """Yields names for parameters: with numbers, and of two words. With `name`, each
    parameter has it in turn.
    """
    numbered = {each: f"thing{n}" for n, each in enumerate(parameters, start=1)}
    in_words = {
        each: f"{_MANNERS[n % len(_MANNERS)]}_{'x' * (n // len(_MANNERS))}thing"
        for n, each in enumerate(parameters)
    }
    for names in (numbered, in_words):
        if not name:
            yield names
        else:
            yield from (names | {each: name} for each in parameters)


def _check_fact(world: World, telling: Telling, said: Said) -> None:
    own = tuple(said.facts)
    readings = telling.readings(said.text, said.place)
    for other in readings:
        if other != own and own in readings:
            _two_readings(world, said.key, said.text, _written(own), _written(other))
    if own not in readings:
        _misread(world, said.key, said.text, readings, own)
    if kind := telling.read_kind(said.text):
        type_of = f"the type {kind[1]} of {kind[0]}"
        _two_readings(world, said.key, said.text, _written(own), type_of)
    for beginning in (REFUSED, NO_LONGER, GOAL):
        if said.text.startswith(beginning):
            raise world.wrong(
                said.key,
                f"the game itself begins texts with {beginning.strip()!r}; begin the"
                " phrase in another way",
            )


def _check_aims(world: World, telling: Telling) -> None:
    """Checks the words of goals."""
    for name, phrase in telling.aims.items():
        for things in _fillings(phrase.parameters):
            own = ((name, *things.values()),)
            text = phrase.said(things)
            readings = telling.aim_readings(text)
            for other in readings:
                if other != own and own in readings:
                    written = _written(own), _written(other)
                    _two_readings(world, f"aim.{name}", text, *written)
            if own not in readings:
                _misread(world, f"aim.{name}", text, readings, own)


def _check_kinds(world: World, telling: Telling) -> None:
    """Checks the sentences that tell the type of an object."""
    for kind in sorted(world.type_names):
        for name in ("thing1", "big_thing"):
            text = telling.kind(name, kind)
            for facts in telling.readings(text, "some_place"):
                key = f"say.{facts[0][0]}"
                type_of = f"the type {kind} of {name}"
                _two_readings(world, key, text, type_of, _written(facts))


def _check_no_fact(world: World, telling: Telling, key: str, text: str) -> None:
    """Raises ConfigError if a text that says no fact would be read as one."""
    if text.startswith((REFUSED, NO_LONGER, GOAL)):
        raise world.wrong(
            key, f"the game would say {text!r}, as it does when it refuses a command"
        )
    for facts in telling.readings(text, "some_place"):
        raise world.wrong(
            key,
            f"the game says {text!r}, which would be read as {_written(facts)} of"
            f" say.{facts[0][0]}; change one of the two phrases",
        )
    if kind := telling.read_kind(text):
        raise world.wrong(
            key,
            f"the game says {text!r}, which would be read as the type of {kind[0]}",
        )


def _check_command(
    world: World, commands: Commands, name: str, names: dict[str, str]
) -> None:
    own = commands.phrases[name]
    command = own.said(names)
    if command.lower() == LOOK:
        raise world.wrong(f"do.{name}", f"{LOOK!r} is a command of every world")
    said = {slot: [names[slot]] for slot in own.slots}
    if own.read(command) != said:
        raise world.wrong(
            f"do.{name}",
            f"{command!r} would be read as {own.read(command)}, not as {said}; put a"
            " comma or a word between the names",
        )
    for other, phrase in commands.phrases.items():
        read = None if other == name else phrase.read(command)
        if read is None:
            continue
        exist = {each for several in read.values() for each in several}
        if exist <= set(names.values()):
            _two_readings(world, f"do.{name}", command, name, other)


def _two_readings(world: World, key: str, text: str, one: str, other: str) -> NoReturn:
    raise world.wrong(
        key, f"{text!r} could be read as {one} or as {other}; {_OTHER_PHRASE}"
    )


def _misread(
    world: World,
    key: str,
    text: str,
    readings: Sequence[Sequence[Fact]],
    own: Sequence[Fact],
) -> NoReturn:
    read = _written(readings[0]) if readings else "nothing"
    raise world.wrong(
        key,
        f"{text!r} would be read as {read}, not as {_written(own)}; put a comma or a"
        " word between the names",
    )


def _written(facts: Sequence[Fact]) -> str:
    return " ".join(f"({' '.join(fact)})" for fact in facts)

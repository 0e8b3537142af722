"""Refuses what an author can get wrong in `world.yaml`, each in one sentence."""

import re
from collections.abc import Iterable

from pddlego_local.core.nearest import did_you_mean
from pddlego_local.environments.explored.ambiguity import refuse_ambiguous
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.phrases import Phrase
from pddlego_local.environments.explored.sight import Sight
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.state import Task

_FULL_STOP = re.compile(r"\.(\s|$)|[;\n]")


def refuse_mistakes(world: World, task: Task) -> None:
    """Raises ConfigError for the first mistake in a world's file. `task` is one of its
    problems.
    """
    _check_here(world)
    telling = Telling(world)
    commands = Commands(world, task, Sight(world, task))
    _refuse_unknown(world, "say", world.file.say, telling.phrases, "predicate")
    _refuse_unknown(world, "aim", world.file.aim, telling.aims, "predicate")
    _refuse_unknown(world, "do", world.file.do, commands.phrases, "action")
    _refuse_unknown(
        world, "known", world.file.known or (), {"object", *world.type_names}, "type"
    )
    for name in world.file.say:
        _check_fact(world, name, telling.phrases[name])
    for name in world.file.aim:
        _check_aim(world, name, telling.aims[name])
    for name in world.file.do:
        _check_command(world, name, commands.phrases[name])
    _refuse_hidden(world, task, commands)
    refuse_ambiguous(world, telling, commands)


def _check_here(world: World) -> None:
    here = world.here
    types = {"object", *world.type_names}
    for entry in (*here.movers, here.place):
        if not entry.name.startswith("?"):
            raise world.wrong("here", f"{entry.name} is no variable; write ?x")
        for kind in entry.type_names - types:
            listed = ", ".join(sorted(world.type_names))
            raise world.wrong("here", f"there is no type {kind}; there are {listed}")
    if here.predicate in world.derived:
        raise world.wrong(
            "here", f"{here.predicate} is derived; name a predicate that actions change"
        )


def _refuse_unknown(
    world: World, key: str, names: Iterable[str], known: Iterable[str], kind: str
) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            there_are = ", ".join(sorted(known)) or "none"
            raise world.wrong(
                f"{key}.{name}",
                f"there is no such {kind}{hint} The {kind}s are {there_are}",
            )


def _check_fact(world: World, name: str, phrase: Phrase) -> None:
    key = f"say.{name}"
    _check_phrase(world, key, phrase)
    for left_out in phrase.unsaid:
        if not world.is_place(name, phrase.parameters.index(left_out)):
            raise world.wrong(key, f"it leaves out {left_out}, which is no place")


def _check_command(world: World, name: str, phrase: Phrase) -> None:
    key = f"do.{name}"
    _check_phrase(world, key, phrase)
    if phrase.starred:
        raise world.wrong(
            key, f"a command names one {phrase.starred}; leave out the star"
        )


def _check_phrase(world: World, key: str, phrase: Phrase) -> None:
    """Raises ConfigError for slots that are none, or a phrase that is no clause."""
    if not phrase.text.strip():
        raise world.wrong(key, "the phrase is empty")
    if "{" in phrase.around or "}" in phrase.around:
        raise world.wrong(
            key, "a slot is a parameter's name in braces, such as {x} or {x*}"
        )
    if unknown := phrase.unknown:
        listed = ", ".join(phrase.parameters) or "(it has none)"
        raise world.wrong(key, f"{unknown[0]} is none of its parameters {listed}")
    twice = [slot for slot in phrase.slots if phrase.slots.count(slot) > 1]
    if twice:
        raise world.wrong(key, f"{twice[0]} occurs twice; name each slot once")
    if phrase.text.count("*}") > 1:
        raise world.wrong(key, "two slots have a star; one may take a list")
    if _FULL_STOP.search(phrase.text):
        raise world.wrong(
            key,
            "a phrase is part of one sentence; leave out full stops, semicolons and"
            " line breaks",
        )


def _check_aim(world: World, name: str, phrase: Phrase) -> None:
    key = f"aim.{name}"
    _check_phrase(world, key, phrase)
    if phrase.unsaid:
        raise world.wrong(
            key, f"it leaves out {phrase.unsaid[0]}, and a goal names all of a fact"
        )
    if phrase.starred:
        raise world.wrong(key, "a goal has no lists; leave out the star")


def _refuse_hidden(world: World, task: Task, commands: Commands) -> None:
    """Raises ConfigError for a command that names an argument which is not seen."""
    for schema in task.schemas:
        slots = commands.phrases[schema.name].slots
        if named := commands.unseen(schema).intersection(slots):
            raise world.wrong(
                f"do.{schema.name}",
                f"it names {min(named)}, which `hide` says is not seen yet; leave it"
                " out",
            )

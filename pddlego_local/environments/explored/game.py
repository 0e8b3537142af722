"""Partly seen worlds: any typed PDDL domain as a text game, in which the player sees
only what is visible from where it is.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, model_validator

from pddlego_local.core.chart import Chart
from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import (
    Action,
    DeadEnds,
    Goal,
    Names,
    Observation,
    Roles,
    TrueState,
    Turns,
)
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.environments.described.wording import rules_in_words
from pddlego_local.environments.explored.aims import (
    WHOLE,
    aims_of,
    all_of,
    deps_words,
    is_reached,
)
from pddlego_local.environments.explored.ambiguity import refuse_names
from pddlego_local.environments.explored.belief import Belief, Beliefs
from pddlego_local.environments.explored.box import folder_of
from pddlego_local.environments.explored.charting import chart_of
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.draws import problem_text, seeds_of
from pddlego_local.environments.explored.folder import DOMAIN, hashes_of, texts_of
from pddlego_local.environments.explored.hidden import hidden_of
from pddlego_local.environments.explored.marks import Mark, marks_of, with_marks
from pddlego_local.environments.explored.mistakes import refuse_mistakes
from pddlego_local.environments.explored.phrases import Phrase, spelled
from pddlego_local.environments.explored.play import LOOK, REFUSED, Play
from pddlego_local.environments.explored.renamed import renamed, renamed_problem
from pddlego_local.environments.explored.sight import Sight
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World, read_file, read_world
from pddlego_local.environments.maps import map_hash
from pddlego_local.pddl.edit import difference
from pddlego_local.pddl.files import read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.state import Task

MOST_TRIED = 20
_NOTHING = {"words": "do nothing", "pddl": "(and)"}
_PARAMETER = re.compile(r"\?([^\s()]+)")
_EMPTY = "(define (problem believed) (:objects) (:init))"
_TASK = "You act in a world that you see only in part, and explore it step by step."
_SPELLING = (
    "PDDL writes a name as one word: living_room for the living room, room3 for room 3."
)
_CLOSED = (
    "Put everything that you are told into the files, and nothing else. What is in"
    " sight and is not told is not so."
)


class Explored(BaseEnvironment):
    """The games of a folder with `domain.pddl`, `world.yaml`, and problems or
    `draw.py`. It is one's own `folder`, or that of a `world` in the box. `sizes` are
    the least and the greatest size of a drawn game. If `renamed`, all names are
    pseudo-words.
    """

    world: str | None = None
    folder: Path | None = None
    sizes: tuple[int, int] | None = None
    renamed: bool = False
    _world: World
    _marks: tuple[Mark, ...]
    _beliefs: Beliefs
    _phrases: Mapping[str, Phrase]
    _play: Play | None = None
    _goal: str = ""
    _map: str = ""

    @model_validator(mode="wrap")
    @classmethod
    def _of_folder(
        cls, given: dict[str, Any], validated: ModelWrapValidatorHandler[Self]
    ) -> Self:
        """Fills in the fields that the files of the folder determine."""
        in_file = _world(given)
        world = _in_sizes(in_file, given.get("sizes"))
        task = world.task(_text(world, 0))
        refuse_mistakes(world, task)
        marks = marks_of(world)
        of_files = {
            "domain": with_marks(world.domain_without_costs, marks),
            "actions": [vars(action) for action in _actions(world, task)],
            "goals": [{"words": m.words, "pddl": m.goal} for m in marks] or [_NOTHING],
            "words": _words(in_file, marks),  # one example for all sizes
            "examples": {"deps": deps_words(world), **given.get("examples", {})},
            "roles": _roles(world),
        }
        environment = validated({**given, **of_files})
        environment._world = world
        environment._marks = marks
        environment._beliefs = Beliefs(world, marks)
        environment._phrases = {
            action.name: Phrase(action.command, _PARAMETER.findall(action.parameters))
            for action in environment.actions
        }
        return environment

    @classmethod
    def settled(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options with the budget and the sizes of `world.yaml` where they
        have none.
        """
        given = options.get("budget")
        if not isinstance(given, Mapping):
            return options
        folder = folder_of(options)
        file = read_file(folder, texts_of(folder))
        chosen = {key: value for key, value in given.items() if value is not None}
        return {
            **options,
            "budget": {**vars(file.budget), **chosen},
            "sizes": options.get("sizes") or (file.sizes and list(file.sizes)),
        }

    # ---- The game

    @property
    def loaded(self) -> World:
        return self._world

    @property
    def files_sha256(self) -> dict[str, str]:
        return hashes_of(self._world.files)

    @property
    def dead_ends(self) -> DeadEnds:
        checked = self._world.file.checked
        found = checked.model_dump() if checked else {}
        return DeadEnds(world=self.task_type, **found)

    @property
    def seeds(self) -> range:
        return seeds_of(self._world)

    @property
    def task_type(self) -> str:
        return self._world.folder.name

    @property
    def map(self) -> str:
        return self._map

    def reset(self, seed: int) -> Observation:
        drawn = self.drawn(seed)
        self._map = map_hash(self.name, drawn)  # whether or not it is renamed
        text = _with_own_names(self._world, drawn)
        self._goal = goal_of(text)
        task = self._world.task(text)
        self._play = Play(self._world, task, self._goal)
        refuse_names(self._world, task, Telling(self._world), self._play.commands)
        return self._observe(self._play.opening())

    def drawn(self, seed: int) -> str:
        """Returns the problem that a seed plays, in the names of the folder's files."""
        return problem_text(self._world, seed)

    def step(self, command: str) -> Observation:
        told = self.play.carry_out(command)
        refused = told.startswith(REFUSED)
        return self._observe(told, told if refused else "")

    def true_state(self) -> TrueState:
        return replace(self.play.true_state, roles=self.roles)

    def won(self) -> bool:
        return self.play.won

    @property
    def play(self) -> Play:
        """The game that is being played."""
        if self._play is None:
            raise ValueError("reset comes before the first step")
        return self._play

    def _observe(self, text: str, feedback: str = "") -> Observation:
        offered = tuple(sorted(self.play.offered()))
        return Observation(text, feedback, self.play.won, commands=offered)

    # ---- What methods are given

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        end = Goal(self._world.file.task or WHOLE, self._goal)
        return (end, *(Goal(mark.words, mark.goal) for mark in self._marks))

    def names(self, memory: Turns) -> Names:
        belief = self._beliefs.after(memory)
        objects = tuple(belief.names)
        return Names(objects, tuple(spelled(name) for name in objects))

    def command(
        self, planned: str, spell: Callable[[str], str] = spelled
    ) -> str | None:
        """Returns the command for a planned action, whose names need not exist.

        It follows from the world alone, since the game that is played may be that of
        another environment.
        """
        name, *things = planned.strip("() ").lower().split()
        phrase = self._phrases.get(name)
        if phrase is None or len(things) != len(phrase.parameters):
            return None
        return phrase.said(dict(zip(phrase.parameters, things, strict=True)))

    # ---- The reference

    def problem(self, memory: Turns) -> str:
        """Returns everything that is known, for the domain. The method sets the
        goal.
        """
        belief = self._beliefs.after(memory)
        return belief.problem("(and)")

    def formalize(
        self, memory: Turns, goal: str = "", offered: Sequence[str] = ()
    ) -> tuple[str, str]:
        """Returns domain and problem with the end goal, or with a sub-goal that
        `subgoals` has named, and those that are reached. All of it comes from the
        memory, since another environment may play another game of this world at the
        same time.
        """
        belief = self._beliefs.after(memory)
        wanted = belief.goal
        if goal:
            aims = aims_of(belief)
            kept = [aim for aim in aims.values() if is_reached(belief, aim)]
            wanted = all_of([aims[goal], *kept])
        return self.domain, belief.problem(wanted)

    def otherwise(self, memory: Turns) -> Iterator[tuple[str, str]]:
        """Yields domain and problem for each sub-goal of exploring, for when there is
        no plan for the goal.
        """
        belief = self._beliefs.after(memory)
        for mark in self._marks:
            yield self.domain, belief.problem(mark.goal)

    def subgoals(self, memory: Turns) -> tuple[str, ...]:
        """Returns the parts of the goal that are not reached, in words."""
        belief = self._beliefs.after(memory)
        aims = aims_of(belief)
        return tuple(
            words for words, aim in aims.items() if not is_reached(belief, aim)
        )

    def parallel(self, memory: Turns) -> tuple[tuple[str, ...], ...]:
        """Returns `subgoals` as one group, since a goal has no order."""
        return (self.subgoals(memory),)

    def chart(self, memory: Turns) -> Chart:
        return chart_of(self._beliefs.after(memory))


def _world(options: Mapping[str, Any]) -> World:
    """Returns the world in the sizes of `world.yaml`."""
    world = read_world(folder_of(options))
    return renamed(world) if options.get("renamed") else world


def _in_sizes(world: World, sizes: Sequence[int] | None) -> World:
    """Returns the world in these sizes. Nobody has checked the games of other ones."""
    wanted = tuple(sizes or ())
    if not wanted or wanted == world.file.sizes:
        return world
    own = {"sizes": wanted, "checked": None}
    return replace(world, file=world.file.model_copy(update=own))


def _roles(world: World) -> Roles:
    """Returns what `here` tells: where the player is, if nothing else can stand in this
    predicate, and which types are places.
    """
    here = world.here
    places = [
        kind
        for kind in sorted(world.type_names)
        if any(world.is_below(kind, name) for name in here.place.type_names)
    ]
    roles: Roles = {"places": tuple(places)}
    if world.places_movers_alone:
        predicate = f"{here.predicate}/{len(here.movers) + 1}"
        roles = {"player": (predicate,), **roles}
    return roles


def _actions(world: World, task: Task) -> Iterator[Action]:
    """Yields the actions with the wording of their commands."""
    phrases = Commands(world, task, Sight(world, task)).phrases
    for action in world.domain.actions:
        name = action.word.name
        typed = [
            f"{entry.name} - {min(entry.type_names)}" for entry in action.parameters
        ]
        template = phrases[name].text
        example = re.sub(r"\{([^{}]+)\}", r"[\1]", template)
        yield Action(name, f"({' '.join(typed)})", template, example)


def _words(world: World, marks: Sequence[Mark]) -> dict[str, Any]:
    """Returns what prompts say of the world."""
    goals = "; ".join([WHOLE, *(mark.words for mark in marks)])
    return {
        "task": world.file.about or _TASK,
        "rules": [
            rules_in_words(world.domain_without_costs, {}),
            *(_SPELLING, *_placeholders(world), _CLOSED),
        ],
        "goal_hint": f"Your goal is the first of these that can be reached: {goals}.",
        "demonstration": _demonstration(world, marks),
    }


def _placeholders(world: World) -> Iterator[str]:
    """Yields what prompts say of the names for what is not seen yet."""
    for name, hidden in hidden_of(world).items():
        parameters = " ".join(hidden.parameters)
        yield (
            f"In ({name} {parameters}), {hidden.parameters[hidden.position - 1]} is not"
            f" seen yet: it is called {hidden.template} until you are told its name."
            " Then write its name in the place of that."
        )


def _demonstration(world: World, marks: Sequence[Mark]) -> dict[str, Any]:
    """Returns the reference's first two answers in the last problem."""
    play = _last_play(world)
    belief = Belief(world, marks)
    opening = play.opening()
    belief.begin(opening)
    before = belief.problem("(and)")
    offered = [command for command in play.offered() if command != LOOK]
    command = random.Random(0).choice(sorted(offered) or [LOOK])
    told = play.carry_out(command)
    belief.follow(command, told)
    return {
        "action": command,
        "observation": f"Action: {LOOK}\n{opening}",
        "problem": before,
        "edits": json.dumps(difference(_EMPTY, before)),
        "later": {
            "observation": f"Action: {command}\n{told}",
            "edits": json.dumps(difference(before, belief.problem("(and)"))),
        },
    }


def _last_play(world: World) -> Play:
    """Returns the last game that can be played. Raises ConfigError if there is none."""
    unsolvable = UnsolvableGame()
    for number in reversed(seeds_of(world)[-MOST_TRIED:]):
        text = _text(world, number)
        try:
            return Play(world, world.task(text), goal_of(text))
        except UnsolvableGame as error:
            unsolvable = error
    raise ConfigError(f"{world.folder}: no game can be played: {unsolvable}.")


def _text(world: World, seed: int) -> str:
    """Returns the problem of a game, in the world's own names."""
    return _with_own_names(world, problem_text(world, seed))


def _with_own_names(world: World, text: str) -> str:
    if world.has_pseudo_words:
        return renamed_problem(world.folder, world.files[DOMAIN], text)
    return text


def goal_of(problem: str) -> str:
    """Returns the goal of a problem file as PDDL, "(and)" if it has none."""
    goal = read_problem(read(problem)).goal
    if goal is None:
        return "(and)"
    return " ".join(problem[goal.block.offset : goal.block.stop].split())

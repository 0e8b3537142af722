"""ALFWorld games of our own making as the data set has them: their files, and commands
that win.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pddlego_local.environments.alfworld.games import GeneratedGame
from pddlego_local.environments.alfworld.games.house import House, Thing
from pddlego_local.environments.alfworld.games.layout import (
    KNIVES,
    LAMP,
    Receptacle,
    catalogue,
    kind_of,
    pddl_name,
)


def trajectory(game: GeneratedGame, seed: int) -> dict[str, Any]:
    """ALFRED's `traj_data.json` without what only its simulator needs (poses, images,
    plan).
    """
    number = game.house.plan.number
    return {
        "task_id": f"trial_{seed:08d}",
        "task_type": game.task.plain,
        "pddl_params": game.task.parameters,
        "scene": {"floor_plan": f"FloorPlan{number}", "scene_num": number},
        "turk_annotations": {"anns": [{"task_desc": game.sentence, "high_descs": []}]},
    }


def game_file(game: GeneratedGame) -> dict[str, Any]:
    """What is in a `game.tw-pddl`."""
    texts = {
        "pddl_domain": game.domain,
        "grammar": game.grammar,
        "pddl_problem": game.problem,
    }
    return {**texts, "solvable": True, "walkthrough": walkthrough(game)}


def write(split: Path, game: GeneratedGame, seed: int, **changes: Any) -> Path:
    """The game's folder in a split; `changes` replace keys of its game file, and
    `file=False` leaves that out.
    """
    kind = f"{game.task.kind}Sliced" if game.task.sliced else game.task.kind
    number = game.house.plan.number
    name = f"{game.task.plain}-{kind}-None-{game.task.target or LAMP}-{number}"
    trial = split / name / f"trial_{seed}"
    trial.mkdir(parents=True)
    (trial / "traj_data.json").write_text(
        json.dumps(trajectory(game, seed)), encoding="utf-8"
    )
    (trial / "initial_state.pddl").write_text(game.problem, encoding="utf-8")
    if changes.get("file", True):
        (trial / "game.tw-pddl").write_text(
            json.dumps(game_file(game) | changes), encoding="utf-8"
        )
    return trial


def spoken_names(identifiers: Iterable[str]) -> dict[str, str]:
    """The game's name for every object and receptacle: "apple 1". The games number each
    kind downwards in the order of the PDDL names, in lower case
    (alfworld.agents.utils.misc.Demangler).
    """
    downwards = sorted(
        identifiers, key=lambda identifier: pddl_name(identifier).lower(), reverse=True
    )
    amount: Counter[str] = Counter()
    names = {}
    for identifier in downwards:
        kind = kind_of(identifier).lower()
        amount[kind] += 1
        names[identifier] = f"{kind} {amount[kind]}"
    return names


def names_in(house: House) -> dict[str, str]:
    """The names of everything in a house, by identifier."""
    receptacles = [part.id for part in house.receptacles]
    things = [part.id for part in house.things]
    return spoken_names([*receptacles, *things])


@dataclass
class _Player:
    """Someone in the house, and the commands given so far."""

    names: Mapping[str, str]
    commands: list[str] = field(default_factory=list)
    _here: Receptacle | None = None

    def give(self, command: str, *parts: Thing | Receptacle) -> None:
        self.commands.append(command.format(*(self.names[part.id] for part in parts)))

    def go(self, to: Receptacle) -> None:
        if self._here != to:
            self.give("go to {}", to)
            self._here = to

    def reach(self, into: Receptacle) -> None:
        """Stands before it, and has it open."""
        self.go(into)
        if into.opens and f"open {self.names[into.id]}" not in self.commands:
            self.give("open {}", into)

    def take(self, thing: Thing) -> None:
        self.reach(thing.inside)
        self.give("take {} from {}", thing, thing.inside)

    def move(self, thing: Thing, to: Receptacle) -> None:
        self.reach(to)
        self.give("move {} to {}", thing, to)


def of_kind(house: House, *kinds: str) -> list[Thing]:
    return [thing for thing in house.things if thing.kind in kinds]


def walkthrough(game: GeneratedGame) -> tuple[str, ...]:
    """The task done with full knowledge: no search, no detour for its own sake."""
    house, task = game.house, game.task
    player = _Player(names_in(house))
    first = {receptacle.kind: receptacle for receptacle in reversed(house.receptacles)}
    things = of_kind(house, task.kind)[: task.amount]
    if task.sliced:
        # All with one knife, which is then put away: hands are needed for the food.
        knife = of_kind(house, *KNIVES)[0]
        player.take(knife)
        for thing in things:
            player.reach(thing.inside)
            player.give("slice {} with {}", thing, knife)
        here = things[-1].inside
        fits_here = knife.kind in catalogue().holds[here.kind]
        player.move(knife, here if fits_here else knife.inside)
    verb, tool = task.treatment
    for thing in reversed(things):  # after slicing, the last one is at hand
        player.take(thing)
        if verb:
            player.go(first[tool])
            player.give(f"{verb} {{}} with {{}}", thing, first[tool])
        if task.target:
            player.move(thing, first[task.target])
        else:
            lamp = of_kind(house, LAMP)[0]
            player.go(lamp.inside)
            player.give("use {}", lamp)
    return tuple(player.commands)

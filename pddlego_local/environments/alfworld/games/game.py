"""One game: what the house, the task and the package's rules make together."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.alfworld.games.house import (
    SEARCH_LIMIT,
    House,
    draw_receptacles,
    draw_things,
    listed_twice,
)
from pddlego_local.environments.alfworld.games.layout import LAMP, draw_goal, rules
from pddlego_local.environments.alfworld.games.tasks import TASK_TYPES, Task, draw_task, walkthrough
from pddlego_local.environments.alfworld.process import AlfworldGame

WIDE = (8, 110)
"""The commands that show a room as wide as ALFRED's: from few receptacles to all."""


@dataclass(frozen=True, kw_only=True)
class Game(AlfworldGame):
    """One game, in memory. `traj` is what alfworld reads of ALFRED's trajectory data."""

    house: House
    task: Task
    traj: Mapping[str, Any]
    walkthrough: tuple[str, ...]

    @property
    def name(self) -> str:
        """The folder's name, as the data set builds it: "pick_…-AppleSliced-None-Fridge-26"."""
        parameters = self.traj["pddl_params"]
        kind = parameters["object_target"] + ("Sliced" if parameters["object_sliced"] else "")
        target = parameters["parent_target"] or parameters["toggle_target"]
        return f"{self.traj['task_type']}-{kind}-None-{target}-{self.traj['scene']['scene_num']}"

    @property
    def trial(self) -> str:
        """The folder inside it: "trial_00000007" for seed 7."""
        return str(self.traj["task_id"])

    def tw_pddl(self) -> str:
        """The text of a `game.tw-pddl` file: JSON."""
        return json.dumps(
            {
                "pddl_domain": self.domain,
                "grammar": self.grammar,
                "pddl_problem": self.problem,
                "solvable": True,
                "walkthrough": list(self.walkthrough),
            }
        )


def make_game(seed: int, task_type: str, split: str = "", *, as_wide: bool = False) -> Game:
    """The game of this seed and task type (TASK_TYPES); the same arguments give the same game.
    `split` takes the floor plans that the data set keeps for it; "" takes all. `as_wide` are rooms
    as wide as ALFRED's, some of whose receptacles share a place: nobody can promise that these are
    won in 50 actions. Raises ConfigError for a negative seed and for an unknown task type or split,
    MissingPart without `alfworld`."""
    if seed < 0:
        raise ConfigError(f"the seed of a game cannot be negative: {seed}")
    if task_type not in TASK_TYPES:
        raise ConfigError(f"no task type {task_type!r}; there are: {', '.join(TASK_TYPES)}")
    rng = Random(f"{task_type} {seed}")
    plan, task = draw_task(rng, task_type, split, shared=as_wide)
    needed, limit = task.needed(rng, plan), SEARCH_LIMIT
    if as_wide:
        limit = rng.randint(*WIDE)
    receptacles = draw_receptacles(rng, plan, needed, limit)
    things = draw_things(rng, plan, receptacles, task.least, task.allows, as_wide=as_wide)
    if as_wide:
        things = tuple(listed_twice(rng, things, receptacles))
    house = House(plan, receptacles, things)
    parameters = {
        "mrecep_target": "",
        "object_sliced": task.sliced,
        "object_target": task.kind,
        "parent_target": task.target,
        "toggle_target": "" if task.target else LAMP,
    }
    sentence, goal = draw_goal(rng, task.plain, parameters)
    domain, grammar = rules(sentence)
    trial = f"trial_{seed:08d}"
    # ALFRED's `traj_data.json` without what only its simulator needs (poses, images, plan)
    traj = {
        "task_id": trial,
        "task_type": task.plain,
        "pddl_params": parameters,
        "scene": {"floor_plan": plan.name, "scene_num": plan.number},
        "turk_annotations": {"anns": [{"task_desc": sentence, "high_descs": [], "votes": []}]},
    }
    return Game(
        task_type,
        domain,
        grammar,
        house.problem(f"plan_{trial}", goal),
        plan.name,
        house=house,
        task=task,
        traj=traj,
        walkthrough=walkthrough(house, task),
    )

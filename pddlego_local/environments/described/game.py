"""Described worlds: a text of the domain and a text of the problem tell all there is.

The setting of "planning formalizers" (arXiv 2412.09879, 2505.14763): a model writes the PDDL of a
world that it sees whole, and what the plan is worth the gold files decide.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Action, Budget, Goal, Names, Observation, Turn
from pddlego_local.environments.described.generated import (
    Constraint,
    Degree,
    Family,
    generate,
    words_of,
)
from pddlego_local.environments.described.simulator import Simulator
from pddlego_local.environments.described.world import (
    World,
    names_in,
    objects_in,
    read_world,
    task_hash,
    tell,
)
from pddlego_local.environments.tables import Tables
from pddlego_local.pddl.equivalence import compare


def _a_range(sizes: tuple[int, int]) -> tuple[int, int]:
    if sizes[0] > sizes[1]:
        raise ValueError("the first of the two must not be greater than the second")
    return sizes


Sizes = Annotated[
    tuple[Annotated[int, Field(ge=1, le=100)], Annotated[int, Field(ge=1, le=100)]],
    AfterValidator(_a_range),
]


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Described:
    """A game is a world: of a `folder` the one at that place in its sorted names; without a folder
    one of ours, a function of (world, sizes, seed), which `text` tells in one of two degrees of
    templating. `sizes` is how many of its main things, such as blocks, there are at least and at
    most. `constraint` "one" adds a sentence to the problem's text, and a condition to the gold."""

    folder: Path | None = None
    world: Family = "blocksworld"
    text: Degree = "moderately"
    sizes: Sizes = (3, 8)
    constraint: Constraint = "none"
    budget: Budget = Budget(unit="actions", limit=5000)

    name = "described"
    package = __package__
    shows_commands = False

    def __post_init__(self) -> None:
        self._simulator: Simulator | None = None

    @property
    def seeds(self) -> range:
        """Raises ConfigError if the folder holds no worlds."""
        return range(len(names_in(self.folder)) if self.folder else 1 << 31)

    @property
    def task_type(self) -> str:
        constrained = ", constrained" * (self.constraint == "one")
        told = f"{self.world}, {self.text} templated{constrained}"
        return self.folder.name if self.folder else told

    @property
    def map(self) -> str:
        return task_hash(self._world.problem)

    def map_of(self, seed: int) -> str:
        """Of a world that need not be reset. Worlds with the same objects, start and goal are one,
        however they are told."""
        return task_hash(self._load(seed).problem)

    @property
    def actions(self) -> tuple[Action, ...]:
        return self._world.heads

    @property
    def domain(self) -> str:
        """The gold domain."""
        return self._world.domain

    @property
    def texts(self) -> tuple[str, str]:
        """What is told of the domain, its action heads included, and of the problem."""
        return self._world.domain_text, self._world.problem_text

    def equivalence(self, problem: str) -> str:
        """Whether a problem is the gold one but for the names of its objects: "equivalent",
        "different", "not comparable" where it uses another domain's names, or "not fully specified"
        where other facts follow from the gold goal, which an answer could name too."""
        specified = words_of(self.world).get("fully_specified") and self.constraint == "none"
        if self.folder or not specified:
            return "not fully specified"
        return compare(self._world.domain, self._world.problem, problem)

    def preflight(self) -> None:
        """Raises ConfigError for the first file of a folder that cannot be used, and for a world
        that has no constraints."""
        for seed in range(len(names_in(self.folder)) if self.folder else 1):
            self._load(seed)

    def reset(self, seed: int) -> Observation:
        """Raises ConfigError for files that do not go together, UnsolvableGame where the goal would
        be out of reach even if nothing were ever undone."""
        self._simulator = Simulator(self._load(seed), self.task_type)
        return self._observe(tell(self._world))

    def step(self, command: str) -> Observation:
        assert self._simulator
        refusal = self._simulator.carry_out(command)
        return self._observe("" if refusal else f"Done: {command}.", refusal)

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        """None apart: the problem text tells the goal."""
        return ()

    def names(self, memory: Sequence[Turn]) -> Names:
        """The gold files' objects, as far as the texts name them: "block 3" is block3."""
        told = "\n".join(turn.text for turn in memory)
        every = objects_in(self._world.problem, self._world.domain)
        objects = tuple(name for name in every if _named(name, told))
        return Names(objects, objects)

    def command(self, action: str) -> str | None:
        """ "(stack b1 b2)" is "stack b1 b2", if there is such an action with so many parameters."""
        command = Tables(actions=self.actions, feedback=()).command(action, str)
        return command and command.lower()

    def won(self) -> bool:
        return self._simulator is not None and self._simulator.done

    def close(self) -> None:
        """Nothing is kept open."""

    @property
    def _world(self) -> World:
        """The world last reset; before, the first one."""
        return self._simulator.world if self._simulator else self._load(0)

    def _load(self, seed: int) -> World:
        if self.folder:
            return read_world(self.folder, names_in(self.folder)[seed])
        return generate(self.world, self.text, self.sizes, seed, self.constraint)

    def _observe(self, text: str, feedback: str = "") -> Observation:
        return Observation(text, feedback, self.won())


def _named(name: str, text: str) -> bool:
    parts = r"[\s_-]*".join(re.findall(r"[^\W\d_]+|\d+", name))
    return re.search(rf"(?<![^\W_]){parts}(?![^\W_])", text, re.IGNORECASE) is not None

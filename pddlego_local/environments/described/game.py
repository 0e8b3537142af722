"""Described worlds: a text of the domain and a text of the problem describe everything.

This is the setting of "planning formalizers" (arXiv 2412.09879, 2505.14763): a model
writes the PDDL of a world that it sees completely, and plans are validated against the
gold PDDL.
"""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import (
    Action,
    Budget,
    Goal,
    Names,
    Observation,
    TrueState,
    Turns,
)
from pddlego_local.environments.described.generated import (
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


Size = Annotated[int, Field(ge=1, le=100)]
Sizes = Annotated[tuple[Size, Size], AfterValidator(_a_range)]
SEEDS = range(1 << 31)
LAST_SEEDS = SEEDS[-50:]
"""The seeds of the solved examples that a prompt may show."""


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Described:
    """A game is a world. With a `folder`, it is the world at that position in the
    folder's sorted names. Without one, it is a generated world, determined by (world,
    sizes, seed); `text` is the degree of templating of its texts, and "naturally" has
    words that no training has. `sizes` are the minimum and the maximum number of its
    main things, such as blocks.
    """

    folder: Path | None = None
    world: Family = "blocksworld"
    text: Degree = "moderately"
    sizes: Sizes = (3, 8)
    budget: Budget = Budget(unit="actions", limit=5000)

    name = "described"
    package = __package__
    shows_commands = False

    def __post_init__(self) -> None:
        self._simulator: Simulator | None = None

    @property
    def seeds(self) -> range:
        """Returns the numbers of the games. Raises ConfigError if the folder holds no
        worlds.
        """
        if self.folder is None:
            return SEEDS
        return range(len(names_in(self.folder)))

    @property
    def task_type(self) -> str:
        if self.folder:
            return self.folder.name
        way = "told" if self.text == "naturally" else "templated"
        return f"{self.world}, {self.text} {way}"

    @property
    def map(self) -> str:
        return task_hash(self._world.problem)

    def map_of(self, seed: int) -> str:
        """Returns the hash of a world that need not be reset. Worlds with the same
        objects, start and goal have the same hash, whatever their texts.
        """
        return task_hash(self._load(seed).problem)

    @property
    def actions(self) -> tuple[Action, ...]:
        return self._world.heads

    @property
    def domain(self) -> str:
        """Returns the gold domain."""
        return self._world.domain

    @property
    def gold(self) -> tuple[str, str]:
        """Returns the gold domain and problem of the last reset world."""
        return self._world.domain, self._world.problem

    @property
    def texts(self) -> tuple[str, str]:
        """Returns the text of the domain, including its action heads, and the text of
        the problem.
        """
        return self._world.domain_text, self._world.problem_text

    def solved(self, count: int) -> tuple[tuple[str, str], ...]:
        """Returns the problem texts and the gold problems of other worlds, `count` at
        most. They are those of the last 50 seeds, without the task of this world. A
        folder has none.
        """
        if self.folder:
            return ()
        examples = {}
        for seed in reversed(LAST_SEEDS):
            world = self._load(seed)
            flat_problem = " ".join(world.problem.split())
            task = task_hash(world.problem)
            examples[task] = (world.problem_text, flat_problem)
        examples.pop(self.map, None)
        return tuple(examples.values())[:count]

    def equivalence(self, problem: str) -> str:
        """Compares a problem with the gold problem, ignoring the names of its objects.
        Returns "equivalent", "equivalent but for idle objects" if they differ only in
        objects without facts, "different", "not comparable" if it uses another domain's
        names, "undecided" if the comparison would take too much work, or "not fully
        specified" in your own worlds, and in worlds without invariants that complete a
        goal.
        """
        if self.folder or "invariants" not in words_of(self.world):
            return "not fully specified"
        invariants = words_of(self.world)["invariants"]
        return compare(self._world.domain, self._world.problem, problem, invariants)

    def preflight(self) -> None:
        """Raises ConfigError for the first file of a folder that cannot be used."""
        if self.folder:
            for seed in self.seeds:
                self._load(seed)

    def reset(self, seed: int) -> Observation:
        """Starts the game of this seed. Raises ConfigError for files that do not fit
        together, and UnsolvableGame if the goal is unreachable even under delete
        relaxation.
        """
        self._simulator = Simulator(self._load(seed), self.task_type)
        return Observation(tell(self._world), "", self.won())

    def step(self, command: str) -> Observation:
        assert self._simulator
        refusal = self._simulator.carry_out(command)
        text = "" if refusal else f"Done: {command}."
        return Observation(text, refusal, self.won())

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        """Returns no goals, because the problem text states the goal."""
        return ()

    def names(self, memory: Turns) -> Names:
        """Returns the gold files' objects that the texts name: "block 3" is block3."""
        text = "\n".join(turn.text for turn in memory)
        every = objects_in(self._world.problem, self._world.domain)
        named = tuple(name for name in every if is_named(name, text))
        return Names(named, named)

    def command(self, action: str) -> str | None:
        """Returns "stack b1 b2" for "(stack b1 b2)", or None if no action has this name
        and number of parameters.
        """
        tables = Tables(actions=self.actions, feedback=())
        command = tables.command(action, str)
        return command and command.lower()

    def true_state(self) -> TrueState:
        assert self._simulator
        return self._simulator.true_state

    def won(self) -> bool:
        return self._simulator is not None and self._simulator.done

    def close(self) -> None:
        """Does nothing: nothing is kept open."""

    @property
    def _world(self) -> World:
        """Returns the world that was last reset, or the first world before any
        reset.
        """
        return self._simulator.world if self._simulator else self._load(0)

    def _load(self, seed: int) -> World:
        if self.folder:
            return read_world(self.folder, names_in(self.folder)[seed])
        return generate(self.world, self.text, self.sizes, seed)


def is_named(name: str, text: str) -> bool:
    """Returns whether a text contains a name, such as "block 3" for block3. Spaces and
    punctuation are ignored, except between digits.
    """
    parts = re.findall(r"[^\W\d_]|\d+", name)
    pattern = r"[\W_]*".join(parts)
    found = re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", text, re.IGNORECASE)
    return found is not None

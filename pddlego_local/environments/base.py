"""The least that makes an environment: one class, and one YAML in the group `environment`.

The class says how a game begins, what a command does, and whether the game is won. The YAML names
the class and gives the fields below; all else has a default. `examples/lamp` is one.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from pddlego_local.core.nouns import Budget, Goal, Names, Turn
from pddlego_local.environments import family
from pddlego_local.environments.tables import FeedbackRule, Pattern, Tables, without_comments

WORDS = re.compile(r"[^\W\d_][\w'-]*(?: \d+)?")  # "lamp", "room 2"


class Words(BaseModel, extra="forbid"):
    """The prompts' words for the game. The environments of the project have the same keys in their
    `prompts/environment.yaml`. `brief` says everything in few words, and `game` is the text for
    methods that name actions. Methods that write problem files for a given domain show the
    `demonstration`."""

    task: str
    rules: list[str] = []
    goal_template: str = ""
    goal_hint: str = ""
    notes: list[str] = []
    domain_notes: list[str] = []
    brief: list[str] = []
    game: str = ""
    edit_notes: list[str] = []
    demonstration: dict[str, Any] = {}


class BaseEnvironment(Tables, extra="forbid", ignored_types=(dict, range, str)):
    """Implements `core.protocols.Environment`, but for `reset`, `step` and `won`.

    `goals` are the end goal and its fallbacks, `names` is a pattern for names in the game's texts,
    and `examples` has an entry for each method that shows examples (deps, fcrf), which are the keys
    of `prompts/<method>.yaml`. Settings of a game are further fields of its class; constants, such
    as `outcomes`, stand there without a type.
    """

    budget: Budget
    words: Words
    domain: Annotated[str, AfterValidator(without_comments)]
    all_goals: Annotated[tuple[Goal, ...], Field(alias="goals", min_length=1)]
    feedback: tuple[FeedbackRule, ...] = ()
    name_pattern: Annotated[Pattern, Field(alias="names")] = WORDS
    shows_commands: bool = True
    examples: dict[str, dict[str, Any]] = Field(default_factory=dict)
    _package: str = ""

    def model_post_init(self, context: object) -> None:
        kind = type(self)
        contents: dict[str, Any] = {
            "tables.yaml": self.model_dump(mode="json", include={"actions", "feedback", "groups"}),
            "domain.pddl": self.domain,
            "prompts/environment.yaml": self._told(),
            **{f"prompts/{method}.yaml": told for method, told in self.examples.items()},
        }
        if kind.problem is not BaseEnvironment.problem:
            contents["reference.py"] = self
        self._package = family.give(f"{kind.__module__}.{kind.__qualname__}", contents)

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @property
    def package(self) -> str:
        return self._package

    @property
    def task_type(self) -> str:
        """One kind of game, unless the class says otherwise."""
        return self.name

    def preflight(self) -> None:
        """Needs nothing."""

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        return self.all_goals

    def names(self, memory: Sequence[Turn]) -> Names:
        """All that the pattern matches: "room 2", which PDDL spells room_2."""
        found = [match[0] for turn in memory for match in self.name_pattern.finditer(turn.text)]
        objects = dict.fromkeys(name.lower().replace(" ", "_") for name in found)
        return Names(tuple(objects), tuple(dict.fromkeys(found)))

    def close(self) -> None:
        """Holds nothing."""

    def problem(self, memory: Sequence[Turn]) -> str:
        """The problem file that a perfect model would write now, with its goal. A class that has
        this method can be played by model=reference."""
        raise NotImplementedError

    def formalize(
        self, memory: Sequence[Turn], goal: str = "", offered: Sequence[str] = ()
    ) -> tuple[str, str]:
        return self.domain, self.problem(memory)

    def subgoals(self, memory: Sequence[Turn]) -> tuple[str, ...]:
        """One: a game ends when it is reached."""
        return (self.all_goals[0].words,)

    def _told(self) -> dict[str, Any]:
        """The words. Those that were left out are derived from other words or from the tables."""
        words = self.words
        goals = "; ".join(goal.words for goal in self.all_goals)
        hint = words.goal_hint or f"Your goal is the first of these that can be reached: {goals}."
        command = re.sub(r"[][]", "", self.actions[0].example) if self.actions else ""
        return words.model_dump() | {
            "goal_hint": hint,
            "brief": words.brief or [words.task, *words.rules, hint],
            "game": words.game or words.task,
            "demonstration": {"action": command, **words.demonstration},
        }

"""The base class of an environment that is one class and one YAML in the group
`environment`.

The class says how a game begins, what a command does, and whether the game is won. The
YAML names the class and sets the required fields below; all other fields have defaults.
`examples/lamp` is an example.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from pddlego_local.core.nouns import Budget, Goal, Names, Turns
from pddlego_local.environments import family
from pddlego_local.environments.own_pddl import REFUSED, domain_fault, goal_fault
from pddlego_local.environments.tables import (
    FeedbackRule,
    Pattern,
    Tables,
    without_comments,
)

WORDS = re.compile(r"[^\W\d_][\w'-]*(?: \d+)?")  # "lamp", "room 2"


class Words(BaseModel, extra="forbid"):
    """The words that prompts use for the game. The project's own environments have the
    same keys in their `prompts/environment.yaml`. `brief` is a short version of all the
    words, and `game` is the text for methods that name actions. Methods that write
    problem files for a given domain show the `demonstration`.
    """

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


def _whole(domain: str) -> str:
    if fault := domain_fault(domain):
        raise ValueError(f"{REFUSED}: {fault}")
    return without_comments(domain)


class BaseEnvironment(Tables, extra="forbid", ignored_types=(dict, range, str)):
    """Implements `core.protocols.Environment` except for `reset`, `step` and `won`.

    `goals` are the end goal and its fallbacks. `names` is a regular expression that
    finds names in the game's texts. `examples` has an entry for each method whose
    prompts show examples (deps, fcrf), with the keys of `prompts/<method>.yaml`. A
    subclass adds a field for each setting of its game. Constants, such as `outcomes`,
    are class attributes without a type annotation.
    """

    budget: Budget
    words: Words
    domain: Annotated[str, AfterValidator(_whole)]
    all_goals: Annotated[tuple[Goal, ...], Field(alias="goals", min_length=1)]
    feedback: tuple[FeedbackRule, ...] = ()
    name_pattern: Annotated[Pattern, Field(alias="names")] = WORDS
    shows_commands: bool = True
    examples: dict[str, dict[str, Any]] = Field(default_factory=dict)
    _package: str = ""

    @model_validator(mode="after")
    def _fits_its_domain(self) -> Self:
        """Raises ValueError for a goal that does not fit the domain."""
        for goal in self.all_goals:
            if fault := goal_fault(self.domain, goal.pddl):
                raise ValueError(
                    f"goals: the planner would refuse {goal.pddl!r:.80}: {fault}"
                )
        return self

    def model_post_init(self, context: object) -> None:
        kind = type(self)
        tables = {"actions", "feedback", "groups"}
        contents: dict[str, Any] = {
            "tables.yaml": self.model_dump(mode="json", include=tables),
            "domain.pddl": self.domain,
            "prompts/environment.yaml": self._all_words(),
        }
        for method, examples in self.examples.items():
            contents[f"prompts/{method}.yaml"] = examples
        if kind.problem is not BaseEnvironment.problem:
            contents["reference.py"] = self
        name = f"{kind.__module__}.{kind.__qualname__}"
        self._package = family.give(name, contents)

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @property
    def package(self) -> str:
        return self._package

    @property
    def task_type(self) -> str:
        """Returns the environment's name. A class with several kinds of games overrides
        this.
        """
        return self.name

    def preflight(self) -> None:
        """Does nothing: no resources are needed."""

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        return self.all_goals

    def names(self, memory: Turns) -> Names:
        """Returns everything that the pattern matches: "room 2", which PDDL spells
        room_2.
        """
        things: dict[str, None] = {}
        objects: dict[str, None] = {}
        for turn in memory:
            for match in self.name_pattern.finditer(turn.text):
                name = match[0]
                things[name] = None
                objects[name.lower().replace(" ", "_")] = None
        return Names(tuple(objects), tuple(things))

    def close(self) -> None:
        """Does nothing: no resources are held."""

    def problem(self, memory: Turns) -> str:
        """Returns the problem file, with its goal, that a perfect model would write
        now. `model=reference` can play a class that has this method.
        """
        raise NotImplementedError

    def formalize(
        self, memory: Turns, goal: str = "", offered: Sequence[str] = ()
    ) -> tuple[str, str]:
        return self.domain, self.problem(memory)

    def subgoals(self, memory: Turns) -> tuple[str, ...]:
        """Returns the end goal as the only sub-goal."""
        return (self.all_goals[0].words,)

    def _all_words(self) -> dict[str, Any]:
        """Returns the words, and derives those that were left out from other words or
        the tables.
        """
        words = self.words
        goals = "; ".join(goal.words for goal in self.all_goals)
        hint = words.goal_hint
        if not hint:
            hint = f"Your goal is the first of these that can be reached: {goals}."
        command = ""
        if self.actions:
            command = re.sub(r"[][]", "", self.actions[0].example)
        return words.model_dump() | {
            "goal_hint": hint,
            "brief": words.brief or [words.task, *words.rules, hint],
            "game": words.game or words.task,
            "demonstration": {"action": command, **words.demonstration},
        }

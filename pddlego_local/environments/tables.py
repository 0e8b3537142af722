"""From planned actions to a game's commands, and from refusals to feedback: both are tables."""

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.environments import family


@dataclass(frozen=True)
class FeedbackRule:
    """If `command` and `reply` both match, the model is told `message`; an empty one says that this
    reply is no refusal."""

    command: re.Pattern[str]
    reply: re.Pattern[str]
    message: str


def spaced(name: str) -> str:
    """How most games spell a PDDL name: "red_apple" is "red apple"."""
    return name.replace("_", " ")


@dataclass(frozen=True)
class Tables:
    """What is fixed about an environment, read from its folder. `schemas` are the actions that a
    prompt gives to a model that writes its own domain; the hand-written `domain` may have more
    (`in_prompt: false` in the YAML)."""

    actions: tuple[Action, ...]
    schemas: tuple[Action, ...]
    feedback: tuple[FeedbackRule, ...]
    domain: str

    @classmethod
    def load(cls, package: str) -> "Tables":
        """Raises ConfigError where a file is missing or a key is wrong."""
        data: Mapping[str, list[dict[str, Any]]] = family.words(package, "tables.yaml")
        try:
            in_prompt = [entry.get("in_prompt", True) for entry in data["actions"]]
            actions = tuple(
                Action(**{key: value for key, value in entry.items() if key != "in_prompt"})
                for entry in data["actions"]
            )
            feedback = tuple(
                FeedbackRule(
                    re.compile(rule["command"], re.DOTALL),
                    re.compile(rule["reply"], re.DOTALL),
                    rule["message"],
                )
                for rule in data["feedback"]
            )
        except (KeyError, TypeError, re.error) as error:
            raise ConfigError(f"{family.file(package, 'tables.yaml')}: {error}") from error
        schemas = tuple(itertools.compress(actions, in_prompt))
        return cls(actions, schemas, feedback, domain_text(package, "domain.pddl"))

    def command(self, planned: str, spell: Callable[[str], str] = spaced) -> str | None:
        """From "(move kitchen corridor west)" to "move west"; None if name or arity fit no action.
        PDDL ignores case, games do not: all is lower case."""
        name, *arguments = planned.strip("() ").lower().split() or [""]
        for action in self.actions:
            if action.name.lower() == name and len(action.variables) == len(arguments):
                spelled = map(spell, arguments)
                return action.command.format(**dict(zip(action.variables, spelled, strict=True)))
        return None

    def feedback_for(self, command: str, reply: str) -> str:
        """The specific sentence about a refused command, "" if it was carried out."""
        for rule in self.feedback:
            if rule.command.search(command) and rule.reply.search(reply):
                return rule.message.format(command=command)
        return ""


def domain_text(package: str, name: str) -> str:
    """A domain file of an environment without its lines of comment."""
    return re.sub(r"^;.*\n", "", family.text(package, name), flags=re.MULTILINE)


def difficulty_groups(package: str) -> dict[str, list[str]]:
    """Group → task types, in the order of `tables.yaml`; empty if its types are its groups."""
    groups: dict[str, list[str]] = family.words(package, "tables.yaml").get("groups", {})
    return groups

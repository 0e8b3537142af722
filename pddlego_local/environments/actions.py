"""From planned actions to a game's commands, and from refusals to feedback: both are tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import yaml

from pddlego_local.core import Action


@dataclass(frozen=True)
class FeedbackRule:
    """If `command` and `reply` both match (regular expressions), the model is told `message`.

    An empty `message` says that this reply is no refusal.
    """

    command: re.Pattern[str]
    reply: re.Pattern[str]
    message: str


@dataclass(frozen=True)
class Tables:
    """What is fixed about an environment, read from `environments/<name>.yaml`."""

    actions: tuple[Action, ...]
    feedback: tuple[FeedbackRule, ...]

    @classmethod
    def load(cls, environment: str) -> "Tables":
        source = resources.files("pddlego_local.environments") / f"{environment}.yaml"
        data: Mapping[str, list[dict[str, str]]] = yaml.safe_load(source.read_text())
        return cls(
            tuple(Action(**entry) for entry in data["actions"]),
            tuple(
                FeedbackRule(
                    re.compile(rule["command"], re.DOTALL),
                    re.compile(rule["reply"], re.DOTALL),
                    rule["message"],
                )
                for rule in data["feedback"]
            ),
        )

    def command(self, planned: str) -> str | None:
        """From "(move kitchen corridor west)" to "move west"; None if name or arity fit no action.

        Arguments are taken by position. PDDL ignores case, games do not: all is lower case.
        """
        name, *arguments = planned.strip("() ").lower().split()
        for action in self.actions:
            if action.name.lower() == name and len(action.variables) == len(arguments):
                return action.command.format(**dict(zip(action.variables, arguments, strict=True)))
        return None

    def feedback_for(self, command: str, reply: str) -> str:
        """The specific sentence about a refused command, "" if it was carried out."""
        for rule in self.feedback:
            if rule.command.search(command) and rule.reply.search(reply):
                return rule.message.format(command=command)
        return ""

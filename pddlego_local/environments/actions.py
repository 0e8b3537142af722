"""From planned actions to a game's commands, and from refusals to feedback: both are tables."""

import hashlib
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

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


def spaced(name: str) -> str:
    """How most games spell a PDDL name: "red_apple" is "red apple"."""
    return name.replace("_", " ")


@dataclass(frozen=True)
class Tables:
    """What is fixed about an environment, read from `environments/<name>.yaml` and `<name>.pddl`.

    `told` are the actions that a model writing its own domain is given; the hand-written `domain`
    may have more (`told: false` in the YAML), and comes without its lines of comment.
    """

    actions: tuple[Action, ...]
    told: tuple[Action, ...]
    feedback: tuple[FeedbackRule, ...]
    domain: str

    @classmethod
    def load(cls, environment: str) -> "Tables":
        folder = resources.files("pddlego_local.environments")
        data: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(
            (folder / f"{environment}.yaml").read_text()
        )
        told = [entry.pop("told", True) for entry in data["actions"]]
        actions = tuple(Action(**entry) for entry in data["actions"])
        return cls(
            actions,
            tuple(itertools.compress(actions, told)),
            tuple(
                FeedbackRule(
                    re.compile(rule["command"], re.DOTALL),
                    re.compile(rule["reply"], re.DOTALL),
                    rule["message"],
                )
                for rule in data["feedback"]
            ),
            domain_text(environment),
        )

    def command(self, planned: str, spell: Callable[[str], str] = spaced) -> str | None:
        """From "(move kitchen corridor west)" to "move west"; None if name or arity fit no action.

        Arguments are taken by position. PDDL ignores case, games do not: all is lower case.
        """
        name, *arguments = planned.strip("() ").lower().split() or [""]
        for action in self.actions:
            if action.name.lower() == name and len(action.variables) == len(arguments):
                spelled = map(spell, arguments)
                return action.command.format(**dict(zip(action.variables, spelled, strict=True)))
        return None

    def parse(self, command: str) -> tuple[Action, dict[str, str]] | None:
        """The way back: "move west" is (the action move, {"dir": "west"}); None for no action.

        Parameters that a command does not say are not in the mapping.
        """
        for action in self.actions:
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(action.command))
            if found := re.fullmatch(pattern, command):
                return action, found.groupdict()
        return None

    def feedback_for(self, command: str, reply: str) -> str:
        """The specific sentence about a refused command, "" if it was carried out."""
        for rule in self.feedback:
            if rule.command.search(command) and rule.reply.search(reply):
                return rule.message.format(command=command)
        return ""


def domain_text(name: str) -> str:
    """`<name>.pddl` without its lines of comment."""
    file = resources.files("pddlego_local.environments") / f"{name}.pddl"
    return re.sub(r"^;.*\n", "", file.read_text(), flags=re.MULTILINE)


def sha256(environment: str) -> str:
    """One hash for an environment's tables and its hand-written domain."""
    folder = resources.files("pddlego_local.environments")
    texts = [(folder / f"{environment}.{kind}").read_text() for kind in ("yaml", "pddl")]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def difficulty_groups(environment: str) -> dict[str, list[str]]:
    """Group → task types, in the order of `<name>.yaml`; empty if its types are its groups."""
    file = resources.files("pddlego_local.environments") / f"{environment}.yaml"
    groups: dict[str, list[str]] = yaml.safe_load(file.read_text()).get("groups", {})
    return groups

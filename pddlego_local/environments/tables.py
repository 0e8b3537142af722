"""From planned actions to a game's commands, and from refusals to feedback: both are tables."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, BaseModel, model_validator

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.environments import family


def _compiled(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r:.80} is not a regular expression: {error}") from error
    return text


Pattern = Annotated[str, AfterValidator(_compiled)]


class _Action(BaseModel, extra="forbid"):
    """An entry of `actions`; a command may name the parameters."""

    name: str
    parameters: str
    command: str
    example: str = ""
    in_prompt: bool = True

    @property
    def action(self) -> Action:
        return Action(self.name, self.parameters, self.command, self.example)

    @model_validator(mode="after")
    def _fill(self) -> "_Action":
        _filled(self.command, dict.fromkeys(self.action.variables, ""))
        return self


class _Rule(BaseModel, extra="forbid"):
    """An entry of `feedback`; a message may name the command."""

    command: Pattern
    reply: Pattern
    message: Annotated[str, AfterValidator(lambda text: _filled(text, {"command": ""}) and text)]


class _Tables(BaseModel):
    actions: list[_Action]
    feedback: list[_Rule]
    groups: dict[str, list[str]] = {}


def _filled(template: str, words: Mapping[str, str]) -> bool:
    """Raises ValueError for a template with braces that none of the words fills."""
    try:
        template.format(**words)
    except (LookupError, ValueError, AttributeError) as error:
        known = ", ".join(f"{{{word}}}" for word in words) or "no braces"
        raise ValueError(f"{template!r:.80} names {error} and may name {known}") from error
    return True


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
        """Raises ConfigError naming all that is wrong in its files."""
        if wrong := faults(package):
            raise ConfigError("; ".join(wrong))
        read = _read(package)
        actions = tuple(entry.action for entry in read.actions)
        schemas = tuple(entry.action for entry in read.actions if entry.in_prompt)
        feedback = tuple(
            FeedbackRule(
                re.compile(rule.command, re.DOTALL), re.compile(rule.reply, re.DOTALL), rule.message
            )
            for rule in read.feedback
        )
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
    return _read(package).groups


def _read(package: str) -> _Tables:
    return _Tables.model_validate(family.words(package, "tables.yaml"))


def faults(package: str) -> list[str]:
    """A sentence for each mistake in tables.yaml; none where it is missing or is not YAML, which
    `family` tells."""
    try:
        _read(package)
    except pydantic.ValidationError as error:
        path = family.file(package, "tables.yaml")
        return [f"{path}: {_sentence(one)}" for one in error.errors()]
    return []


def _sentence(error: Any) -> str:
    key = ".".join(map(str, error["loc"][:-1]))
    if error["type"] == "missing":
        return f"{key or 'it'} has no {error['loc'][-1]!r}"
    return f"{'.'.join(map(str, error['loc']))}: {error['msg'].removeprefix('Value error, ')}"

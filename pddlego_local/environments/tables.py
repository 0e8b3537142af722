"""From planned actions to a game's commands, and from refusals to feedback: both are tables."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.environments import family


def _compiled(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL)
    except (re.error, TypeError) as error:
        raise ValueError(f"{text!r:.80} is not a regular expression: {error}") from error


def _checked(template: str, words: Mapping[str, str]) -> None:
    """Raises ValueError for a template with braces that none of the words fills."""
    try:
        template.format(**words)
    except (LookupError, ValueError, AttributeError) as error:
        known = ", ".join(f"{{{word}}}" for word in words) or "no braces"
        raise ValueError(f"{template!r:.80} names {error} and may name {known}") from error


def _named(action: Action) -> Action:
    _checked(action.command, dict.fromkeys(action.variables, ""))
    return action


def _message(text: str) -> str:
    _checked(text, {"command": ""})
    return text


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]


class FeedbackRule(BaseModel, extra="forbid"):
    """If `command` and `reply` both match, the model reads `message`, which may name the command.
    An empty `message` means that the reply is no refusal."""

    command: Pattern
    reply: Pattern
    message: Annotated[str, AfterValidator(_message)]


def spaced(name: str) -> str:
    """How most games spell a PDDL name: "red_apple" is "red apple"."""
    return name.replace("_", " ")


class Tables(BaseModel):
    """The constants of an environment. The commands of `actions` may name the parameters. `groups`
    are its groups of difficulty with their types of tasks; without them each type is a group."""

    actions: tuple[Annotated[Action, AfterValidator(_named)], ...]
    feedback: tuple[FeedbackRule, ...]
    groups: dict[str, list[str]] = {}
    domain: str = ""

    @classmethod
    def load(cls, package: str) -> "Tables":
        """Of an environment's folder. Raises ConfigError naming all that is wrong in its files."""
        if wrong := faults(package):
            raise ConfigError("; ".join(wrong))
        domain = domain_text(package, "domain.pddl")
        return cls.model_validate({**family.words(package, "tables.yaml"), "domain": domain})

    @property
    def schemas(self) -> tuple[Action, ...]:
        """The actions that a prompt gives to a model that writes its own domain; the hand-written
        domain may have more."""
        return tuple(action for action in self.actions if action.in_prompt)

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
    return without_comments(family.text(package, name))


def without_comments(domain: str) -> str:
    return re.sub(r"^;.*\n", "", domain, flags=re.MULTILINE)


def difficulty_groups(package: str) -> dict[str, list[str]]:
    """Group → task types, in the order of `tables.yaml`; empty if its types are its groups."""
    return Tables.model_validate(family.words(package, "tables.yaml")).groups


def faults(package: str) -> list[str]:
    """A sentence for each mistake in tables.yaml; none where it is missing or is not YAML, which
    `family` tells."""
    try:
        difficulty_groups(package)
    except pydantic.ValidationError as error:
        return [f"{family.place(package, 'tables.yaml')}: {_sentence(e)}" for e in error.errors()]
    return []


def _sentence(error: Any) -> str:
    key = ".".join(map(str, error["loc"][:-1]))
    if error["type"] == "missing":
        return f"{key or 'it'} has no {error['loc'][-1]!r}"
    return f"{'.'.join(map(str, error['loc']))}: {error['msg'].removeprefix('Value error, ')}"

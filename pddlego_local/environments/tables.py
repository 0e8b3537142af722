"""Tables that turn planned actions into the game's commands, and refusals into
feedback.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action, Roles
from pddlego_local.environments import family


def _compiled(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL)
    except (re.error, TypeError) as error:
        raise ValueError(
            f"{text!r:.80} is not a regular expression: {error}"
        ) from error


def _checked(template: str, words: Mapping[str, str]) -> None:
    """Raises ValueError if the template has braces that none of the words fills."""
    try:
        template.format(**words)
    except (LookupError, ValueError, AttributeError) as error:
        slots = [f"{{{word}}}" for word in words]
        known = ", ".join(slots) or "no braces"
        raise ValueError(
            f"{template!r:.80} names {error} and may name {known}"
        ) from error


def _named(action: Action) -> Action:
    _checked(action.command, dict.fromkeys(action.variables, ""))
    return action


def _message(text: str) -> str:
    _checked(text, {"command": ""})
    return text


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]


class FeedbackRule(BaseModel, extra="forbid"):
    """If `command` and `reply` both match, the model reads `message`, in which
    `{command}` stands for the command. An empty `message` means that the reply is not a
    refusal.
    """

    command: Pattern
    reply: Pattern
    message: Annotated[str, AfterValidator(_message)]


def spaced(name: str) -> str:
    """Returns a PDDL name as most games spell it: "red_apple" becomes "red apple"."""
    return name.replace("_", " ")


class Tables(BaseModel):
    """The constants of an environment. The commands of `actions` may contain the
    actions' parameters. `groups` maps each difficulty group to its task types; without
    it, each task type is a group. `roles` say how maps draw the words of the domain.
    """

    actions: tuple[Annotated[Action, AfterValidator(_named)], ...]
    feedback: tuple[FeedbackRule, ...]
    groups: dict[str, list[str]] = {}
    roles: Roles = {}
    domain: str = ""

    @classmethod
    def load(cls, package: str) -> "Tables":
        """Returns the tables in an environment's folder. Raises ConfigError naming all
        mistakes in tables.yaml.
        """
        if wrong := faults(package):
            raise ConfigError("; ".join(wrong))
        tables = family.words(package, "tables.yaml")
        domain = domain_text(package, "domain.pddl")
        return cls.model_validate({**tables, "domain": domain})

    @property
    def schemas(self) -> tuple[Action, ...]:
        """Returns the actions that a prompt shows to a model that writes its own
        domain. The hand-written domain may have more.
        """
        return tuple(action for action in self.actions if action.in_prompt)

    def command(self, planned: str, spell: Callable[[str], str] = spaced) -> str | None:
        """Returns "move west" for "(move kitchen corridor west)", or None if no action
        has this name and number of arguments. PDDL ignores case but games do not, so
        everything is in lower case.
        """
        words = planned.strip("() ").lower().split()
        name, *arguments = words or [""]
        spelled = [spell(argument) for argument in arguments]
        for action in self.actions:
            if action.name.lower() != name:
                continue
            if len(action.variables) == len(spelled):
                values = dict(zip(action.variables, spelled, strict=True))
                return action.command.format(**values)
        return None

    def feedback_for(self, command: str, reply: str) -> str:
        """Returns the sentence that explains why a command was refused, or "" if it was
        carried out.
        """
        for rule in self.feedback:
            is_about = rule.command.search(command)
            if is_about and rule.reply.search(reply):
                return rule.message.format(command=command)
        return ""


def domain_text(package: str, name: str) -> str:
    """Returns a domain file of an environment without its comment lines."""
    return without_comments(family.text(package, name))


def without_comments(domain: str) -> str:
    return re.sub(r"^;.*\n", "", domain, flags=re.MULTILINE)


def difficulty_groups(package: str) -> dict[str, list[str]]:
    """Returns the task types of each group, in the order of `tables.yaml`. The result
    is empty if each task type is its own group.
    """
    return Tables.model_validate(family.words(package, "tables.yaml")).groups


def faults(package: str) -> list[str]:
    """Returns a sentence for each mistake in tables.yaml. Raises ConfigError if it is
    missing or is not YAML.
    """
    try:
        difficulty_groups(package)
    except pydantic.ValidationError as error:
        place = family.place(package, "tables.yaml")
        return [f"{place}: {_sentence(fault)}" for fault in error.errors()]
    return []


def _sentence(fault: Any) -> str:
    path = [str(key) for key in fault["loc"]]
    if fault["type"] == "missing":
        parent = ".".join(path[:-1]) or "it"
        return f"{parent} has no {path[-1]!r}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{'.'.join(path)}: {message}"

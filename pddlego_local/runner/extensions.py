"""What a part lacks of what `core.protocols` and `methods.Method` ask, told before anything is
played. Parts from outside the tree have no tests of ours.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import pydantic
from typing_extensions import get_protocol_members

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Budget, Turn
from pddlego_local.core.outcomes import Outcome
from pddlego_local.core.protocols import Environment, Gathering, LanguageModel, Planner
from pddlego_local.methods import Method

PROTOCOLS: dict[str, type[Any]] = {
    "environment": Environment,
    "method": Method,
    "model": LanguageModel,
    "planner": Planner,
}
_NOW = ("name", "package", "budget", "shows_commands", "actions", "domain", "prompts", "learns")
"""Attributes that can be looked at before a game begins."""


def lacking(part: object, protocol: type[Any]) -> Iterator[str]:
    """A sentence for each attribute of the protocol that a part does not have, or that is of
    another type."""
    kind = type(part)
    what = f"{kind.__module__}.{kind.__qualname__}"
    for name in sorted(get_protocol_members(protocol)):
        if not _has(part, name):
            yield f"{what} has no `{name}` (see {protocol.__module__}.{protocol.__name__})"
        elif name in _NOW:
            yield from _faults(f"`{name}` of {what}", getattr(part, name), _type(protocol, name))
    own: object = getattr(part, "outcomes", {})
    yield from _faults(f"`outcomes` of {what}", own, Mapping[str, Outcome])
    if protocol is Method and _has(part, "most_calls"):
        calls: Any = part
        most = calls.most_calls(Budget(unit="actions", limit=1), 1)
        yield from _faults(f"`most_calls` of {what}", most, int)


def probe(environment: Environment, game: int) -> None:
    """Begins one game of an environment from outside the tree and gives one command.

    Raises ConfigError naming every answer that is of another type than `core.protocols` says.
    """
    if environment.package.partition(".")[0] == __package__.partition(".")[0]:
        return
    try:
        first = environment.reset(game)
    except UnsolvableGame:
        return
    memory = (Turn("look around", getattr(first, "text", "")),)
    given: dict[str, object] = {
        "reset": first,
        "task_type": environment.task_type,
        "goals": environment.goals(memory),
        "names": environment.names(memory),
        "command": environment.command("(no-such-action)"),
        "step": environment.step("look around"),
        "won": environment.won(),
    }
    types = {name: _type(Environment, name) for name in given}
    if isinstance(environment, Gathering):
        given["wanted"] = environment.wanted(memory)
        types["wanted"] = _type(Gathering, "wanted")
    faults = [
        fault
        for name, value in given.items()
        for fault in _faults(f"`{name}` of {environment.name}", value, types[name])
    ]
    if faults:
        raise ConfigError("; ".join(faults))


def _has(part: object, name: str) -> bool:
    """Whether there is such an attribute, whose value is not asked for."""
    return inspect.getattr_static(part, name, part) is not part


def _type(protocol: type[Any], name: str) -> Any:
    """What the protocol says that an attribute is, or that a method returns."""
    member = getattr(protocol, name, None)
    told = member.fget if isinstance(member, property) else member
    return get_type_hints(told)["return"] if told else get_type_hints(protocol)[name]


def _faults(what: str, value: object, kind: Any) -> Iterator[str]:
    """In one sentence, why a value is not of this type; nothing if it is."""
    adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(kind)
    try:
        adapter.validate_python(value, strict=True)
        if dataclasses.is_dataclass(kind):  # of an instance, fields are not looked at
            adapter.validate_python(vars(value))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = f" at {'.'.join(map(str, first['loc']))}" if first["loc"] else ""
        name = re.sub(r"[\w.]+\.(?=\w)", "", kind.__name__ if isinstance(kind, type) else str(kind))
        why = first["msg"][0].lower() + first["msg"][1:]
        yield f"{what} is {value!r:.80} and must be {name}: {why}{place}"

"""What a part lacks of what `core.protocols` and `methods.Method` ask, told before anything is
played. Parts from outside the tree have no tests of ours.
"""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
from typing_extensions import get_protocol_members

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Action, Budget, Goal, Names, Observation, Turn
from pddlego_local.core.outcomes import OUTCOMES, Outcome
from pddlego_local.core.protocols import Environment, Gathering, LanguageModel, Planner
from pddlego_local.methods import Method

PROTOCOLS: dict[str, type[Any]] = {
    "environment": Environment,
    "method": Method,
    "model": LanguageModel,
    "planner": Planner,
}
_TYPES: dict[str, Any] = {
    "name": str,
    "package": str,
    "budget": Budget,
    "shows_commands": bool,
    "actions": tuple[Action, ...],
    "domain": str,
    "prompts": str,
    "learns": bool | str,
    "outcomes": Mapping[str, Outcome],
}


def lacking(part: object, protocol: type[Any]) -> Iterator[str]:
    """A sentence for each attribute of the protocol that a part does not have, that is of another
    type, and for each outcome that a method returns and that nobody declares."""
    kind = type(part)
    what = f"{kind.__module__}.{kind.__qualname__}"
    for name in sorted(get_protocol_members(protocol)):
        if not _has(part, name):
            yield f"{what} has no `{name}` (see {protocol.__module__}.{protocol.__name__})"
    for name in sorted(_TYPES.keys() & {*get_protocol_members(protocol), "outcomes"}):
        if _has(part, name):
            yield from _faults(f"`{name}` of {what}", getattr(part, name), _TYPES[name])
    if protocol is Method and _has(part, "most_calls"):
        calls: Any = part
        most = calls.most_calls(Budget(unit="actions", limit=1), 1)
        yield from _faults(f"`most_calls` of {what}", most, int)
    declared = getattr(part, "outcomes", {})
    for outcome in _returned(kind):
        if outcome not in OUTCOMES and not (isinstance(declared, Mapping) and outcome in declared):
            yield (
                f"{what} returns the outcome {outcome!r}, which core/outcomes.py does not list; "
                f'declare it: outcomes = {{"{outcome}": Outcome("What it means.")}}'
            )


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
    given: list[tuple[str, object, Any]] = [
        ("reset", first, Observation),
        ("task_type", environment.task_type, str),
        ("goals", environment.goals(memory), tuple[Goal, ...]),
        ("names", environment.names(memory), Names),
        ("command", environment.command("(no-such-action)"), str | None),
        ("step", environment.step("look around"), Observation),
        ("won", environment.won(), bool),
    ]
    if isinstance(environment, Gathering):
        given.append(("wanted", environment.wanted(memory), tuple[str, ...]))
    faults = [
        fault
        for name, value, kind in given
        for fault in _faults(f"`{name}` of {environment.name}", value, kind)
    ]
    if faults:
        raise ConfigError("; ".join(faults))


def _has(part: object, name: str) -> bool:
    """Whether there is such an attribute, whose value is not asked for."""
    return inspect.getattr_static(part, name, part) is not part


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


def _returned(kind: type) -> Iterator[str]:
    """The outcomes that a method's own lines return word by word."""
    try:
        source = textwrap.dedent(inspect.getsource(kind.__call__))
    except (AttributeError, OSError, TypeError):  # not a method, or made without a file
        return
    nodes: list[ast.AST] = [*ast.iter_child_nodes(ast.parse(source).body[0])]
    for node in nodes:
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.value.value
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            nodes.extend(ast.iter_child_nodes(node))

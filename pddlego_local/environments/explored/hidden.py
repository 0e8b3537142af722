"""Arguments that are not seen yet, such as the room behind a closed door.

`hide: {closed-door: {to: "behind_{from}_{dir}"}}` says that no text tells the room to
which a closed door leads. The texts name a placeholder in its place, which follows from
the other arguments: `behind_kitchen_north`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact

_SLOT = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class Hidden:
    """The hidden argument of one predicate: its position in a fact, counted from 1, and
    the name that stands for it.
    """

    predicate: str
    parameters: Sequence[str]
    position: int
    template: str

    def placeholder(self, fact: Fact) -> str:
        """Returns the name that stands for the hidden argument of a fact."""
        things = dict(zip(self.parameters, fact[1:], strict=True))
        return _SLOT.sub(lambda slot: things[slot[1]], self.template)

    def masked(self, fact: Fact) -> Fact:
        """Returns the fact with the placeholder in the place of the argument."""
        return with_term(fact, self.position, self.placeholder(fact))

    @cached_property
    def slots(self) -> Sequence[str]:
        return _SLOT.findall(self.template)


def with_term(fact: Fact, position: int, name: str) -> Fact:
    return (*fact[:position], name, *fact[position + 1 :])


def hidden_of(world: World) -> Mapping[str, Hidden]:
    """Returns the hidden arguments of a world, by predicate. Raises ConfigError for
    what fits no predicate, and for a placeholder that would be no name.
    """
    found: dict[str, Hidden] = {}
    for predicate, arguments in world.file.hide.items():
        key = f"hide.{predicate}"
        if predicate not in world.predicates:
            known = ", ".join(world.predicates)
            raise world.wrong(key, f"there is no such predicate; there are {known}")
        if len(arguments) != 1:
            raise world.wrong(key, "name one argument and what stands for it")
        ((argument, template),) = arguments.items()
        parameters = world.parameters[predicate]
        others = [name for name in parameters if name != argument]
        if argument not in parameters:
            listed = ", ".join(parameters)
            raise world.wrong(key, f"{argument} is none of its parameters {listed}")
        hidden = Hidden(predicate, parameters, parameters.index(argument) + 1, template)
        for slot in hidden.slots:
            if slot not in others:
                listed = ", ".join(others)
                raise world.wrong(key, f"{{{slot}}} is none of its {listed}")
        if not _NAME.fullmatch(_SLOT.sub("x", template)):
            raise world.wrong(
                key,
                f"{template!r} makes no PDDL name; write a name with {{parameters}} in"
                " it, such as behind_{from}",
            )
        found[predicate] = hidden
    return found

"""The parts of a goal as sub-goals in words, and the words of prompts about them
(DEPS).
"""

import re
from collections.abc import Iterable
from typing import Any

from pddlego_local.core.resources import table
from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import known_as
from pddlego_local.pddl.reader import read

WHOLE = "reach the goal"
_SLOT = re.compile(r"\{[^{}]+\}")
_NAME = "[^.,;:]+?"


def aims_of(belief: Belief) -> dict[str, str]:
    """Returns each part of the goal as PDDL, by its words. A goal that is not a list of
    facts is one part.
    """
    telling = Telling(belief.world)
    block = read(belief.goal)
    words = telling.goal(belief.goal)
    if block is None or words.startswith("("):
        return {belief.world.file.task or WHOLE: belief.goal}
    parts = block.blocks if block.head == "and" else [block]
    stated = [belief.goal[part.offset : part.stop] for part in parts]
    return {telling.goal(part): part for part in stated}


def is_reached(belief: Belief, aim: str) -> bool:
    """Returns whether the player knows that a part of the goal is true."""
    condition = belief.task.condition(aim)
    return condition.holds({}, known_as(belief.state.true))


def all_of(aims: Iterable[str]) -> str:
    return f"(and {' '.join(aims)})"


def deps_words(world: World) -> dict[str, Any]:
    """Returns the words of the prompts of DEPS: those of all partly seen worlds, and
    how this one says where the player is.
    """
    words: dict[str, Any] = table(__file__, "deps.yaml")
    phrase = Telling(world).phrases[world.here.predicate].text
    place = world.here.place.name.removeprefix("?")
    return {**words, "arrival": _arrival(phrase, f"{{{place}}}")}


def _arrival(phrase: str, slot: str) -> str:
    """Returns a pattern for the sentence that says where the player is. Its group is
    the place with the word before it, such as "in room 3".
    """
    before, _, after = phrase.partition(slot)
    start, space, word = before.rstrip().rpartition(" ")
    patterns = [
        _SLOT.sub(_NAME, re.escape(part).replace(r"\{", "{").replace(r"\}", "}"))
        for part in (start + space, after)
    ]
    return f"(?i){patterns[0]}({re.escape(word)} {_NAME}){patterns[1]}[.]"

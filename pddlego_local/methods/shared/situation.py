"""Where the player is and what the player carries, read from the game's texts.

The patterns are an environment's words, in its `methods/prompts/deps.yaml`: the templates
call this with them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn


@dataclass(frozen=True)
class Situation:
    """As far as `memory` tells. Patterns are regular expressions with one group, the name."""

    memory: Sequence[Turn]

    def place(self, arrival: str) -> str:
        """The last place that the player arrived at; "" if there is none."""
        named = [match[1] for turn in self.memory if (match := re.search(arrival, turn.text))]
        return named[-1] if named else ""

    def carried(self, taken: str, left: str) -> tuple[str, ...]:
        """What was taken and not left since, in the order in which it was taken."""
        held: dict[str, None] = {}
        for turn in self.memory:
            if match := re.search(taken, turn.text):
                held[match[1]] = None
            elif match := re.search(left, turn.text):
                held.pop(match[1], None)
        return tuple(held)

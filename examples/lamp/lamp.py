"""A lamp in one of two rooms: together with its YAML, a minimal environment."""

import random
import re
from collections.abc import Sequence

from pddlego_local.core.nouns import Observation, Turn
from pddlego_local.environments.base import BaseEnvironment


class Lamp(BaseEnvironment):
    """The seed determines the lamp's room; the player begins in room `start`."""

    start: int = 1
    _here: int = 1
    _lamp: int = 1
    _lit: bool = False

    def reset(self, seed: int) -> Observation:
        self._here, self._lamp, self._lit = (
            self.start,
            random.Random(seed).randint(1, 2),
            False,
        )
        return self._observe(self._description())

    def step(self, command: str) -> Observation:
        if command not in self._commands():
            return self._observe(
                "You cannot do that.", self.feedback_for(command, "You cannot")
            )
        if command == "light lamp":
            self._lit = True
            return self._observe("The lamp burns.")
        self._here = 3 - self._here
        return self._observe(self._description())

    def won(self) -> bool:
        return self._lit

    def problem(self, memory: Sequence[Turn]) -> str:
        """Writes the problem file of model=reference: go to the other room until a lamp
        is seen.
        """
        seen = [
            re.findall(r"room \d", turn.text)
            for turn in memory
            if "You are" in turn.text
        ]
        rooms = [[room.replace(" ", "_") for room in names] for names in seen]
        here, there = rooms[-1]
        facts = [
            f"(at {here})",
            *dict.fromkeys(f"(visited {room})" for room, _ in rooms),
        ]
        facts += [f"(beside {here} {there})", f"(beside {there} {here})"]
        found = "A lamp" in memory[-1].text
        facts += [f"(lamp-in {here})"] * found
        return (
            f"(define (problem game) (:domain corridor) (:objects {here} {there} -"
            f" room) (:init {' '.join(facts)}) (:goal"
            f" {'(lit)' if found else f'(at {there})'}))"
        )

    def _description(self) -> str:
        lamp = " A lamp stands here." * (self._here == self._lamp)
        return (
            f"You are in room {self._here}. The corridor leads to room"
            f" {3 - self._here}.{lamp}"
        )

    def _commands(self) -> tuple[str, ...]:
        return (
            f"go to room {3 - self._here}",
            *["light lamp"] * (self._here == self._lamp),
        )

    def _observe(self, text: str, feedback: str = "") -> Observation:
        return Observation(text, feedback, self._lit, commands=self._commands())

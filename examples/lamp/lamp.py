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
        self._here = self.start
        self._lamp = random.Random(seed).randint(1, 2)
        self._lit = False
        return self._observe(self._description())

    def step(self, command: str) -> Observation:
        if command not in self._commands():
            text = "You cannot do that."
            return self._observe(text, self.feedback_for(command, text))
        if command == "light lamp":
            self._lit = True
            return self._observe("The lamp burns.")
        self._here = self._other_room
        return self._observe(self._description())

    def won(self) -> bool:
        return self._lit

    def problem(self, memory: Sequence[Turn]) -> str:
        """Writes the problem file of model=reference: go to the other room until a lamp
        is seen.
        """
        rooms = []
        for turn in memory:
            if "You are" in turn.text:
                found = re.findall(r"room \d", turn.text)
                rooms.append([room.replace(" ", "_") for room in found])
        here, there = rooms[-1]
        facts = [f"(at {here})"]
        facts += dict.fromkeys(f"(visited {room})" for room, _ in rooms)
        facts += [f"(beside {here} {there})", f"(beside {there} {here})"]
        goal = f"(at {there})"
        if "A lamp" in memory[-1].text:
            facts.append(f"(lamp-in {here})")
            goal = "(lit)"
        return (
            f"(define (problem game) (:domain corridor) (:objects {here} {there} -"
            f" room) (:init {' '.join(facts)}) (:goal {goal}))"
        )

    @property
    def _other_room(self) -> int:
        return 2 if self._here == 1 else 1

    def _description(self) -> str:
        text = (
            f"You are in room {self._here}. The corridor leads to room"
            f" {self._other_room}."
        )
        if self._here == self._lamp:
            text += " A lamp stands here."
        return text

    def _commands(self) -> tuple[str, ...]:
        walk = f"go to room {self._other_room}"
        return (walk, "light lamp") if self._here == self._lamp else (walk,)

    def _observe(self, text: str, feedback: str = "") -> Observation:
        return Observation(text, feedback, self._lit, commands=self._commands())

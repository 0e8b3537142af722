"""Slips that are planted in right answers, so that a model sees the messages that
follow its own errors.

Each fault changes the PDDL of CoinCollector, printed in the layout "line", in a way in
which models get it wrong. The planner or the game then reports the error, and the next
question contains the report.
"""

import json
import re
from collections.abc import Collection
from random import Random
from typing import Any

from pddlego_local.core.resources import table

WORDS: dict[str, Any] = table(__file__)
Exit = re.Match[str]
"""A fact about an exit: the room, the room beyond and the direction."""

_EXIT = re.compile(r"\((?:connected|closed-door) ([\w-]+) ([\w-]+) ([\w-]+)\)")
_OBJECTS = re.compile(r"\(:objects (.*?) - location")
_GOAL = re.compile(r"\(:goal .*\)\)$")
_HERE = re.compile(r"\(:init \(at ([\w-]+)\)")


def plant(rng: Random, answer: str, faults: Collection[str]) -> str:
    """Returns the answer with one of these FAULTS, or the answer itself if none of them
    applies.
    """
    files = json.loads(answer)
    for name in rng.sample(sorted(faults), len(faults)):
        if name == "no_answer":
            cut = answer[: rng.randrange(len(answer))]
            with_wrong_key = json.dumps({"pf": answer})
            return rng.choice([cut, with_wrong_key])
        file = "df" if name in OF_DOMAIN else "pf"
        if changed := _Slips(rng, files[file])(name):
            files[file] = changed
            return json.dumps(files, ensure_ascii=False)
    return answer


class _Slips:
    """The faults of one file, each with a method of its name, which returns the wrong
    file, or "" if the fault does not apply.
    """

    def __init__(self, rng: Random, text: str) -> None:
        self._rng = rng
        self._text = text
        self._exits = list(_EXIT.finditer(text))
        objects = _OBJECTS.search(text)
        self._rooms = objects[1].split() if objects else []
        here = _HERE.search(text)
        self._here = here[1] if here else ""

    def __call__(self, name: str) -> str:
        """Returns the file with the fault of this name."""
        fault = getattr(self, name)
        if name not in OF_EXITS:
            return str(fault())
        predicate = OF_EXITS[name]
        facts = [fact for fact in self._exits if fact[0].startswith(f"({predicate}")]
        return str(fault(self._rng.choice(facts))) if facts else ""

    # ---- In one fact about an exit

    def fact_left_out(self, fact: Exit) -> str:
        return self._with_fact(fact, "")

    def fact_of_another_room(self, fact: Exit) -> str:
        place = self._rng.choice((1, 2))
        room = self._rng.choice(self._rooms or ["room"])
        return self._with_word(fact, place, room)

    def fact_of_no_room(self, fact: Exit) -> str:
        name = self._misspelled(fact[2])
        return self._with_word(fact, 2, name)

    def wrong_direction(self, fact: Exit) -> str:
        direction = self._rng.choice(WORDS["directions"])
        return self._with_word(fact, 3, direction)

    def argument_left_out(self, fact: Exit) -> str:
        rest = fact[0].removesuffix(f" {fact[3]})")
        return self._with_fact(fact, f"{rest})")

    def door_thought_open(self, fact: Exit) -> str:
        open_door = fact[0].replace("closed-door", "connected")
        return self._with_fact(fact, open_door)

    def door_thought_closed(self, fact: Exit) -> str:
        closed_door = fact[0].replace("connected", "closed-door")
        return self._with_fact(fact, closed_door)

    def _with_word(self, fact: Exit, place: int, word: str) -> str:
        start, end = fact.span(place)
        before = self._text[fact.start() : start]
        after = self._text[end : fact.end()]
        return self._with_fact(fact, before + word + after)

    def _with_fact(self, fact: Exit, put: str) -> str:
        """In half of the cases the goal is behind the exit, so that the plan uses the
        faulty fact and the game refuses it.
        """
        before = self._text[: fact.start()]
        if not put:
            before = before.rstrip()
        changed = before + put + self._text[fact.end() :]
        beyond = fact[2]
        if beyond != self._here and self._rng.random() < 0.5:
            return _GOAL.sub(f"(:goal (at {beyond})))", changed)
        return changed

    # ---- In the goal

    def goal_already_true(self) -> str:
        return self._with_goal(self._here)

    def goal_visited(self) -> str:
        """Leads to a visited room, next to the current one if possible: with such goals
        the player goes back and forth.
        """
        visited = {fact[1] for fact in self._exits}
        visited.discard(self._here)
        near = []
        for fact in self._exits:
            room, beyond, _ = fact.groups()
            if room == self._here and beyond in visited:
                near.append(beyond)
        rooms = near or visited or [""]
        return self._with_goal(self._rng.choice(sorted(rooms)))

    def goal_elsewhere(self) -> str:
        room = self._rng.choice(self._rooms or [""])
        return self._with_goal(room)

    def goal_unknown(self) -> str:
        return self._with_goal(self._misspelled(self._here))

    def _with_goal(self, room: str) -> str:
        if not room:
            return ""
        return _GOAL.sub(f"(:goal (at {room})))", self._text)

    def _misspelled(self, name: str) -> str:
        without = name.replace("_", "")
        with_hyphens = name.replace("_", "-")
        return self._rng.choice([name[:-1], without, with_hyphens, f"{name}1", "room"])

    # ---- Elsewhere in a problem

    def object_left_out(self) -> str:
        if len(self._rooms) < 2:
            return ""
        left = list(self._rooms)
        left.remove(self._rng.choice(left))
        return self._text.replace(" ".join(self._rooms), " ".join(left), 1)

    def nowhere(self) -> str:
        if not self._here:
            return ""
        return self._text.replace(f"(:init (at {self._here}) ", "(:init ", 1)

    def negated(self) -> str:
        if not self._rooms:
            return ""
        room = self._rng.choice(self._rooms)
        return self._text.replace("(:init ", f"(:init (not (at {room})) ", 1)

    def other_predicate(self) -> str:
        old, new = self._rng.choice(WORDS["predicates"])
        return self._text.replace(old, new) if old in self._text else ""

    def parenthesis_left_out(self) -> str:
        signs = [place for place, sign in enumerate(self._text) if sign in "()"]
        place = self._rng.choice(signs)
        return self._text[:place] + self._text[place + 1 :]

    # ---- In a domain

    def other_signature(self) -> str:
        old, new = self._rng.choice(WORDS["signatures"])
        return self._text.replace(old, new, 1) if old in self._text else ""

    def domain_part_left_out(self) -> str:
        parts = [part for part in WORDS["parts_of_the_domain"] if part in self._text]
        if not parts:
            return ""
        part = self._rng.choice(parts)
        return self._text.replace(part, "", 1)


OF_EXITS = {
    "fact_left_out": "",
    "fact_of_another_room": "",
    "fact_of_no_room": "",
    "wrong_direction": "",
    "argument_left_out": "",
    "door_thought_open": "closed-door",
    "door_thought_closed": "connected",
}
"""The faults in one fact about an exit, and how its predicate begins."""
OF_DOMAIN = ("other_signature", "domain_part_left_out")
FAULTS = ("no_answer", *(name for name in vars(_Slips) if not name.startswith("_")))
"""The names of all faults. "no_answer" is an answer that is cut, or has a key that was
not requested.
"""
CIRCLES = ("goal_visited",)
"""The fault that makes a player go back and forth until the next question says so."""

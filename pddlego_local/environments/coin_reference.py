"""The PDDL that a perfect formalizer would write for CoinCollector.

Rule-based, no language model: it reads the same memory that a prompt tells and draws the map.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pddlego_local.core import Turn

DOMAIN = """\
(define (domain exploration)
  (:requirements :strips :typing)
  (:types location direction)
  (:predicates
    (at ?loc - location)
    (connected ?from - location ?to - location ?dir - direction)
    (closed-door ?loc1 - location ?loc2 - location ?dir - direction))
  (:action open-door
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (closed-door ?loc1 ?loc2 ?dir))
    :effect (and (not (closed-door ?loc1 ?loc2 ?dir)) (connected ?loc1 ?loc2 ?dir)))
  (:action move
    :parameters (?from - location ?to - location ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to))))
"""

_ROOM = re.compile(r"You are in the ([a-z ]+?)\.")
_EXIT = re.compile(
    r"(?:Through an open [a-z -]+ door, to|To) the (North|South|East|West) you see "
    r"(?:(?P<closed>a closed [a-z -]+ door)|the (?P<room>[a-z ]+?))\.",
    re.IGNORECASE,
)


@dataclass
class HouseMap:
    """What is known: `exits[room][direction]` is a room's name, or None for a closed door."""

    here: str = ""
    exits: dict[str, dict[str, str | None]] = field(default_factory=dict)

    def read(self, turn: Turn) -> None:
        if room := _ROOM.search(turn.text):
            self.here = _name(room[1])
            self.exits[self.here] = {
                found[1].lower(): _name(found["room"]) if found["room"] else None
                for found in _EXIT.finditer(turn.text)
            }
        elif revealed := re.search(r"revealing the ([a-z ]+)\.", turn.text):
            direction = turn.command.removeprefix("open door to ")
            self.exits[self.here][direction] = _name(revealed[1])

    def passages(self) -> Iterator[tuple[str, str, str, bool]]:
        """(from, to, direction, closed); a room behind a closed door is named after the door."""
        for room, exits in self.exits.items():
            for direction, other in exits.items():
                yield room, other or f"behind_{room}_{direction}", direction, other is None

    def nearest_unvisited(self) -> str | None:
        """Breadth first from here; a closed door costs its opening."""
        distance = {self.here: 0}
        queue = deque([self.here])
        best: tuple[int, str] | None = None
        while queue:
            room = queue.popleft()
            for start, to, _, closed in self.passages():
                cost = distance[room] + 1 + closed
                if start != room or distance.get(to, cost + 1) <= cost:
                    continue
                distance[to] = cost
                if to in self.exits:
                    queue.append(to)
                elif best is None or cost < best[0]:
                    best = (cost, to)
        return best[1] if best else None


def formalize(memory: Sequence[Turn], goal: str = "") -> tuple[str, str]:
    """(domain, problem) for what `memory` tells; the goal is the nearest place not yet visited."""
    house = _read(memory)
    target = house.nearest_unvisited() or house.here
    return DOMAIN, _problem("exploration", house, [], f"(at {target})")


def problem(memory: Sequence[Turn]) -> str:
    """All that is known, for the hand-written domain; the goal is the method's to set."""
    house = _read(memory)
    facts = [f"(visited {room})" for room in house.exits]
    if re.search(r"\bcoin\b", memory[-1].text):
        facts.append(f"(coin-at {house.here})")
    return _problem("coin_collector", house, facts, "(have-coin)")


def subgoals(memory: Sequence[Turn]) -> tuple[str, ...]:
    """One: the game ends when the coin is seen."""
    return ("explore the house until you see the coin",)


def _read(memory: Sequence[Turn]) -> HouseMap:
    house = HouseMap()
    for turn in memory:
        house.read(turn)
    return house


def _problem(domain: str, house: HouseMap, further: Sequence[str], goal: str) -> str:
    passages = list(house.passages())
    places = dict.fromkeys([*house.exits, *(to for _, to, _, _ in passages)])
    directions = dict.fromkeys([direction for _, _, direction, _ in passages])
    facts = [f"(at {house.here})", *further] + [
        f"({'closed-door' if closed else 'connected'} {start} {to} {direction})"
        for start, to, direction, closed in passages
    ]
    lines = "\n    ".join(facts)
    return (
        "(define (problem explore)\n"
        f"  (:domain {domain})\n"
        f"  (:objects\n    {' '.join(places)} - location\n    {' '.join(directions)} - direction)\n"
        f"  (:init\n    {lines})\n"
        f"  (:goal {goal}))\n"
    )


def _name(room: str) -> str:
    return room.strip().replace(" ", "_")

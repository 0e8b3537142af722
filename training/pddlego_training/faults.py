"""Slips that are planted in right answers, so that a model sees the messages that
follow its own errors.

Each fault changes the PDDL of CoinCollector, printed in the layout "line", in a way in
which models get it wrong. The planner or the game then reports the error, and the next
question contains the report.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Literal

from pddlego_local.core.resources import table

Change = Callable[[Random, str], str | None]
"""Turns a right file into a wrong one, or returns None if this change does not apply to
the file.
"""

File = Literal["df", "pf"]
Fault = tuple[File, Change]
"""A change with the file that it applies to, the domain file or the problem file."""

WORDS: dict[str, Any] = table(__file__)
_COIN = WORDS["coin"]

_FACT = re.compile(r"\((?:connected|closed-door) ([\w-]+) ([\w-]+) ([\w-]+)\)")
_OBJECTS = re.compile(r"\(:objects (.*?) - location")
_GOAL = re.compile(r"\(:goal .*\)\)$")
_HERE = re.compile(r"\(:init \(at ([\w-]+)\)")


def plant(rng: Random, answer: str, faults: Mapping[str, Fault | None]) -> str:
    """Returns the answer with one of `faults`, or the answer itself if none of them
    applies.
    """
    files = json.loads(answer)
    for name in rng.sample(sorted(faults), len(faults)):
        fault = faults[name]
        if fault is None:
            return rng.choice(
                [answer[: rng.randrange(len(answer))], json.dumps({"pf": answer})]
            )
        file, change = fault
        if changed := change(rng, files[file]):
            return json.dumps(files | {file: changed}, ensure_ascii=False)
    return answer


def _fact(change: Callable[[Random, str, re.Match[str]], str], head: str = "") -> Fault:
    """A fault in one fact about an exit whose predicate begins with `head`. In half of
    the cases the goal is behind that exit, so that the plan uses the faulty fact and
    the game refuses it.
    """

    def make(rng: Random, pf: str) -> str | None:
        facts = [fact for fact in _FACT.finditer(pf) if fact[0].startswith(f"({head}")]
        if not facts:
            return None
        fact = rng.choice(facts)
        put = change(rng, pf, fact)
        before = pf[: fact.start()] if put else pf[: fact.start()].rstrip()
        changed = before + put + pf[fact.end() :]
        if fact[2] != _here(pf) and rng.random() < 0.5:
            changed = _GOAL.sub(f"(:goal (at {fact[2]})))", changed)
        return changed

    return "pf", make


def _goal(choose: Callable[[Random, str], str]) -> Fault:
    def make(rng: Random, pf: str) -> str | None:
        room = choose(rng, pf)
        return _GOAL.sub(f"(:goal (at {room})))", pf) if room else None

    return "pf", make


def _left_out(texts: Sequence[str]) -> Fault:
    def make(rng: Random, df: str) -> str | None:
        there = [text for text in texts if text in df]
        return df.replace(rng.choice(there), "", 1) if there else None

    return "df", make


def _other(file: File, count: int, changes: Sequence[tuple[str, str]]) -> Fault:
    def make(rng: Random, text: str) -> str | None:
        old, new = rng.choice(changes)
        return text.replace(old, new, count) if old in text else None

    return file, make


def _found(pattern: re.Pattern[str], pf: str) -> str:
    found = pattern.search(pf)
    return found[1] if found else ""


def _rooms(pf: str) -> list[str]:
    return _found(_OBJECTS, pf).split()


def _here(pf: str) -> str:
    return _found(_HERE, pf)


def _been_to(rng: Random, pf: str) -> str:
    """A visited room next to the current one: with such goals the player goes back and
    forth.
    """
    visited = {fact[1] for fact in _FACT.finditer(pf)} - {_here(pf)}
    near = [f[2] for f in _FACT.finditer(pf) if f[1] == _here(pf) and f[2] in visited]
    return rng.choice(sorted(near or visited or {""}))


def _misspelled(rng: Random, name: str) -> str:
    without, with_hyphens = name.replace("_", ""), name.replace("_", "-")
    return rng.choice([name[:-1], without, with_hyphens, name + "1", "room"])


def _with(fact: re.Match[str], group: int, word: str) -> str:
    start, end = (at - fact.start() for at in fact.span(group))
    return fact[0][:start] + word + fact[0][end:]


def _drop_object(rng: Random, pf: str) -> str | None:
    rooms = _rooms(pf)
    if len(rooms) < 2:
        return None
    rooms.remove(rng.choice(rooms))
    return pf.replace(_found(_OBJECTS, pf), " ".join(rooms), 1)


def drop_parenthesis(rng: Random, pf: str) -> str | None:
    """Removes a random parenthesis."""
    at = rng.choice([index for index, sign in enumerate(pf) if sign in "()"])
    return pf[:at] + pf[at + 1 :]


def _nowhere(rng: Random, pf: str) -> str | None:
    return (
        pf.replace(f"(:init (at {here}) ", "(:init ", 1)
        if (here := _here(pf))
        else None
    )


def _negated(rng: Random, pf: str) -> str | None:
    rooms = _rooms(pf)
    return (
        pf.replace("(:init ", f"(:init (not (at {rng.choice(rooms)})) ", 1)
        if rooms
        else None
    )


FAULTS: Mapping[str, Fault | None] = {
    "no_answer": None,  # cut, or with a key that was not requested
    "fact_left_out": _fact(lambda rng, pf, fact: ""),
    "fact_of_another_room": _fact(
        lambda rng, pf, fact: _with(
            fact, rng.choice((1, 2)), rng.choice(_rooms(pf) or ["room"])
        )
    ),
    "fact_of_no_room": _fact(
        lambda rng, pf, fact: _with(fact, 2, _misspelled(rng, fact[2]))
    ),
    "wrong_direction": _fact(
        lambda rng, pf, fact: _with(fact, 3, rng.choice(_COIN["directions"]))
    ),
    "argument_left_out": _fact(
        lambda rng, pf, fact: _with(fact, 3, "").replace(" )", ")")
    ),
    "door_thought_open": _fact(
        lambda rng, pf, fact: fact[0].replace("closed-door", "connected"), "closed-door"
    ),
    "door_thought_closed": _fact(
        lambda rng, pf, fact: fact[0].replace("connected", "closed-door"), "connected"
    ),
    "object_left_out": ("pf", _drop_object),
    "goal_already_true": _goal(lambda rng, pf: _here(pf)),
    "goal_visited": _goal(_been_to),
    "goal_elsewhere": _goal(lambda rng, pf: rng.choice(_rooms(pf) or [""])),
    "goal_unknown": _goal(lambda rng, pf: _misspelled(rng, _here(pf))),
    "nowhere": ("pf", _nowhere),
    "negated": ("pf", _negated),
    "other_predicate": _other("pf", -1, _COIN["predicates"]),
    "parenthesis_left_out": ("pf", drop_parenthesis),
    "other_signature": _other("df", 1, _COIN["signatures"]),
    "domain_part_left_out": _left_out(_COIN["parts_of_the_domain"]),
}
CIRCLES: Mapping[str, Fault | None] = {"goal_visited": FAULTS["goal_visited"]}
"""The fault that makes a player go back and forth until the next question says so."""

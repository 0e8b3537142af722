"""Slips that are planted in right answers, so that a model sees how its own are answered.

Each fault changes the PDDL of CoinCollector, printed in the layout "line", as models get it wrong:
the planner or the game then says what it says of such files, and the next question repeats it.
"""

import json
import re
from collections.abc import Callable, Mapping
from random import Random

Files = tuple[str, str]
"""A domain file and a problem file."""

Plant = Callable[[Random, str, str], Files | None]
"""From the right files to wrong ones; None where they hold nothing to get wrong in this way."""

DIRECTIONS = ("north", "south", "east", "west")

_FACT = re.compile(r"\((?:connected|closed-door) ([\w-]+) ([\w-]+) ([\w-]+)\)")
_OBJECTS = re.compile(r"\(:objects (.*?) - location")
_GOAL = re.compile(r"\(:goal .*\)\)$")
_HERE = re.compile(r"\(:init \(at ([\w-]+)\)")


def plant(rng: Random, answer: str, faults: Mapping[str, Plant | None]) -> str:
    """The answer with one of `faults`; the answer itself where none of them is possible."""
    files = json.loads(answer)
    for name in rng.sample(sorted(faults), len(faults)):
        make = faults[name]
        if make is None:
            return rng.choice([answer[: rng.randrange(len(answer))], json.dumps({"pf": answer})])
        if changed := make(rng, files["df"], files["pf"]):
            return json.dumps(dict(zip(("df", "pf"), changed, strict=True)), ensure_ascii=False)
    return answer


def _fact(change: Callable[[Random, str, re.Match[str]], str], head: str = "") -> Plant:
    """A fault in one fact about an exit, one that begins with `head`. Every other time the goal is
    behind that exit, so that a plan runs into the fault and the game refuses it."""

    def make(rng: Random, df: str, pf: str) -> Files | None:
        facts = [fact for fact in _FACT.finditer(pf) if fact[0].startswith(f"({head}")]
        if not facts:
            return None
        fact = rng.choice(facts)
        put = change(rng, pf, fact)
        before = pf[: fact.start()]
        changed = (before if put else before.rstrip()) + put + pf[fact.end() :]
        if fact[2] != _here(pf) and rng.random() < 0.5:
            changed = _GOAL.sub(f"(:goal (at {fact[2]})))", changed)
        return df, changed

    return make


def _domain(*texts: str) -> Plant:
    """A fault in the domain: one of `texts` is left out."""

    def make(rng: Random, df: str, pf: str) -> Files | None:
        there = [text for text in texts if text in df]
        return (df.replace(rng.choice(there), "", 1), pf) if there else None

    return make


def _goal(choose: Callable[[Random, str], str]) -> Plant:
    def make(rng: Random, df: str, pf: str) -> Files | None:
        room = choose(rng, pf)
        return (df, _GOAL.sub(f"(:goal (at {room})))", pf)) if room else None

    return make


def _rooms(pf: str) -> list[str]:
    objects = _OBJECTS.search(pf)
    return objects[1].split() if objects else []


def _here(pf: str) -> str:
    here = _HERE.search(pf)
    return here[1] if here else ""


def _been_to(rng: Random, pf: str) -> str:
    """A room next to where one is that was visited: the way to walk in circles."""
    visited = {fact[1] for fact in _FACT.finditer(pf)} - {_here(pf)}
    near = [f[2] for f in _FACT.finditer(pf) if f[1] == _here(pf) and f[2] in visited]
    return rng.choice(sorted(near or visited or {""}))


def _misspelled(rng: Random, name: str) -> str:
    return rng.choice(
        [name[:-1], name.replace("_", ""), name.replace("_", "-"), name + "1", "room"]
    )


def _other_room(rng: Random, pf: str, fact: re.Match[str]) -> str:
    group = rng.choice((1, 2))
    return _with(fact, group, rng.choice(_rooms(pf) or ["room"]))


def _with(fact: re.Match[str], group: int, word: str) -> str:
    start, end = (at - fact.start() for at in fact.span(group))
    return fact[0][:start] + word + fact[0][end:]


def _drop_object(rng: Random, df: str, pf: str) -> Files | None:
    objects = _OBJECTS.search(pf)
    rooms = _rooms(pf)
    if objects is None or len(rooms) < 2:
        return None
    rooms.remove(rng.choice(rooms))
    return df, pf[: objects.start(1)] + " ".join(rooms) + pf[objects.end(1) :]


def _drop_parenthesis(rng: Random, df: str, pf: str) -> Files | None:
    at = rng.choice([index for index, sign in enumerate(pf) if sign in "()"])
    return df, pf[:at] + pf[at + 1 :]


def _nowhere(rng: Random, df: str, pf: str) -> Files | None:
    here = _here(pf)
    return (df, pf.replace(f"(:init (at {here}) ", "(:init ", 1)) if here else None


def _negated(rng: Random, df: str, pf: str) -> Files | None:
    rooms = _rooms(pf)
    return (
        (df, pf.replace("(:init ", f"(:init (not (at {rng.choice(rooms)})) ", 1)) if rooms else None
    )


def _other_predicate(rng: Random, df: str, pf: str) -> Files | None:
    old, new = rng.choice(
        [("(connected ", "(linked "), ("(closed-door ", "(door "), ("(at ", "(in ")]
    )
    return (df, pf.replace(old, new)) if old in pf else None


def _other_signature(rng: Random, df: str, pf: str) -> Files | None:
    old, new = rng.choice([(":action move ", ":action go "), ("?dir - direction) :pre", ") :pre")])
    return (df.replace(old, new, 1), pf) if old in df else None


FAULTS: Mapping[str, Plant | None] = {
    "no_answer": None,  # cut, or with a key that is not asked for
    "fact_left_out": _fact(lambda rng, pf, fact: ""),
    "fact_of_another_room": _fact(_other_room),
    "fact_of_no_room": _fact(lambda rng, pf, fact: _with(fact, 2, _misspelled(rng, fact[2]))),
    "wrong_direction": _fact(lambda rng, pf, fact: _with(fact, 3, rng.choice(DIRECTIONS))),
    "argument_left_out": _fact(lambda rng, pf, fact: _with(fact, 3, "").replace(" )", ")")),
    "door_thought_open": _fact(
        lambda rng, pf, fact: fact[0].replace("closed-door", "connected"), "closed-door"
    ),
    "door_thought_closed": _fact(
        lambda rng, pf, fact: fact[0].replace("connected", "closed-door"), "connected"
    ),
    "object_left_out": _drop_object,
    "goal_already_true": _goal(lambda rng, pf: _here(pf)),
    "goal_visited": _goal(_been_to),
    "goal_elsewhere": _goal(lambda rng, pf: rng.choice(_rooms(pf) or [""])),
    "goal_unknown": _goal(lambda rng, pf: _misspelled(rng, _here(pf))),
    "nowhere": _nowhere,
    "negated": _negated,
    "other_predicate": _other_predicate,
    "parenthesis_left_out": _drop_parenthesis,
    "other_signature": _other_signature,
    "domain_part_left_out": _domain(
        " (closed-door ?loc1 - location ?loc2 - location ?dir - direction)",
        " (at ?loc - location)",
        " direction",
        " (at ?from)",
        "(not (at ?from)) ",
        " (at ?to)",
        " (connected ?loc1 ?loc2 ?dir)",
        "(not (closed-door ?loc1 ?loc2 ?dir)) ",
    ),
}
CIRCLES: Mapping[str, Plant | None] = {"goal_visited": FAULTS["goal_visited"]}
"""What makes a player go to and fro until the next question says so."""

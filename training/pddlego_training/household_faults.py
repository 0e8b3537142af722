"""Slips for ALFWorld and CookingWorld, as in `faults` for CoinCollector: changes of
edits and of files that the reference writes in the layout "line".
"""

import json
import re
from collections.abc import Callable, Mapping
from random import Random

from pddlego_local.pddl.edit import Changes
from pddlego_training.faults import WORDS, Fault, drop_parenthesis

_OBJECT = re.compile(r"(?<=[( ])([\w-]+) - (\w+)")
_FACT = re.compile(r"\([\w-]+(?: [\w-]+)*\) ?")
_GOAL = re.compile(r"\(:goal .*\)\)$")
_ATOM = re.compile(r" \((?:not \()?[\w-]+(?: \?[\w-]+)+\)+")
_TYPES = WORDS["household"]["types"]


def _section(text: str, name: str) -> tuple[int, int]:
    """The start and end of the content of a section such as ":init"."""
    begin = text.find(f"(:{name} ") + len(name) + 3
    end = min(at for at in (text.find(" (:", begin), len(text)) if at > 0)
    return begin, end - 1


def _in(
    name: str, pattern: re.Pattern[str], put: Callable[[Random, re.Match[str]], str]
) -> Fault:
    """A fault that changes one match of the pattern in a section of the problem."""

    def make(rng: Random, pf: str) -> str | None:
        matches = list(pattern.finditer(pf, *_section(pf, name)))
        if not matches:
            return None
        match = rng.choice(matches)
        return pf[: match.start()] + put(rng, match) + pf[match.end() :]

    return "pf", make


def _names(pf: str) -> list[str]:
    return [match[1] for match in _OBJECT.finditer(pf, *_section(pf, "objects"))]


def _goal(rng: Random, pf: str) -> str | None:
    """Another goal with names from the file, which is often already true or useless."""
    if not (names := _names(pf)):
        return None
    predicate = rng.choice(WORDS["household"]["predicates"])
    return _GOAL.sub(f"(:goal (and ({predicate} {rng.choice(names)}))))", pf)


def _misnamed(rng: Random, pf: str) -> str | None:
    """Gives one name another number or none, everywhere or in one place."""
    if not (names := _names(pf)):
        return None
    name = rng.choice(names)
    bare = name.rstrip("0123456789")
    other = rng.choice([bare, f"{bare}{rng.randint(1, 9)}"])
    return re.sub(rf"\b{re.escape(name)}\b", other, pf, count=rng.choice((0, 1)))


def _drop_atom(rng: Random, df: str) -> str | None:
    if (atom := rng.choice(list(_ATOM.finditer(df)) or [None])) is None:
        return None
    closing = atom[0].count(")") - atom[0].count("(")
    return df[: atom.start()] + ")" * closing + df[atom.end() :]


FAULTS: Mapping[str, Fault | None] = {
    "no_answer": None,
    "fact_left_out": _in("init", _FACT, lambda rng, fact: ""),
    "fact_misplaced": _in(
        "init",
        _FACT,
        lambda rng, fact: fact[0].replace("opened", "closed").replace("in ", "fits "),
    ),
    "object_left_out": _in(
        "objects", re.compile(r"[\w-]+ - \w+ ?"), lambda rng, line: ""
    ),
    "other_type": _in(
        "objects", _OBJECT, lambda rng, line: f"{line[1]} - {rng.choice(_TYPES)}"
    ),
    "goal_elsewhere": ("pf", _goal),
    "goal_elsewhere_too": ("pf", _goal),
    "misnamed": ("pf", _misnamed),
    "parenthesis_left_out": ("pf", drop_parenthesis),
    "domain_part_left_out": ("df", _drop_atom),
}
CIRCLES: Mapping[str, Fault | None] = {"goal_elsewhere": FAULTS["goal_elsewhere"]}


def plant_in_edit(rng: Random, answer: str) -> str:
    """Returns the edit without one entry, with one wrong entry, or cut."""
    edit: dict[str, Changes] = json.loads(answer)
    lists = [
        entries for part in edit.values() for entries in (part["add"], part["delete"])
    ]
    lists = [entries for entries in lists if entries]
    if not lists or rng.random() < 0.05:
        return answer[: rng.randrange(len(answer))]
    entries = rng.choice(lists)
    at = rng.randrange(len(entries))
    entry = entries[at]
    wrong = [re.sub(r"\d+", str(rng.randint(1, 6)), entry, count=1)]
    wrong += [entry.replace(*names) for names in WORDS["household"]["confused"]]
    others = [other for other in wrong if other != entry]
    entries[at : at + 1] = [rng.choice(others)] if others and rng.random() < 0.6 else []
    return json.dumps(edit, ensure_ascii=False)


def leave_out(rng: Random, answer: str) -> str:
    """Returns the list of seen things without one of them."""
    seen: dict[str, list[str]] = json.loads(answer)
    entries = rng.choice([things for things in seen.values() if things] or [[""]])
    entries.pop(rng.randrange(len(entries)))
    return json.dumps(seen, ensure_ascii=False)

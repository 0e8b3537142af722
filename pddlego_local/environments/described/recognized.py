"""Whether a text is one that `generated.py` could have told.

A small model that learned these texts gets other wordings of the same worlds wrong, and often the
same sentences in another order too (docs/use/formalize.md).
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from pddlego_local.environments.described.generated import Degree, Family, from_towers, words_of
from pddlego_local.environments.described.world import HEADS
from pddlego_local.environments.writing import Fact

_OTHER_PROBLEM = (
    "has the rules of {}, but tells its things, facts and goal in other words, another number or "
    "another order"
)


def recognize(text: str, known: Mapping[Family, tuple[int, int]]) -> tuple[str, str]:
    """The text as `generate` lays it out, and ""; or "" and what is wrong with it, "is empty", if
    it tells no world of the `known` families, each with its least and its greatest number of blocks
    or packages.

    Blanks and line breaks make no difference, and the action heads may be missing.
    """
    flat, sentences = " ".join(text.split()), set[str]()
    for family, degree in itertools.product(known, get_args(Degree)):
        words = words_of(family)
        about, heads = words["domain_text"][degree].strip(), f"{HEADS}\n{words['heads'].strip()}"
        if rules := re.match(f"{_pattern(about)}( {_pattern(heads)})? ", flat):
            problem = _problem(flat[rules.end() :], family, degree, known[family])
            parts = (about, heads, problem) if rules[1] else (about, problem)
            return ("\n\n".join(parts), "") if problem else ("", _OTHER_PROBLEM.format(family))
        sentences.update(_sentences(about))
    other = next((each for each in _sentences(flat) if each not in sentences), "")
    return "", f'says "{other:.60}", which is unknown' if other else "is empty or breaks off"


def _problem(text: str, family: Family, degree: Degree, sizes: tuple[int, int]) -> str:
    """The text in three lines; "" if it tells no world of this family and these sizes."""
    words = words_of(family)
    form = words["problem_text"].strip()
    told = re.fullmatch(_pattern(form, "(.+?)"), text)
    if told is None:
        return ""

    def fact(phrase: str) -> Fact:
        for name, form in words["told"][degree].items():
            if match := re.fullmatch(_pattern(form, r"(\w+ \d+)"), phrase):
                return (name, *match.groups())
        return ("unknown", phrase, "")

    things, start, goal = told[1].split(", "), told[2].split("; "), told[3].split("; ")
    count = sum(thing.startswith(f"{words['thing']} ") for thing in things)
    is_drawn = _is_logistics if family == "logistics" else _is_blocks
    if not sizes[0] <= count <= sizes[1] or not is_drawn(
        things, [*map(fact, start)], [*map(fact, goal)]
    ):
        return ""
    return str(form.format(things=told[1], start=told[2], goal=told[3]))


def _is_blocks(things: Sequence[str], start: Sequence[Fact], goal: Sequence[Fact]) -> bool:
    """Whether each block is in one tower of the start and in one of the goal, told from below."""
    towers, wanted = _towers(start), _towers(goal)
    drawn = from_towers({}, towers, wanted)
    placed = [sorted(itertools.chain.from_iterable(each)) for each in (towers, wanted)]
    return (
        things == _numbered(things)
        and placed == [sorted(things)] * 2
        and (drawn.start, drawn.goal) == (start, goal)
    )


def _towers(facts: Sequence[Fact]) -> list[list[str]]:
    towers = list[list[str]]()
    for name, *things in facts:
        if name == "table":
            towers.append(things)
        elif name == "on" and towers:
            towers[-1].append(things[0])
    return towers


def _is_logistics(things: Sequence[str], start: Sequence[Fact], goal: Sequence[Fact]) -> bool:
    """Whether numbers and places are such as `generate` draws, and are told in its order."""
    kinds = ("package", "truck", "airplane", "depot", "airport", "city")
    each = [[thing for thing in things if thing.startswith(f"{kind} ")] for kind in kinds]
    packages, trucks, planes, depots, airports, cities = each
    order = [("at", thing) for thing in (*trucks, *planes, *packages)]
    order += [("in_city", place) for place in (*depots, *airports)]
    numbered = [name for group in each for name in _numbered(group)]
    if things != numbered or [fact[:2] for fact in start] != order:
        return False
    where = {thing: place for _, thing, place in start}
    depots_in, places = Counter(where[depot] for depot in depots), (*depots, *airports)
    goals = {package: place for _, package, place in goal}
    sent = [("at", package) for package in packages if package in goals]
    return (
        (len(cities) in (2, 3) and len(planes) in (1, 2))
        and [where[airport] for airport in airports] == cities
        and [where[depot] for depot in depots] == [c for c in cities for _ in range(depots_in[c])]
        and all(depots_in[city] in (1, 2) for city in cities)
        and [where.get(where[truck]) for truck in trucks] == cities
        and all(where[plane] in airports for plane in planes)
        and {*(where[package] for package in packages), *goals.values()} <= {*places}
        and [fact[:2] for fact in goal] == sent
        and len(sent) == max(1, round(len(packages) * 2 / 3))
        and all(where[package] != place for package, place in goals.items())
    )


def _numbered(names: Sequence[str]) -> list[str]:
    """As many names of the first one's kind, numbered from 1 on."""
    return [f"{names[0].rpartition(' ')[0]} {n}" for n, _ in enumerate(names, start=1)]


def _pattern(words: str, slot: str = "") -> str:
    """A regular expression for these words with `slot` in the place of each {name}."""
    return slot.join(map(re.escape, re.split(r"\{\w+\}", " ".join(words.split()))))


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:!?]) ", " ".join(text.split()))

"""Whether a text is one that `generated.py` could have told.

A small model that learned our worlds is right about texts of that kind alone. Other words for the
same world get a wrong answer, and so do the same sentences in another order, most of the time.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from pddlego_local.environments.described.generated import Degree, Family, from_towers, words_of
from pddlego_local.environments.described.world import HEADS
from pddlego_local.environments.writing import Fact

_NAME = r"(\w+ \d+)"
_QUOTED = 60  # characters at most


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
        begin, middle = _pattern(about), _pattern(heads)
        if rules := re.match(f"{begin}( {middle})? ", flat):
            problem, why = _problem(flat[rules.end() :], family, degree, known[family])
            parts = (about, heads, problem) if rules[1] else (about, problem)
            return ("", why) if why else ("\n\n".join(parts), "")
        sentences |= set(_sentences(about))
    other = next((each for each in _sentences(flat) if each not in sentences), "")
    if not other:
        return "", "breaks off" if flat else "is empty"
    return "", f"says {_quoted(other)}, which such texts do not"


def _problem(text: str, family: Family, degree: Degree, sizes: tuple[int, int]) -> tuple[str, str]:
    """The text of the problem, with the same two results."""
    words = words_of(family)
    form = words["problem_text"].strip()
    told = re.fullmatch(_pattern(form, "(.+?)"), text)
    if told is None:
        return "", f'does not say after the rules: "{" ".join(form.split())}"'
    facts = list[list[Fact]]()
    for phrases in told.groups()[1:]:
        facts.append([])
        for phrase in phrases.split("; "):
            forms = words["told"][degree].items()
            found = [(name, re.fullmatch(_pattern(form, _NAME), phrase)) for name, form in forms]
            if not any(match for _, match in found):
                return "", f"says {_quoted(phrase)}, which such texts do not"
            facts[-1] += [(name, *match.groups()) for name, match in found if match]
    things = told[1].split(", ")
    count = sum(thing.startswith(f"{words['thing']} ") for thing in things)
    if not sizes[0] <= count <= sizes[1]:
        return "", f"names {count} {words['thing']}(s), not {sizes[0]} to {sizes[1]}"
    is_drawn = _is_logistics if family == "logistics" else _is_blocks
    if not is_drawn(things, *facts):
        return "", (
            "has known sentences, but its things, facts or goals have another number or order, "
            "or contradict one another"
        )
    return form.format(things=told[1], start=told[2], goal=told[3]), ""


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
    return [f"{names[0].split()[0]} {number}" for number, _ in enumerate(names, start=1)]


def _pattern(words: str, slot: str = "") -> str:
    """A regular expression for these words with `slot` in the place of each {name}."""
    return slot.join(map(re.escape, re.split(r"\{\w+\}", " ".join(words.split()))))


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:!?]) ", " ".join(text.split()))


def _quoted(text: str) -> str:
    return f'"{text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"}"'

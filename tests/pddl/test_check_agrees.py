"""The static check against its judge, Fast Downward's translator."""

import random
from collections.abc import Iterable

from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward, Limits
from tests.pddl import test_hostile_text as hostile
from tests.pddl import test_static_check as tables

Pair = tuple[str, str]


def disagreements(pairs: Iterable[Pair]) -> list[str]:
    wrong = []
    with FastDownward(search="lama_first", limits=Limits(cpu_s=5)) as planner:
        for domain, problem in pairs:
            found, judged = check(domain, problem), planner.plan(domain, problem)
            if found.accepted != (judged.outcome != "translate_error"):
                said = [str(fault) for fault in found.faults]
                wrong.append(f"{judged.message}\n{said}\n{domain}\n{problem}")
    return wrong


def from_tables() -> Iterable[Pair]:
    yield tables.DOMAIN, tables.PROBLEM
    yield tables.EVERY_FEATURE, tables.EVERY_PROBLEM
    for kind in tables.FOUND:
        yield from (tables.changed(*row[:3]) for row in tables.CASES[kind])
    for text in hostile.HOSTILE.values():
        yield text, tables.PROBLEM
        yield tables.DOMAIN, text
    yield hostile.nested("and", 480), tables.PROBLEM


def with_words_moved(text: str, draw: random.Random) -> str:
    """The text after one or two slips: a word or parenthesis lost, doubled, or put
    elsewhere.
    """
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(draw.choice((1, 1, 2))):
        place, other = draw.randrange(len(words)), draw.randrange(len(words))
        slip = draw.randrange(4)
        if slip == 0:
            words[place] = ""
        elif slip == 1:
            words.insert(place, words[other])
        elif slip == 2:
            words[place], words[other] = words[other], words[place]
        else:
            words[place] = words[other]
        words = " ".join(words).split()
    return " ".join(words)


def test_tables_are_what_the_planner_says() -> None:
    assert disagreements(from_tables()) == []


def test_slips_in_right_tasks() -> None:
    draw = random.Random(20)
    pairs = []
    for domain, problem in [
        (tables.DOMAIN, tables.PROBLEM),
        (
            tables.EVERY_FEATURE.split("\n", 1)[1],
            tables.EVERY_PROBLEM.rsplit(";", 1)[0],
        ),
    ] * 25:
        if draw.random() < 0.6:
            pairs.append((with_words_moved(domain, draw), problem))
        else:
            pairs.append((domain, with_words_moved(problem, draw)))
    assert disagreements(pairs) == []

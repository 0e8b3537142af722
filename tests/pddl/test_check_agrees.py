"""The static check against its judge, Fast Downward's translator, run in a subprocess."""

import json
import lzma
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from pddlego_local.pddl.check import check
from tests.pddl import test_hostile_text as hostile
from tests.pddl import test_static_check as tables

JUDGE = Path(__file__).with_name("fd_verdicts.py")
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("PDDLEGO_DATA", ROOT.parent / "shared" / "data"))
PAIRS = DATA / "llm_pddl" / "open_weight_dev.jsonl.xz"
Pair = tuple[str, str]


def disagreements(pairs: Iterable[Pair]) -> list[str]:
    asked = list(pairs)
    lines = [json.dumps({"domain": domain, "problem": problem}) for domain, problem in asked]
    answer = subprocess.run(
        [sys.executable, str(JUDGE)],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    verdicts = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(verdicts) == len(asked)
    wrong = []
    for (domain, problem), verdict in zip(asked, verdicts, strict=True):
        result = check(domain, problem)
        if result.accepted != verdict["accepted"]:
            reason = verdict["reason"] or "the planner accepts it"
            wrong.append(f"{reason}\n{[str(f) for f in result.faults]}\n{domain}\n{problem}")
    return wrong


def from_tables() -> Iterable[Pair]:
    yield tables.DOMAIN, tables.PROBLEM
    yield tables.EVERY_FEATURE, tables.EVERY_PROBLEM
    for file, old, new, *_ in tables.SYNTAX + tables.SYMBOLS + tables.WARNINGS:
        if file == "domain":
            yield tables.with_change(tables.DOMAIN, old, new), tables.PROBLEM
        else:
            yield tables.DOMAIN, tables.with_change(tables.PROBLEM, old, new)
    for text in hostile.HOSTILE.values():
        yield text, tables.PROBLEM
        yield tables.DOMAIN, text
    yield hostile.nested("and", 480), tables.PROBLEM


def with_words_moved(text: str, draw: random.Random) -> str:
    """The text after one or two slips: a word or parenthesis lost, doubled, or put elsewhere."""
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
    pairs: list[Pair] = []
    for domain, problem in [
        (tables.DOMAIN, tables.PROBLEM),
        (tables.EVERY_FEATURE.split("\n", 1)[1], tables.EVERY_PROBLEM.rsplit(";", 1)[0]),
    ] * 150:
        if draw.random() < 0.6:
            pairs.append((with_words_moved(domain, draw), problem))
        else:
            pairs.append((domain, with_words_moved(problem, draw)))
    assert disagreements(pairs) == []


@pytest.mark.skipif(not PAIRS.exists(), reason=f"the recorded pairs are not at {PAIRS}")
def test_pairs_that_models_wrote() -> None:
    with lzma.open(PAIRS, "rt") as file:
        rows = [json.loads(line) for line in file]
    sample = random.Random(7).sample(rows, 300)
    assert disagreements((row["domain"], row["problem"]) for row in sample) == []

"""The page on described worlds that no training had: its tables are those of the records."""

import re
from collections import Counter

from pddlego_local.models.card import known_texts
from tests.docs.records import ARMS, RESULTS, ROOT, arm, cells, counted, told

PAGE = (RESULTS / "generalize.md").read_text(encoding="utf-8")
PLAYED = cells("generalize/records.tar.xz")
TRAINED = known_texts(ROOT / "weights/nano_worlds") or {}
WORDINGS = ("moderately", "naturally")


def of_split(split: str, text: str, name: str) -> list[int]:
    """`counted` of an arm in the seen or held-out domains, told in one wording."""
    return counted(
        one
        for one in PLAYED
        if arm(one) == name
        and one.asks("environment.text") == text
        and (one.asks("environment.world") in TRAINED) == (split == "seen")
    )


def of_worlds() -> list[str]:
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for one in PLAYED:
        *_, valid, _, many = counted([one])
        place = one.asks("environment.world"), one.asks("environment.text")
        shown.setdefault(place, {})[arm(one)] = f"{valid} of {many}"
    return [
        f"| `{world}` | {text} | {' | '.join(by[name] for name in ARMS)} |"
        for (world, text), by in sorted(shown.items())
    ]


def test_the_tables_are_those_of_the_records() -> None:
    of_splits = [
        f"| {split} | {text} | `{name}` | {' | '.join(map(str, of_split(split, text, name)))} |"
        for split in ("seen", "held out")
        for text in WORDINGS
        for name in ARMS
    ]
    tables = re.findall(r"^\|.* (?:moderately|naturally) \|.*$", PAGE, re.MULTILINE)
    assert tables == [*of_splits, *of_worlds()]


def test_the_table_of_the_pretrained_model_is_that_of_its_records() -> None:
    played = cells("generalize/pretrained_records.tar.xz")
    by_arm = {each: counted(one for one in played if arm(one) == each) for each in ARMS}
    rows = [f"| `{each}` | {' | '.join(map(str, found))} |" for each, found in by_arm.items()]
    assert re.findall(r"^\| `\w+` (?:\| \d+ ){6}\|$", PAGE, re.MULTILINE) == rows
    typed = sum((one.causes() for one in played if arm(one) == "typed"), Counter[str]())
    assert typed["goal_already_true"] == by_arm["typed"][2] == 12


def test_the_sentences_are_those_of_the_tables() -> None:
    page = told("docs/results/generalize.md")
    valid = {of_split("seen", "moderately", name)[3] for name in ARMS}
    assert [f"**: {one} of 158 in every arm" in page for one in valid] == [True]
    free, typed = (of_split("seen", "naturally", name) for name in ("free", "typed"))
    assert f"{free[1]} of 158 free answers, and all {typed[1]} answers under `typed`" in page
    assert f"{free[2]} have a plan, and of those under `typed` {typed[2]}. Only one of" in page
    assert (free[3], typed[3], typed[5]) == (0, 1, 158)
    solved = {of_split("held out", text, name)[3] for text in WORDINGS for name in ARMS}
    assert solved == {0} and "none of 160 worlds is solved in any arm" in page
    planned = [of_split("held out", "moderately", name)[2] for name in ARMS]
    assert planned == [0, 0, 22, 0] and "Under `typed` 22 of 80 have one" in page

"""What the pages give as an example of each rung is refused by this rung and by none
below it.
"""

import re

import pytest

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.session import place_of_departure
from tests.decoding.on_rung import constraint_for
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE, SCENE
from tools.pages.records import ROOT


def answer(old: str = "", new: str = "") -> str:
    """The house with one change, in the layout of the grammars."""
    assert old in DOMAIN + PROBLEM_FILE
    files = (text.replace(old, new) if old else text for text in (DOMAIN, PROBLEM_FILE))
    return Printer("line", SCENE.actions, as_staged=True).answer(
        dict(zip(("df", "pf"), files, strict=True))
    )


def whole(rung: str, text: str) -> bool:
    return rung == "free" or not place_of_departure(
        constraint_for(rung, PDDL, SCENE, "line"), text
    )


EXAMPLES = {  # the words of the table, and an answer with this mistake
    "json": ("Here is the PDDL: …", f"Here is the PDDL: {answer()}"),
    "syntax": ("(at kitchen", answer().replace("(at hall)", "(at hall", 1)),
    "signatures": (
        "(:action teleport …)",
        answer("(:action light", "(:action teleport"),
    ),
    "typed": ("(at cellar)", answer("(:goal (at cellar))", "(:goal (at attic))")),
    "grounded": (
        "cellar - location",
        answer("candle - lamp)", "candle - lamp attic - room)"),
    ),
}


@pytest.mark.parametrize("page", ["README.md", "docs/understand/ladder.md"])
def test_the_pages_have_each_rung_with_its_example(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text, re.MULTILINE)
    assert [rung for rung, _ in rows] == [*RUNGS]
    for rung, shown in rows[1:]:
        assert f"`{EXAMPLES[rung][0]}`" in shown


@pytest.mark.parametrize("rung", EXAMPLES)
def test_the_example_is_refused_by_its_rung_and_by_none_below(rung: str) -> None:
    below = [*RUNGS][[*RUNGS].index(rung) - 1]
    assert whole(rung, answer())
    assert whole(below, EXAMPLES[rung][1]) and not whole(rung, EXAMPLES[rung][1])

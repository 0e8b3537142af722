"""`pddlego world check`: what it tells the author of a partly seen world."""

import re
import shutil
from pathlib import Path

import pytest

from pddlego_local.runner.config import compose_cell
from tests.environments.explored_games import cell_that_the_reference_wins
from tests.pddlego import Pddlego

HOUSE = Path(__file__).parents[2] / "examples/house"
CORRIDOR = """(define (problem p) (:domain house)
  (:objects hall attic room3 room4 - room torch - lamp)
  (:init (at hall) (beside hall attic) (beside hall room3) (beside hall room4)
    (beside attic hall) (beside room3 hall) (beside room4 hall) (in torch room4))
  (:goal (lit torch)))
"""
SLIDE = """(define (domain slide) (:requirements :typing :conditional-effects)
  (:types place - object)
  (:predicates (at ?p - place) (down ?from ?to - place) (icy ?p - place) (wet))
  (:action slip :parameters (?from ?to - place)
    :precondition (and (at ?from) (down ?from ?to))
    :effect (and (not (at ?from)) (at ?to) (when (icy ?to) (wet))))
  (:action shout :parameters () :precondition () :effect (not (wet)))
  (:action fall :parameters (?from ?to - place)
    :precondition (and (at ?from) (down ?from ?to))
    :effect (and (not (at ?from)) (at ?to))))
"""
DOWN = """(define (problem p) (:domain slide) (:objects top a b end - place)
  (:init (at top) (down top a) (down top b) (down a end) (icy a))
  (:goal (at end)))
"""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return shutil.copytree(HOUSE, tmp_path / "house")


def found(printed: str, what: str) -> str:
    """Returns what the last table says of something."""
    match = re.search(rf"│ {re.escape(what)} +│ (.*?) +│", printed)
    assert match, (what, printed)
    return match[1]


def test_a_world_is_looked_at_and_played(pddlego: Pddlego, house: Path) -> None:
    (house / "p2.pddl").write_text(CORRIDOR, encoding="utf-8")
    done = pddlego("world", "check", house, "--walks", "6")
    for row in (
        r"say\.beside +│ a corridor leads to \{to\*\} +│ A corridor leads to the",
        r"say\.beside +│ \{from\} beside \{to\} +│ The hall beside the living room\.",
        r"aim\.in +│ \{t\} in \{r\} +│ The coin in the living room\.",
        r"do\.light +│ light \{l\} +│ light the torch",
        r"\(at \?r\) +│ a +│ always",
        r"\(beside \?from \?to\) +│ b +│ where the player is at \?from",
        r"\(held \?t\) +│ c +│ always",
        r"\(lit \?l\) +│ d +│ where \?l is",
    ):
        assert re.search(row, done.out), row
    assert "Your goal: the torch is lit" in found(done.out, "it says")
    assert found(done.out, "the reference won") == "2 of 2 games"
    assert found(done.out, "the optimum with full information") == "3.0"
    ratio = float(found(done.out, "reference ÷ optimum").split()[0])
    mean = float(found(done.out, "its actions, on average"))
    assert ratio == pytest.approx(mean / 3, abs=0.06)
    assert found(done.out, "a budget to use").startswith("{unit: actions, limit: 1")
    dead_ends = re.fullmatch(
        r"dead ends after (\d) of 6 walks", found(done.out, "dead ends")
    )
    assert dead_ends
    line = f"checked: {{walks: 6, dead_ends: {dead_ends[1]}}}"
    assert found(done.out, "a line for world.yaml") == line


def test_what_makes_exploring_fail_is_named(pddlego: Pddlego, tmp_path: Path) -> None:
    for name, text in (
        ("domain.pddl", SLIDE),
        ("p1.pddl", DOWN),
        ("world.yaml", "here: (at ?p)\ndo: {fall: fall}"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = pddlego("world", "check", tmp_path, "--walks", "12", code=(0, 1))
    assert found(done.out, "actions that work from anywhere") == "shout"
    assert found(done.out, "commands that fit two actions").startswith("fall: ")
    assert found(done.out, "changes that cannot be foreseen").startswith("slip: ")
    dead_ends = re.match(r"dead ends after (\d+) of 12", found(done.out, "dead ends"))
    assert dead_ends and int(dead_ends[1]) > 0


def test_many_worlds_are_one_row_each(
    pddlego: Pddlego, house: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(house, tmp_path / "broken")
    (other / "world.yaml").write_text("here: (on ?r)", encoding="utf-8")
    with (house / "world.yaml").open("a", encoding="utf-8") as file:
        file.write("checked: {walks: 9, dead_ends: 4}\n")
    alone = pddlego("world", "check", house, "--walks", "2")
    assert found(alone.out, "a line for world.yaml").startswith("checked: {walks: 2,")
    own = found(alone.out, "world.yaml has another one")
    assert own == "checked: {walks: 9, dead_ends: 4}"
    done = pddlego("world", "check", house, other, "ferry", "-n2", "--walks=2", code=1)
    assert re.search(r"│ house +│ 1 of 1 +│", done.out)
    assert re.search(r"│ ferry +│ 2 of 2 +│", done.out)
    assert re.search(r"│ broken .*refused: .*there is no predicate on", done.out)
    alone = pddlego("world", "check", other, code=2)
    assert "there is no predicate on" in alone.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("checked: {walks: 40, dead_ends: 3}", "dead ends after 3 of 40 random walks."),
        ("", "dead ends: not checked."),
    ],
)
def test_every_report_of_a_world_says_what_is_known_of_dead_ends(
    line: str, said: str, pddlego: Pddlego, house: Path, tmp_path: Path
) -> None:
    with (house / "world.yaml").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    words = (f"environment.folder={house}", f"run.out={tmp_path / 'out'}")
    cell = cell_that_the_reference_wins(tmp_path / "out", *words, "method=pddl_edit")
    shutil.rmtree(house)  # a report needs the record alone
    done = pddlego("report", cell, "--out", tmp_path / "report", "--without-pages")
    written = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert f"house: {said}" in done.out and f"- house: {said}" in written


def test_games_of_other_sizes_are_not_checked() -> None:
    words = ["environment=explored", "environment.world=ferry"]
    for sizes, walks in (("null", 40), ("[2,4]", 40), ("[2,2]", 0)):
        cell = compose_cell([*words, f"environment.sizes={sizes}"])
        assert cell.build("environment").dead_ends.walks == walks

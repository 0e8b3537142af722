"""The map in characters: rooms where the directions put them, and any other world."""

import itertools
from collections.abc import Collection
from pathlib import Path

import pytest
from rich.text import Text

from pddlego_local.environments.described.generated import families, generate
from pddlego_local.report.map.layout import Layout
from pddlego_local.report.map.text import text_map
from pddlego_local.report.map.world import read_world

DOMAIN = Path("pddlego_local/environments/coin/reference.pddl").read_text(
    encoding="utf-8"
)


def house(init: str, goal: str = "(at corridor)") -> str:
    return (
        "(define (problem p) (:domain exploration) (:objects kitchen corridor pantry"
        " - location north south east west - direction)"
        f" (:init {init}) (:goal {goal}))"
    )


def shown_map(
    domain: str,
    problem: str,
    *,
    before: str = "",
    wrong: Collection[tuple[str, ...]] = (),
    width: int = 80,
) -> Text:
    earlier = read_world(domain, before) if before else None
    world = read_world(domain, problem)
    return text_map(world, before=earlier, wrong=wrong, width=width)


FIRST = "(at kitchen) (connected kitchen corridor south)"
DOOR = "(closed-door kitchen pantry east)"


def test_rooms_lie_where_the_directions_say() -> None:
    lines = shown_map(DOMAIN, house(f"{FIRST} {DOOR}")).plain.split("\n")
    row = {name: n for n, line in enumerate(lines) for name in ("kitchen", "corridor")
           if f"{name} " in line and "goal" not in line}  # fmt: skip
    assert row["kitchen"] < row["corridor"]
    (kitchen,) = [line for line in lines if "● kitchen" in line]
    assert kitchen.index("kitchen") < kitchen.index("▒") < kitchen.index("pantry")
    assert "corridor ◎" in lines[row["corridor"]]
    assert "goal: (at corridor)" in lines


def test_what_is_new_and_what_is_wrong_has_a_style() -> None:
    wrong = ("connected", "kitchen", "corridor", "south")
    shown = shown_map(
        DOMAIN, house(f"{FIRST} {DOOR}"), before=house(FIRST), wrong=[wrong]
    )
    styles = {(shown.plain[s.start : s.end][:1], s.style) for s in shown.spans}
    assert ("▒", "green") in styles and ("│", "red") in styles
    assert not any(character == "│" and style == "green" for character, style in styles)


def test_facts_that_no_line_can_show_are_written_below() -> None:
    contradiction = "(connected kitchen corridor west)"
    assert contradiction in shown_map(DOMAIN, house(f"{FIRST} {contradiction}")).plain
    assert "(connected" not in shown_map(DOMAIN, house(FIRST)).plain


def test_a_room_that_stays_keeps_its_place_and_gives_its_place_to_no_other() -> None:
    layout = Layout()
    first = layout.place(read_world(DOMAIN, house(f"{FIRST} {DOOR}")))
    second = layout.place(read_world(DOMAIN, house(f"{DOOR} (at pantry)")))
    third = layout.place(read_world(DOMAIN, house(f"{FIRST} {DOOR}")))
    assert first == third and second.items() <= first.items()
    assert len(set(first.values())) == len(first) == 3


@pytest.mark.parametrize("family", families())
def test_every_described_world_has_a_map_that_shows_all_its_objects(
    family: str,
) -> None:
    world = generate(family, "moderately", (3, 4), 3)
    drawn = read_world(world.domain, world.problem)
    cells = Layout().place(drawn)
    assert len(set(cells.values())) == len(cells) == len(drawn.boxes) > 1
    shown = shown_map(world.domain, world.problem, width=1000).plain
    named = {name for fact in drawn.facts for name in fact[1:]}
    assert not [name for name in named if name not in shown]


def test_the_player_is_found_by_the_form_of_the_actions() -> None:
    found = {"coin": read_world(DOMAIN, house(FIRST)).here}
    for family in ("ferry", "gripper", "blocksworld"):
        world = generate(family, "moderately", (3, 4), 3)
        found[family] = read_world(world.domain, world.problem).here
    assert found == {
        "coin": {("at", 1)}, "ferry": {("ferry-at", 1)}, "gripper": {("robot-in", 1)},
        "blocksworld": frozenset(),
    }  # fmt: skip


def test_a_large_world_is_cut_around_the_player() -> None:
    names = [f"r{n}" for n in range(200)]
    ways = " ".join(f"(connected {a} {b} east)" for a, b in itertools.pairwise(names))
    problem = (
        f"(define (problem p) (:domain exploration) (:objects {' '.join(names)} - "
        f"location east - direction) (:init (at r100) {ways}) (:goal (at r199)))"
    )
    part = read_world(DOMAIN, problem).part(60)
    assert {"r100", "r80", "r120"} <= part.objects.keys()
    assert "r0" not in part.objects and part.left_out == 140
    assert "170 more objects are further away" in shown_map(DOMAIN, problem).plain


@pytest.mark.parametrize(
    "name", ["<b>x</b>", "[bold]x[/]", "x" * 5000, "\u202eabc", "a\x1b[31m", "&amp"]
)
def test_hostile_names_are_shown_or_cut(name: str) -> None:
    shown = shown_map(DOMAIN, house(f"{FIRST} (connected kitchen {name} west)")).plain
    assert max(map(len, shown.split("\n"))) < 81
    assert not set(shown) & {"\u202e", "\x1b"}
    assert name[:5] in shown or not name.isprintable()


@pytest.mark.parametrize("text", ["", "no PDDL", "(", "(define", "(" * 5000])
def test_what_is_no_problem_has_no_map(text: str) -> None:
    assert "no map" in shown_map(DOMAIN, text).plain
    assert shown_map(text, house(FIRST)).plain


def test_what_is_wrong_is_written_below_with_a_sign() -> None:
    wrong = ("connected", "kitchen", "corridor", "south")
    shown = shown_map(DOMAIN, house(FIRST), wrong=[wrong]).plain
    assert "✗ (connected kitchen corridor south)" in shown.split("\n")

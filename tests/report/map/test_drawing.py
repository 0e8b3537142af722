"""Maps as SVG: what they show, in any domain, and that nothing in them does harm."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pddlego_local.core.nouns import Roles, TrueState
from pddlego_local.environments.described.generated import families, generate
from pddlego_local.report.map.drawing import Album
from pddlego_local.report.map.truth import compare, true_world, walked
from pddlego_local.report.map.world import World, read_world
from tests.report.browser import measured, needs_chromium
from tests.report.map.test_text_map import DOMAIN, DOOR, FIRST, house
from tests.report.test_hostile_text import HOSTILE


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.text]


def position(svg: str, name: str) -> tuple[int, int]:
    """The middle of the box with this name, in pairs of pixels."""
    for group in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g"):
        words = [element.text for element in group]
        if any(word in (name, f"● {name}") for word in words):
            (rect,) = group.findall("{http://www.w3.org/2000/svg}rect")
            x, y, width, height = (
                float(rect.attrib[key]) for key in ("x", "y", "width", "height")
            )
            return round((x + width / 2) / 2), round((y + height / 2) / 2)
    raise AssertionError(f"no box of {name}")


def classes(svg: str) -> set[str]:
    return {
        word for found in re.findall('class="([^"]*)"', svg) for word in found.split()
    }


def test_a_room_has_one_position_in_all_maps_of_an_album() -> None:
    worlds = [
        read_world(DOMAIN, house(init))
        for init in (FIRST, f"{FIRST} {DOOR}", f"{DOOR} (at pantry)", FIRST)
    ]
    album = Album(worlds)
    drawn = [album.draw(number) for number in range(4)]
    assert position(drawn[1], "pantry") == position(drawn[2], "pantry")
    assert position(drawn[0], "kitchen") == position(drawn[3], "kitchen")
    assert position(drawn[0], "corridor") == position(drawn[1], "corridor")
    assert len({re.findall('viewBox="[^"]*"', svg)[0] for svg in drawn}) == 1


def test_marks_have_a_class_and_a_sign() -> None:
    world = read_world(DOMAIN, house(f"{FIRST} {DOOR}"))
    (way,) = [fact for fact in world.facts if fact[0] == "connected"]
    (door,) = [fact for fact in world.facts if fact[0] == "closed-door"]
    svg = Album([world]).draw(
        0, {way: "wrong", door: "missed", ("at", "kitchen"): "new"}
    )
    assert {"wrong", "missed", "new", "door", "here", "goal"} <= classes(svg)
    assert {"✗ connected", "! closed-door", "+ ● kitchen"} <= set(texts(svg))


def test_a_direction_that_the_drawing_contradicts_is_written_at_the_line() -> None:
    world = read_world(DOMAIN, house(f"{FIRST} (connected corridor kitchen east)"))
    drawn = {*texts(Album([world]).draw(0))}
    assert len(drawn & {"↑ connected east", "← connected south"}) == 1
    agreed = read_world(DOMAIN, house(f"{FIRST} (connected corridor kitchen north)"))
    assert 'class="l' not in Album([agreed]).draw(0)


@pytest.mark.parametrize("family", families())
def test_every_described_world_is_drawn_as_XML_without_an_overlap(family: str) -> None:
    gold = generate(family, "moderately", (3, 5), 4)
    world = read_world(gold.domain, gold.problem)
    svg = Album([world]).draw(0)
    root = ET.fromstring(svg)
    rects = [
        {key: float(rect.attrib[key]) for key in ("x", "y", "width", "height")}
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.attrib["class"].split()[0] == "n"
        for rect in group.findall("{http://www.w3.org/2000/svg}rect")
    ]
    assert len(rects) == len(world.part().boxes)
    for number, a in enumerate(rects):
        for b in rects[:number]:
            assert (
                a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"]
                or a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"]
            )  # fmt: skip


def test_the_plan_is_a_way_through_the_places_of_the_player() -> None:
    problem = house(f"{FIRST} (connected corridor pantry east)", "(at pantry)")
    world = read_world(DOMAIN, problem)
    plan = ("(move kitchen corridor south)", "(move corridor pantry east)")
    way = [*walked(DOMAIN, problem, plan, world)]
    assert way == ["kitchen", "corridor", "pantry"]
    assert Album([world]).draw(0, path=way).count('class="path"') == 2
    assert [*walked(DOMAIN, problem, ("(move pantry kitchen east)",), world)] == []
    assert [*walked("(", problem, plan, world)] == []


def test_differences_are_wrong_missed_or_unseen() -> None:
    way, back = ("connected", "a", "b", "east"), ("connected", "b", "a", "west")
    door, placeholder = (
        ("closed-door", "a", "c", "north"),
        ("closed-door", "a", "x", "north"),
    )
    true = TrueState(
        {}, frozenset({("at", "a"), way, back, door}),
        frozenset({("at", 1), ("connected", 3), ("closed-door", 3)}),
    )  # fmt: skip
    told = frozenset({("at", "a"), way, placeholder, ("visited", "a")})
    believed = World(facts=frozenset({("at", "b"), placeholder, ("mood", "a")}))
    found = compare(believed, true, told)
    assert found is not None
    assert found.wrong == {("at", "b")}
    assert found.missed == {("at", "a"), way}
    assert found.unseen == {back, door}
    assert found.other_words == ("mood",)
    assert compare(World(facts=frozenset({("mood", "a")})), true, told) is None
    unknown = compare(believed, true, None)
    assert unknown is not None and not unknown.missed
    assert true_world(true, believed).facts == true.facts


@pytest.mark.parametrize("text", [*HOSTILE, "x" * 5000, "\u202eright to left"])
def test_hostile_names_make_no_element(text: str) -> None:
    name = re.sub(r"[\s()?;]", "", text) or "x"
    harmless = World(
        objects={"a": "t", "b": "t"}, facts=frozenset({("p", "a", "b"), ("q", "a")})
    )
    hostile = World(
        objects={name: "t", "b": "t"},
        facts=frozenset({(name, name, "b"), (name, name)}), goal_text=name,
    )  # fmt: skip
    tags = [
        [element.tag for element in ET.fromstring(Album([world]).draw(0)).iter()]
        for world in (harmless, hostile)
    ]
    assert tags[0] == tags[1]
    assert len(Album([hostile]).draw(0)) < 5000


def large(count: int = 200) -> World:
    names = [f"room{number}" for number in range(count)]
    ways = " ".join(
        f"(connected room{n} room{n + 1} {'east' if n % 9 else 'south'})"
        for n in range(count - 1)
    )
    return read_world(
        DOMAIN,
        f"(define (problem p) (:domain exploration) (:objects {' '.join(names)} -"
        f" location east south - direction) (:init (at room100) {ways})"
        " (:goal (at room1)))",
    )


@needs_chromium
def test_a_large_world_is_drawn_around_the_player(tmp_path: Path) -> None:
    svg = Album([large()]).draw(0)
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset=utf-8>{svg}", encoding="utf-8")
    script = """
        const boxes = [...shown.querySelectorAll('.n > rect')].map(
          (rect) => rect.getBoundingClientRect());
        const apart = boxes.every((a, n) => boxes.slice(0, n).every((b) =>
          a.left >= b.right || b.left >= a.right
          || a.top >= b.bottom || b.top >= a.bottom));
        return [boxes.length, apart,
          shown.querySelector('.here text').textContent].join()"""
    assert measured(page, 1280, script) == "60,true,● room100"
    assert len(svg) < 60_000


OWN = "(define (domain d) (:predicates (stands ?x) (shut ?x ?y) (in ?x ?y) (by ?x ?y)))"
ROLES: Roles = {"player": ("stands/1",), "doors": ("shut/2",), "places": ("room",)}


def test_an_environment_says_which_words_mean_the_player_doors_and_places() -> None:
    problem = (
        "(define (problem p) (:domain d) (:objects hall attic mug lid)"
        " (:init (stands hall) (shut hall attic) (in mug attic) (by lid mug)))"
    )
    rooms = {"hall": "room", "attic": "room", "mug": "thing"}
    true = TrueState(rooms, frozenset(), frozenset(), ROLES)
    world = read_world(OWN, problem, true)
    assert world.standing == {"hall"} and world.boxes == ["hall", "attic"]
    svg = Album([world]).draw(0)
    assert {"door", "here"} <= classes(svg)
    assert {"● hall", "· mug", "· lid by mug"} <= set(texts(svg))
    guessed = read_world(OWN, problem)
    assert not guessed.standing and len(guessed.boxes) == 4
    assert not {"door", "here"} & classes(Album([guessed]).draw(0))


def test_of_two_things_that_are_alone_with_each_other_the_last_one_is_the_box() -> None:
    problem = (
        "(define (problem p) (:domain d) (:objects zebra - animal box - thing)"
        " (:init (in zebra box)))"
    )
    assert read_world(OWN, problem).boxes == ["box"]


def test_what_is_wrong_is_shown_in_a_full_box() -> None:
    things = " ".join(f"(in thing{number} hall)" for number in range(20))
    problem = (
        "(define (problem p) (:domain d) (:objects hall - room) (:init (stands hall)"
        f" {things}))"
    )
    rooms = TrueState({"hall": "room"}, frozenset(), frozenset(), ROLES)
    svg = Album([read_world(OWN, problem, rooms)]).draw(
        0, {("in", "thing19", "hall"): "wrong"}
    )
    assert {"✗ · thing19", "… 15 more"} <= set(texts(svg))


def test_maps_that_are_too_wide_show_their_own_part() -> None:
    row = " ".join(f"(connected a{n} a{n + 1} east)" for n in range(20))
    ways = f"(:init (at a0) {row})"
    long, short = (
        read_world(DOMAIN, f"(define (problem p) (:domain exploration) {init})")
        for init in (ways, "(:init (at a0) (connected a0 a1 east))")
    )
    album = Album([long, short])
    widths = [
        float(ET.fromstring(svg).attrib["width"])
        for svg in (album.draw(0), album.draw(1), album.draw(1, beside=0))
    ]
    assert widths[1] < 300 < widths[0] == widths[2]

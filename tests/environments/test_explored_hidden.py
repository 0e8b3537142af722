"""Partly seen worlds with doors and chests: what is behind them has no name until it is
seen, and what is in them is seen when they are open.
"""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.game import goal_of
from pddlego_local.environments.explored.marks import marks_of
from pddlego_local.environments.explored.play import Play
from pddlego_local.environments.explored.world import World, read_world
from tests.environments.explored_games import cell_that_the_reference_wins

DOMAIN = """(define (domain doors)
(:requirements :adl)
(:types room dir thing chest)
(:constants north south east west - dir)
(:predicates (at ?r - room) (closed ?from - room ?to - room ?dir - dir)
  (open ?from - room ?to - room ?dir - dir) (back ?dir - dir ?back - dir)
  (stands ?c - chest ?r - room) (ajar ?c - chest) (inside ?t - thing ?c - chest)
  (held ?t - thing))
(:action open-door :parameters (?from - room ?to - room ?dir - dir ?back - dir)
 :precondition (and (at ?from) (closed ?from ?to ?dir) (back ?dir ?back))
 :effect (and (not (closed ?from ?to ?dir)) (open ?from ?to ?dir)
   (not (closed ?to ?from ?back)) (open ?to ?from ?back)))
(:action close-door :parameters (?from - room ?to - room ?dir - dir ?back - dir)
 :precondition (and (at ?from) (open ?from ?to ?dir) (back ?dir ?back))
 :effect (and (not (open ?from ?to ?dir)) (closed ?from ?to ?dir)
   (not (open ?to ?from ?back)) (closed ?to ?from ?back)))
(:action go :parameters (?from - room ?to - room ?dir - dir)
 :precondition (and (at ?from) (open ?from ?to ?dir))
 :effect (and (not (at ?from)) (at ?to)))
(:action lift-lid :parameters (?c - chest ?r - room)
 :precondition (and (at ?r) (stands ?c ?r)) :effect (ajar ?c))
(:action take :parameters (?t - thing ?c - chest ?r - room)
 :precondition (and (at ?r) (stands ?c ?r) (ajar ?c) (inside ?t ?c))
 :effect (and (not (inside ?t ?c)) (held ?t))))
"""
# A ring of four rooms: a room is reached from two sides.
PROBLEM = """(define (problem p) (:domain doors)
(:objects kitchen hall pantry study - room coin - thing box1 box2 - chest)
(:init (at kitchen) (back north south) (back south north) (back east west)
 (back west east)
 (closed kitchen hall east) (closed hall kitchen west)
 (closed kitchen study north) (closed study kitchen south)
 (closed hall pantry north) (closed pantry hall south)
 (closed study pantry east) (closed pantry study west)
 (stands box1 study) (stands box2 pantry) (inside coin box2))
(:goal (held coin)))
"""
WORLD = """here: (at ?r)
say:
  closed: a closed door leads {dir} to {to}
  open: an open door leads {dir} to {to}
aim: {held: "you hold {t}"}
do:
  open-door: open door to {dir}
  close-door: close door to {dir}
  go: go {dir}
see:
  inside: (and (stands ?c ?here) (ajar ?c))
  back: always
hide: {closed: {to: "behind_{from}_{dir}"}}
"""


@pytest.fixture
def doors(tmp_path: Path) -> World:
    folder = tmp_path / "doors"
    folder.mkdir()
    for name, text in (
        ("domain.pddl", DOMAIN),
        ("p1.pddl", PROBLEM),
        ("world.yaml", WORLD),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return read_world(folder)


def begun(world: World) -> tuple[Play, Belief]:
    text = world.problems()[0].read_text(encoding="utf-8")
    play = Play(world, world.task(text), goal_of(text))
    belief = Belief(world, marks_of(world))
    belief.begin(play.opening())
    return play, belief


def test_no_text_names_the_room_behind_a_closed_door(doors: World) -> None:
    play, _ = begun(doors)
    opening = play.opening()
    assert "A closed door leads the east to the behind kitchen east." in opening
    for room in ("hall", "study", "pantry"):
        assert room not in opening
    assert not any("kitchen" in command for command in play.offered())
    refused = {play.carry_out(f"go to {name}") for name in ("the hall", "the moon")}
    assert len({text.replace("hall", "moon") for text in refused}) == 1


def test_a_placeholder_that_stands_for_two_rooms_is_refused(doors: World) -> None:
    hide = {"closed": {"to": "behind_{from}"}}
    world = replace(doors, file=doors.file.model_copy(update={"hide": hide}))
    with pytest.raises(
        ConfigError, match="behind_hall would stand for kitchen and for pantry"
    ):
        begun(world)


def test_a_room_that_is_seen_gets_its_name_everywhere(doors: World) -> None:
    play, belief = begun(doors)
    assert ("closed", "kitchen", "behind_kitchen_east", "east") in belief.facts
    belief.follow("open door to the east", play.carry_out("open door to the east"))
    assert ("open", "kitchen", "hall", "east") in belief.facts
    assert ("open", "hall", "kitchen", "west") in belief.facts
    assert "behind_kitchen_east" not in belief.problem("(and)")
    assert "behind_kitchen_east" in belief.names
    belief.follow("close door to the east", play.carry_out("close door to the east"))
    told = play.carry_out("look around")
    assert "leads the east to the behind kitchen east" in told
    belief.follow("look around", told)
    assert ("closed", "kitchen", "hall", "east") in belief.facts
    assert "behind_kitchen_east" not in belief.problem("(and)")


def test_a_command_may_name_what_has_no_name_yet(doors: World) -> None:
    """By the default phrases, going names the room. A plan through a closed door can
    only name its placeholder, which tells nothing of the room.
    """
    world = replace(doors, file=doors.file.model_copy(update={"do": {}}))
    play, _ = begun(world)
    through = "go the behind kitchen east, the east"
    refused = play.carry_out(through)
    assert refused.startswith("You cannot ") and "hall" not in refused
    assert play.carry_out("open-door the east, the west").startswith("You open-door")
    assert play.carry_out(through).startswith(f"You {through}. You are in the hall. ")
    answers = [
        play.carry_out(f"go the {name}, the west")
        for name in ("behind pantry west", "moon")
    ]
    assert answers[0].replace("behind pantry west", "moon") == answers[1]


def real(belief: Belief) -> set[tuple[str, ...]]:
    """The believed facts without placeholders."""
    return {fact for fact in belief.facts if "behind_" not in " ".join(fact)}


@pytest.mark.parametrize("seed", range(6))
def test_a_player_who_closes_doors_again_believes_what_is_true(
    doors: World, seed: int
) -> None:
    """On a random walk, no room that has been seen has a second name."""
    play, belief = begun(doors)
    chance = random.Random(seed)
    for _ in range(40):
        command = chance.choice(play.offered()[1:])
        belief.follow(command, play.carry_out(command))
        assert real(belief) <= play.state.true
        in_sight = {fact for fact in play.seen if fact[0] != "closed"}
        assert in_sight <= belief.facts
        for fact in belief.facts:
            if fact[0] == "closed" and fact[2].startswith("behind_"):
                (true,) = [
                    other
                    for other in play.state.true
                    if other[:2] == fact[:2] and other[3] == fact[3]
                ]
                opposite = {"north": "south", "east": "west"}
                opposite |= {back: way for way, back in opposite.items()}
                other_side = ("closed", true[2], true[1], opposite[true[3]])
                assert other_side not in belief.facts


def test_what_is_in_a_chest_is_seen_when_it_is_open(doors: World) -> None:
    play, _ = begun(doors)
    for command in ("open door to north", "go north", "open door to east", "go east"):
        told = play.carry_out(command)
    assert "Box 2" in told and "coin" not in told
    assert "inside" in play.carry_out("lift-lid box 2")
    (mark,) = [m for m in marks_of(doors) if m.predicate == "seen-inside"]
    assert mark.goal == (
        "(exists (?x1 - chest) (and (exists (?here - room) (and (at ?here) (and (stands"
        " ?x1 ?here) (ajar ?x1)))) (not (seen-inside ?x1))))"
    )


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit"])
@pytest.mark.parametrize("renamed", ["true", "false"])
def test_the_reference_wins_it_with_and_without_names_that_mean_something(
    doors: World, method: str, renamed: str, tmp_path: Path
) -> None:
    words = (
        *(f"environment.folder={doors.folder}", f"method={method}"),
        f"environment.renamed={renamed}",
    )
    cell = cell_that_the_reference_wins(tmp_path / "out", *words)
    transcripts = "".join(
        path.read_text(encoding="utf-8") for path in cell.rglob("*.jsonl")
    )
    assert ("pantry" in transcripts) == (renamed == "false")


CRATES = """(define (domain crates)
(:requirements :adl)
(:types room crate item)
(:predicates (at ?r - room) (way ?from ?to - room) (stands ?c - crate ?r - room)
  (ajar ?c - crate) (lies ?i - item ?r - room) (within ?i - item ?c - crate)
  (held ?i - item) (fragile ?i - item))
(:action go :parameters (?from ?to - room)
 :precondition (and (at ?from) (way ?from ?to))
 :effect (and (not (at ?from)) (at ?to)))
(:action lift-lid :parameters (?c - crate ?r - room)
 :precondition (and (at ?r) (stands ?c ?r)) :effect (ajar ?c))
(:action fetch :parameters (?i - item ?c - crate ?r - room)
 :precondition (and (at ?r) (stands ?c ?r) (ajar ?c) (within ?i ?c))
 :effect (and (not (within ?i ?c)) (held ?i)))
(:action pick-up :parameters (?i - item ?r - room)
 :precondition (and (at ?r) (lies ?i ?r))
 :effect (and (not (lies ?i ?r)) (held ?i)))
(:action drop :parameters (?i - item ?r - room)
 :precondition (and (at ?r) (held ?i)) :effect (and (lies ?i ?r) (not (held ?i)))))
"""
IN_A_CRATE = """(define (problem p) (:domain crates)
(:objects hall - room box1 - crate vase - item)
(:init (at hall) (stands box1 hall) (within vase box1) (fragile vase))
(:goal (held vase)))
"""


@pytest.mark.parametrize("is_fragile", [True, False])
def test_a_thing_within_another_one_has_a_mark_only_if_its_own_facts_are_told(
    is_fragile: bool, tmp_path: Path
) -> None:
    """What is said of a thing alone is seen where the thing is, and within an open
    crate it is at no place. If nothing is said of it alone, no mark asks to take it
    out.
    """
    domain = CRATES if is_fragile else CRATES.replace("(fragile ?i - item)", "")
    problem = IN_A_CRATE if is_fragile else IN_A_CRATE.replace("(fragile vase)", "")
    for name, text in (
        ("domain.pddl", domain),
        ("p1.pddl", problem),
        (
            "world.yaml",
            "here: (at ?r)\nlocated: [lies, stands]\n"
            "see:\n  within: (and (stands ?c ?here) (ajar ?c))",
        ),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    world = read_world(tmp_path)
    play, belief = begun(world)
    for command in ("lift-lid box 1", "fetch the vase, box 1"):
        belief.follow(command, play.carry_out(command))
    assert ("held", "vase") in belief.facts
    assert ("fragile", "vase") not in belief.facts
    assert ("seen-item", "vase") not in belief.marked
    told = play.carry_out("drop the vase")
    belief.follow("drop the vase", told)
    assert ("The vase is fragile." in told) == is_fragile
    assert (("seen-item", "vase") in belief.marked) == is_fragile
    assert {"seen-crate", "seen-within"} <= {mark.predicate for mark in belief.marks}

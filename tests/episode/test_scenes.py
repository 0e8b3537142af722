"""The grammar knows what the prompt shows, no more and no less: whole games by every
method whose answers hold names, and the observations of an attempt that was discarded.
About 30 seconds.
"""

import contextlib
import json
import re

import pytest

from pddlego_local.core.nouns import Completion, Names
from pddlego_local.core.record.events import Restart
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.alfworld.reference import CLASSES
from pddlego_local.environments.coin import reference as coin
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.decoding.on_rung import constraint_for
from tests.methods.playing import Listener, of, play

GROUNDED = Decoding(rung="grounded")
COMPACT = "pddlego_plus method.variant=compact"
PDDL_METHODS = ("pddlego_plus", COMPACT, "pddlego", "pddl_gen", "pddl_edit")
COMMAND_METHODS = ("plangen", "fcrf")
ROOMS = (
    "kitchen|corridor|pantry|bathroom|bedroom|living room|laundry"
    " room|backyard|driveway|street|supermarket"
)
FOOD = "red potato|yellow apple|red onion|carrot|flour|pork chop|knife|turnip"
THINGS = {
    "coin": ROOMS,
    "cooking_easy": f"{ROOMS}|{FOOD}",
    "alfworld": rf"(?:{'|'.join(CLASSES)}) ?\d+",
}


def questions(
    planner: FastDownward, environment: str, method: str, seed: int = 1
) -> list[AnyQuestion]:
    """All that is asked in one game; `method` may be followed by its options."""
    config = compose_cell([f"environment={environment}", *f"method={method}".split()])
    model = Listener()
    with contextlib.closing(config.build("environment")) as game:
        play(config.build("method"), game, model, planner, game=seed, decoding=GROUNDED)
    return model.asked


@pytest.mark.parametrize("method", ["pddl_edit", "pddl_gen"])
def test_a_room_with_the_name_of_a_demonstrations_room_has_its_own_doors(
    planner: FastDownward, method: str
) -> None:
    """In the demonstrations the kitchen has a corridor to the east, in this game a
    closed door.
    """
    first = questions(planner, "coin", method, seed=0)[0]
    assert "To the East you see a closed" in first.messages[-1].content
    assert {"behind_kitchen_north", "behind_kitchen_east"} <= {
        *first.context.names.objects
    }


def named(question: AnyQuestion, environment: str) -> set[str]:
    """The names that the messages show, rules and notes aside, in letters and digits
    alone.
    """
    text = "\n".join(
        line
        for message in question.messages
        for line in message.content.splitlines()
        if not line.startswith(("- ", "Note:", "Names have numbers"))
    )
    things = re.findall(
        rf"(?<![?\w])(?:{THINGS[environment]})\b", text.replace("_", " ")
    )
    return {bare(thing) for thing in things}


def bare(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def writable(names: Names, form: str) -> set[str]:
    return {
        bare(name)
        for name in (
            names.objects if form in ("pddl", "problem", "edit") else names.things
        )
    }


@pytest.mark.parametrize("method", ["pddl_gen", "pddl_edit"])
def test_what_the_demonstration_declares_can_be_written(
    planner: FastDownward, method: str
) -> None:
    declared = {
        "kitchen",
        "corridor",
        "behind_kitchen_south",
        "north",
        "south",
        "east",
        "west",
    }
    for question in questions(planner, "coin", method):
        assert declared <= set(question.context.names.objects)


@pytest.mark.parametrize("environment", THINGS)
@pytest.mark.parametrize("method", [*PDDL_METHODS, *COMMAND_METHODS])
def test_every_name_that_the_prompt_shows_can_be_written_and_no_other(
    planner: FastDownward, environment: str, method: str
) -> None:
    asked = [
        q
        for q in questions(planner, environment, method)
        if q.form.name not in ("text", "seen")
    ]
    assert asked
    for question in asked:
        allowed = writable(question.context.names, question.form.name)
        assert named(question, environment) <= allowed
        shown = bare("".join(message.content for message in question.messages))
        unseen = {name for name in allowed if name not in shown}
        assert all(name.startswith("behind") for name in unseen), unseen


FAR = """\
(define (problem explore)
  (:domain exploration)
  (:objects kitchen yonder nowhere - location south up - direction)
  (:init (at kitchen) (closed-door kitchen yonder south) (connected yonder nowhere up))
  (:goal (at nowhere)))
"""
NEXT = """\
(define (problem explore)
  (:domain exploration)
  (:objects kitchen ROOM - location south - direction)
  (:init (at kitchen) (closed-door kitchen ROOM south))
  (:goal (at ROOM)))
"""


def test_what_a_discarded_attempt_saw_can_be_written(planner: FastDownward) -> None:
    """The plan opens a door, goes through it, and is refused: the next prompt names
    that room.
    """
    cut = Completion("", "length", 1, 1, 0.0)
    model = Scripted([json.dumps({"df": coin.DOMAIN, "pf": FAR}), cut])
    _, events = play(PddlegoPlus(rounds=0), Coin(), model, planner, decoding=GROUNDED)
    assert of(events, Restart)
    question = model.asked[-1]
    (room,) = re.findall(r"revealing the ([a-z]+)\.", question.messages[0].content)
    assert not any(room in turn.text for turn in question.context.memory)
    script = constraint_for("grounded", PDDL, question.context)
    assert script.in_stages
    for name, departs in ((room, False), ("observatory", True)):
        answer = json.dumps({"df": coin.DOMAIN, "pf": NEXT.replace("ROOM", name)})
        assert bool(place_of_departure(script, answer)) is departs

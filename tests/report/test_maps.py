"""What a page says of a game's map: what the game had told, what PDDL says, what turned out."""

from pathlib import Path

from pddlego_local.core.nouns import Turn
from pddlego_local.core.record.events import ActionTaken, Event, Plan, Restart, Start
from pddlego_local.core.record.folder import transcripts
from pddlego_local.environments.alfworld.known import known as receptacles
from pddlego_local.environments.coin.known import known as ways
from pddlego_local.environments.maps import Known
from pddlego_local.report.pages.episode import entries, map_lines, turns_of

KITCHEN = (
    "You are in the kitchen. To the South you see the corridor. To the East you see a closed wood "
    "door."
)
CORRIDOR = "You are in the corridor. To the North you see the kitchen."


def took(command: str, observation: str, feedback: str = "") -> ActionTaken:
    return ActionTaken(
        planned=None, command=command, observation=observation, feedback=feedback, success=False
    )


def told(*events: Event) -> list[Turn]:
    return turns_of(events)


START = Start(game=1, task_type="", observation=KITCHEN, success=False)


def test_what_a_problem_says_of_a_house_is_compared_with_what_was_told() -> None:
    problem = "(define (problem p) (:domain d) (:objects) (:init (at kitchen) (way kitchen attic \
south) (way corridor kitchen north) (way cellar kitchen up) (not (way kitchen pantry west))))"
    now, later = told(START), told(START, took("move south", CORRIDOR))
    lines = map_lines(ways, now, problem, ways(later, ""))
    assert [(line.known.what, line.verdict, line.later) for line in lines] == [
        ("kitchen → south", "otherwise", "corridor"),
        ("kitchen → east", "left out", "behind_kitchen_east, door closed"),
        ("corridor → north", "not told", "kitchen"),
    ]
    assert map_lines(None, now, problem, []) == []


def test_a_perfect_players_problem_says_what_was_told(played: Path) -> None:
    seen = 0
    for path, events in transcripts(played):
        for entry in entries(events, ways) if "reference" in str(path) else ():
            if isinstance(entry.event, Plan):
                seen += 1
                assert {line.verdict for line in entry.map} == {"as told"}
    assert seen > 2


def test_a_reset_tells_the_first_turn_again_and_what_is_replayed() -> None:
    refused, moved = took("move west", "No way.", "refused"), took("move south", CORRIDOR)
    turns = told(
        START, refused, moved, took("move north", KITCHEN), Restart(replayed=("move south",))
    )
    assert [turn.command for turn in turns[-2:]] == ["look around", "move south"]
    assert turns[-1].text == CORRIDOR and len(turns) == 6


def test_receptacles_tell_what_was_seen_in_them_before_a_reset_too() -> None:
    room = (
        "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer "
        "1, and a bed 1.\nYour task is to: look at pen."
    )
    desk = took(
        "go to desk 1", "You arrive at desk 1. On the desk 1, you see a mug 1, and a pen 1."
    )
    drawer = took("go to drawer 1", "You arrive at drawer 1. The drawer 1 is closed.")
    start = Start(game=1, task_type="", observation=room, success=False)
    turns = told(start, desk, Restart(replayed=()), drawer)
    problem = (
        "(define (problem p) (:domain d) (:init (in mug1 desk1) (closed drawer1)) (:goal (a)))"
    )
    assert receptacles(turns, problem) == [
        Known("desk 1", "mug 1, pen 1", "(in mug1 desk1)"),
        Known("drawer 1", "closed", "(closed drawer1)"),
        Known("bed 1", "not looked into", ""),
    ]

"""How long one solve takes: by our planner, and by Fast Downward's own driver."""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pddlego_local.planner import FastDownward
from pddlego_local.planner.warm import find_fast_downward

SEARCH = "astar(lmcut())"

COIN_DOMAIN = """(define (domain coin)
  (:requirements :strips :typing)
  (:types room direction)
  (:predicates (at ?r - room) (connected ?a ?b - room ?d - direction)
    (closed ?a ?b - room ?d - direction))
  (:action move :parameters (?a ?b - room ?d - direction)
    :precondition (and (at ?a) (connected ?a ?b ?d)) :effect (and (not (at ?a)) (at ?b)))
  (:action open :parameters (?a ?b - room ?d - direction)
    :precondition (and (at ?a) (closed ?a ?b ?d))
    :effect (and (not (closed ?a ?b ?d)) (connected ?a ?b ?d))))
"""

HOUSE_DOMAIN = """(define (domain house)
  (:requirements :strips :typing :negative-preconditions)
  (:types receptacle object - thing cooler heater basin - receptacle)
  (:predicates (at ?r - receptacle) (in ?o - object ?r - receptacle) (held ?o - object) (free)
    (openable ?r - receptacle) (opened ?r - receptacle)
    (is-hot ?o - object) (is-cool ?o - object) (is-clean ?o - object))
  (:action go :parameters (?a ?b - receptacle)
    :precondition (at ?a) :effect (and (not (at ?a)) (at ?b)))
  (:action open :parameters (?r - receptacle)
    :precondition (and (at ?r) (openable ?r) (not (opened ?r))) :effect (opened ?r))
  (:action close :parameters (?r - receptacle)
    :precondition (and (at ?r) (openable ?r) (opened ?r)) :effect (not (opened ?r)))
  (:action take :parameters (?o - object ?r - receptacle)
    :precondition (and (at ?r) (in ?o ?r) (opened ?r) (free))
    :effect (and (not (in ?o ?r)) (held ?o) (not (free))))
  (:action move :parameters (?o - object ?r - receptacle)
    :precondition (and (at ?r) (held ?o) (opened ?r))
    :effect (and (in ?o ?r) (not (held ?o)) (free)))
  (:action heat :parameters (?o - object ?r - heater)
    :precondition (and (at ?r) (held ?o)) :effect (and (is-hot ?o) (not (is-cool ?o))))
  (:action cool :parameters (?o - object ?r - cooler)
    :precondition (and (at ?r) (held ?o)) :effect (and (is-cool ?o) (not (is-hot ?o))))
  (:action clean :parameters (?o - object ?r - basin)
    :precondition (and (at ?r) (held ?o)) :effect (is-clean ?o)))
"""


def coin_task(rooms: int, seed: int = 0) -> tuple[str, str]:
    """(domain, problem): a random tree of rooms with closed doors; reach the last room."""
    rng = random.Random(seed)
    facts = ["(at room0)"]
    for room in range(1, rooms):
        other = rng.randrange(max(0, room - 2), room)
        there, back = rng.choice(
            [("north", "south"), ("south", "north"), ("east", "west"), ("west", "east")]
        )
        door = rng.choice(["closed", "connected"])
        facts += [
            f"({door} room{other} room{room} {there})",
            f"({door} room{room} room{other} {back})",
        ]
    names = " ".join(f"room{room}" for room in range(rooms))
    return COIN_DOMAIN, (
        f"(define (problem coin{rooms}) (:domain coin)\n"
        f"  (:objects {names} - room north south east west - direction)\n"
        f"  (:init {' '.join(facts)})\n  (:goal (at room{rooms - 1})))\n"
    )


def house_task(receptacles: int, objects: int, seed: int = 0) -> tuple[str, str]:
    """(domain, problem) in the manner of ALFWorld: heat one object and put it somewhere else."""
    rng = random.Random(seed)
    places = [f"place{number}" for number in range(receptacles - 3)]
    everywhere = [*places, "fridge", "microwave", "sink"]
    facts = ["(at place0)", "(free)"]
    facts += [f"({rng.choice(['openable', 'opened'])} {place})" for place in everywhere]
    facts += [f"(in object{number} {rng.choice(places[2:])})" for number in range(objects)]
    names = " ".join(f"object{number}" for number in range(objects))
    return HOUSE_DOMAIN, (
        f"(define (problem house) (:domain house)\n"
        f"  (:objects {' '.join(places)} - receptacle fridge - cooler microwave - heater\n"
        f"    sink - basin {names} - object)\n"
        f"  (:init {' '.join(facts)})\n  (:goal (and (is-hot object0) (in object0 place1))))\n"
    )


TASKS = {
    "coin, 6 rooms": coin_task(6),
    "coin, 11 rooms": coin_task(11),
    "house, 30 receptacles, 20 objects": house_task(30, 20),
}


def solve_bench(repeats: int) -> Iterator[dict[str, object]]:
    """One row per task: median wall milliseconds of each way. The ways take turns within each
    repeat, so that a busy moment of the machine meets both alike."""
    with FastDownward(search=SEARCH) as planner:
        for name, task in TASKS.items():
            ways: dict[str, Callable[[], None]] = {
                "ours, ms": partial(_ours, planner, *task),
                "driver, ms": partial(_driver, *task),
            }
            turns = [[_taken_ms(solve) for solve in ways.values()] for _ in range(repeats + 1)]
            times = zip(*turns[1:], strict=True)  # the first turn loads things
            medians = [round(statistics.median(of_way), 1) for of_way in times]
            yield {"task": name, **dict(zip(ways, medians, strict=True))}


def _ours(planner: FastDownward, domain: str, problem: str) -> None:
    assert planner.plan(domain, problem).outcome == "solved"


def _driver(domain: str, problem: str) -> None:
    script = str(find_fast_downward().search.parents[3] / "fast-downward.py")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "domain.pddl").write_text(domain)
        Path(folder, "problem.pddl").write_text(problem)
        command = [sys.executable, script, "domain.pddl", "problem.pddl", "--search", SEARCH]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _taken_ms(solve: Callable[[], None]) -> float:
    began = time.perf_counter()
    solve()
    return 1e3 * (time.perf_counter() - began)

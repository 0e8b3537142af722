"""Measures how long one solve takes with this project's planner and with Fast
Downward's driver.
"""

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

COIN_DOMAIN = Path(__file__).with_name("coin.pddl").read_text(encoding="utf-8")
HOUSE_DOMAIN = Path(__file__).with_name("house.pddl").read_text(encoding="utf-8")


def coin_task(rooms: int, seed: int = 0) -> tuple[str, str]:
    """Returns (domain, problem): a random tree of rooms, some doors closed; the goal is
    a room.
    """
    rng = random.Random(seed)
    facts = ["(at room0)"]
    for room in range(1, rooms):
        other = rng.randrange(max(0, room - 2), room)
        there, back = rng.choice(
            [("north", "south"), ("south", "north"), ("east", "west"), ("west", "east")]
        )
        door = rng.choice(["closed", "connected"])
        facts.append(f"({door} room{other} room{room} {there})")
        facts.append(f"({door} room{room} room{other} {back})")
    names = " ".join(f"room{room}" for room in range(rooms))
    problem = (
        f"(define (problem coin{rooms}) (:domain coin)\n"
        f"  (:objects {names} - room north south east west - direction)\n"
        f"  (:init {' '.join(facts)})\n"
        f"  (:goal (at room{rooms - 1})))\n"
    )
    return COIN_DOMAIN, problem


def house_task(receptacles: int, objects: int, seed: int = 0) -> tuple[str, str]:
    """Returns (domain, problem) as in ALFWorld: heat one object and put it somewhere
    else.
    """
    rng = random.Random(seed)
    places = [f"place{number}" for number in range(receptacles - 3)]
    everywhere = [*places, "fridge", "microwave", "sink"]
    things = [f"object{number}" for number in range(objects)]
    facts = ["(at place0)", "(free)"]
    for place in everywhere:
        facts.append(f"({rng.choice(['openable', 'opened'])} {place})")
    for thing in things:
        facts.append(f"(in {thing} {rng.choice(places[2:])})")
    problem = (
        "(define (problem house) (:domain house)\n"
        f"  (:objects {' '.join(places)} - receptacle\n"
        "    fridge - cooler microwave - heater sink - basin\n"
        f"    {' '.join(things)} - object)\n"
        f"  (:init {' '.join(facts)})\n"
        "  (:goal (and (is-hot object0) (in object0 place1))))\n"
    )
    return HOUSE_DOMAIN, problem


TASKS = {
    "coin, 6 rooms": coin_task(6),
    "coin, 11 rooms": coin_task(11),
    "house, 30 receptacles, 20 objects": house_task(30, 20),
}


def solve_bench(repeats: int) -> Iterator[dict[str, object]]:
    """Yields one row per task with the median wall milliseconds of each planner. The
    planners take turns within each repeat, so that a busy moment of the machine affects
    both alike.
    """
    with FastDownward(search=SEARCH) as planner:
        for name, task in TASKS.items():
            ours_ms, driver_ms = list[float](), list[float]()
            for _ in range(repeats + 1):
                ours_ms.append(_taken_ms(partial(_ours, planner, *task)))
                driver_ms.append(_taken_ms(partial(_driver, *task)))
            yield {  # the first solves are a warm-up
                "task": name,
                "ours, ms": round(statistics.median(ours_ms[1:]), 1),
                "driver, ms": round(statistics.median(driver_ms[1:]), 1),
            }


def _ours(planner: FastDownward, domain: str, problem: str) -> None:
    assert planner.plan(domain, problem).outcome == "solved"


def _driver(domain: str, problem: str) -> None:
    script = str(find_fast_downward().search.parents[3] / "fast-downward.py")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "domain.pddl").write_text(domain, encoding="utf-8")
        Path(folder, "problem.pddl").write_text(problem, encoding="utf-8")
        command = [sys.executable, script, "domain.pddl", "problem.pddl"]
        command += ["--search", SEARCH]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _taken_ms(solve: Callable[[], None]) -> float:
    began = time.perf_counter()
    solve()
    return 1e3 * (time.perf_counter() - began)

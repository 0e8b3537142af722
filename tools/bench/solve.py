"""How long one solve takes: ours, the driver, unified-planning and the bare search, side by side.

Run it as a script for a table, or call `solve_bench`; no test measures time.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from pddlego_local.planner import LAMA_FIRST, FastDownward
from pddlego_local.planner.warm import find_fast_downward

SEARCH = "astar(lmcut())"
Way = Callable[[str, str], AbstractContextManager[Callable[[], None]]]

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


TASKS: dict[str, tuple[str, str]] = {
    "coin, 6 rooms": coin_task(6),
    "coin, 11 rooms": coin_task(11),
    "house, 30 receptacles, 20 objects": house_task(30, 20),
}


@contextmanager
def ours(domain: str, problem: str) -> Iterator[Callable[[], None]]:
    with FastDownward(search=SEARCH, fallback=LAMA_FIRST) as planner:

        def solve() -> None:
            result = planner.plan(domain, problem)
            if result.outcome != "solved":
                raise RuntimeError(f"the benchmark's own task is not solved: {result}")

        yield solve


@contextmanager
def driver(domain: str, problem: str) -> Iterator[Callable[[], None]]:
    script = str(find_fast_downward().search.parents[3] / "fast-downward.py")

    def solve() -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "domain.pddl").write_text(domain)
            Path(folder, "problem.pddl").write_text(problem)
            command = [sys.executable, script, "domain.pddl", "problem.pddl", "--search", SEARCH]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    yield solve


@contextmanager
def unified_planning(domain: str, problem: str) -> Iterator[Callable[[], None]]:
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import get_environment
    from up_fast_downward import FastDownwardPDDLPlanner

    get_environment().credits_stream = None

    def solve() -> None:
        task = PDDLReader().parse_problem_string(domain, problem)
        engine = FastDownwardPDDLPlanner(fast_downward_search_config=SEARCH)
        if engine.solve(task).plan is None:
            raise RuntimeError("unified-planning found no plan for the benchmark's own task")

    yield solve


@contextmanager
def bare_search(domain: str, problem: str) -> Iterator[Callable[[], None]]:
    """The floor: the search binary on SAS text that is ready."""
    fast_downward = find_fast_downward()
    script = str(fast_downward.search.parents[3] / "fast-downward.py")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "domain.pddl").write_text(domain)
        Path(folder, "problem.pddl").write_text(problem)
        translate = [sys.executable, script, "--translate", "domain.pddl", "problem.pddl"]
        subprocess.run(translate, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        sas = Path(folder, "output.sas").read_bytes()
    command = [str(fast_downward.search), "--search", SEARCH, "--internal-plan-file", "/dev/stderr"]

    def solve() -> None:
        subprocess.run(command, input=sas, check=True, capture_output=True)

    yield solve


def solve_bench(repeats: int) -> list[dict[str, object]]:
    """One row per task: median wall milliseconds of each way, None where it is not installed.

    The ways take turns within each repeat, so that a busy moment of the machine meets all alike.
    """
    ways: dict[str, Way] = {"ours": ours, "driver": driver, "bare_search": bare_search}
    if find_spec("unified_planning"):
        ways["unified_planning"] = unified_planning
    return [_row(name, task, ways, repeats) for name, task in TASKS.items()]


def _row(name: str, task: tuple[str, str], ways: dict[str, Way], repeats: int) -> dict[str, object]:
    times_ms: dict[str, list[float]] = {way: [] for way in ways}
    with ExitStack() as open_ways:
        solvers = {way: open_ways.enter_context(made(*task)) for way, made in ways.items()}
        for solve in solvers.values():
            solve()  # the first one loads and starts things
        for _ in range(repeats):
            for way, solve in solvers.items():
                started = time.perf_counter()
                solve()
                times_ms[way].append(1000 * (time.perf_counter() - started))
    median_ms = {way: round(statistics.median(times), 1) for way, times in times_ms.items()}
    return {
        "task": name,
        "repeats": repeats,
        "ours_ms": median_ms["ours"],
        "driver_ms": median_ms["driver"],
        "unified_planning_ms": median_ms.get("unified_planning"),
        "bare_search_ms": median_ms["bare_search"],
        "ours_over_bare_search": round(median_ms["ours"] / median_ms["bare_search"], 2),
        "driver_over_ours": round(median_ms["driver"] / median_ms["ours"], 2),
    }


if __name__ == "__main__":
    for row in solve_bench(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(*(f"{key}={value}" for key, value in row.items()), sep="  ")

"""Small PDDL texts for the planner's tests, and what is running of the planner's."""

import time

import psutil

DOMAIN = """(define (domain House)
  (:requirements :strips :typing)
  (:types room direction)
  (:predicates (at ?r - room) (connected ?a ?b - room ?d - direction))
  (:action Move :parameters (?a ?b - room ?d - direction)
    :precondition (and (at ?a) (connected ?a ?b ?d))
    :effect (and (not (at ?a)) (at ?b))))
"""

CORRIDOR = "(connected kitchen hall north) (connected hall pantry west)"


def problem(goal: str = "(at pantry)", init: str = f"(at kitchen) {CORRIDOR}") -> str:
    return (
        "(define (problem p) (:domain house)\n"
        " (:objects kitchen hall pantry - room north west - direction)\n"
        f" (:init {init}) (:goal {goal}))\n"
    )


def grid(size: int, target: int) -> str:
    """`size` rooms in a ring with a chord each; the goal is room `target`."""
    rooms = [f"r{number}of{size}" for number in range(size)]
    links = [
        f"(connected {rooms[i]} {rooms[(i + step) % size]} d)"
        for i in range(size)
        for step in (1, 5)
    ]
    return (
        "(define (problem ring) (:domain house)\n"
        f" (:objects {' '.join(rooms)} - room d - direction)\n"
        f" (:init (at {rooms[0]}) {' '.join(links)}) (:goal (at {rooms[target]})))\n"
    )


def hard_search(tiles: int = 15) -> tuple[str, str]:
    """(domain, problem): a permutation task whose optimal search takes far longer than
    any test.
    """
    domain = """(define (domain sort) (:requirements :strips)
      (:predicates (on ?t ?p) (next ?p ?q))
      (:action swap :parameters (?t ?u ?p ?q)
        :precondition (and (on ?t ?p) (on ?u ?q) (next ?p ?q))
        :effect (and (not (on ?t ?p)) (not (on ?u ?q)) (on ?t ?q) (on ?u ?p))))"""
    names = [f"t{i} p{i}" for i in range(tiles)]
    start = [f"(on t{i} p{i})" for i in range(tiles)]
    line = [f"(next p{i} p{i + 1})" for i in range(tiles - 1)]
    goal = [f"(on t{i} p{tiles - 1 - i})" for i in range(tiles)]
    return (
        domain,
        (
            f"(define (problem s) (:domain sort) (:objects {' '.join(names)})\n"
            f" (:init {' '.join(start + line)}) (:goal (and {' '.join(goal)})))"
        ),
    )


def heavy_translation(objects: int = 40) -> tuple[str, str]:
    """(domain, problem): this many objects to the fifth power of ground actions."""
    variables = "?a ?b ?c ?d ?e"
    domain = f"""(define (domain wide) (:requirements :strips) (:predicates
  (p {variables}) (g))
      (:action a :parameters ({variables}) :precondition () :effect (and
      (p {variables}) (g))))"""
    names = " ".join(f"o{i}" for i in range(objects))
    return (
        domain,
        f"(define (problem w) (:domain wide) (:objects {names}) (:init) (:goal (g)))",
    )


def workers(of: psutil.Process | None = None) -> list[psutil.Process]:
    """The warm processes that this (or that) process has started."""
    children = (of or psutil.Process()).children()
    return [
        child for child in children if any("worker" in part for part in _command(child))
    ]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def all_gone(processes: list[psutil.Process], within_s: float = 600) -> bool:
    """Whether they end; a zombie that nobody has waited for counts as ended."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(map(_runs, processes)):
            return True
        time.sleep(0.02)
    return False


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False

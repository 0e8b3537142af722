"""Small random tasks of every kind of condition and effect."""

import random
from collections.abc import Sequence

ARITY = {"p": 1, "q": 2, "r": 1, "s": 0}
TYPES = ("t", "u", "object", "v")
OBJECTS = ("a", "b", "c", "d")
DOMAIN = """(define (domain d)
 (:types t v - object u - t)
 (:constants a - t)
 (:predicates (p ?x) (q ?x ?y) (r ?x) (s))
 {actions})"""
ACTION = """(:action act{number} :parameters (?x - {kind} ?y - t)
 :precondition (and {needs})
 :effect (and {gives}))"""
PROBLEM = """(define (problem x)
 (:domain d)
 (:objects b - u c d)
 (:init {facts})
 (:goal (and {goals})))"""


def random_task(draw: random.Random, goal_depth: int = 2) -> tuple[str, str]:
    """Returns a task without derived predicates. No object is a "v". The goal has
    operators where `goal_depth` is below 2.
    """
    actions = "\n".join(_action(draw, number) for number in range(3))
    facts = [_atom(draw, OBJECTS) for _ in range(draw.choice((2, 4, 6)))]
    goals = [_condition(draw, OBJECTS, goal_depth) for _ in range(draw.choice((1, 2)))]
    problem = PROBLEM.format(facts=" ".join(facts), goals=" ".join(goals))
    return DOMAIN.format(actions=actions), problem


def _action(draw: random.Random, number: int) -> str:
    terms = ("?x", "?y", "a")
    needs = [_condition(draw, terms, 0) for _ in range(draw.choice((1, 2, 3)))]
    gives = [_effect(draw, terms) for _ in range(draw.choice((1, 2)))]
    return ACTION.format(
        number=number,
        kind=draw.choice(TYPES),
        needs=" ".join(needs),
        gives=" ".join(gives),
    )


def _atom(draw: random.Random, terms: Sequence[str]) -> str:
    name = draw.choice(list(ARITY))
    words = [name, *(draw.choice(terms) for _ in range(ARITY[name]))]
    return f"({' '.join(words)})"


def _condition(draw: random.Random, terms: Sequence[str], depth: int) -> str:
    form = draw.randrange(10) if depth < 2 else draw.randrange(6)
    if form < 4:
        return _atom(draw, terms)
    if form == 4:
        return f"(not {_atom(draw, terms)})"
    if form == 5:
        return f"(= {draw.choice(terms)} {draw.choice(terms)})"
    if form == 6:
        quantifier = draw.choice(["exists", "forall"])
        part = _condition(draw, [*terms, "?z"], depth + 1)
        return f"({quantifier} (?z - {draw.choice(TYPES)}) {part})"
    parts = " ".join(_condition(draw, terms, depth + 1) for _ in range(2))
    return f"({draw.choice(['and', 'or', 'imply'])} {parts})"


def _effect(draw: random.Random, terms: Sequence[str]) -> str:
    change = draw.choice(["{}", "{}", "(not {})"]).format(_atom(draw, terms))
    form = draw.randrange(6)
    if form == 0:
        return f"(when {_condition(draw, terms, 1)} {change})"
    if form == 1:
        inner = draw.choice(["{}", "(not {})"]).format(_atom(draw, [*terms, "?x"]))
        return f"(forall (?x - {draw.choice(TYPES)}) {inner})"
    return change

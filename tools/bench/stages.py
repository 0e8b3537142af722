"""What the stages of "typed" and "grounded" cost the decoder, by the number of objects: the size of
the grammar, compiling it, each token's mask at a large vocabulary, and the first token from a
server that has never seen the grammar.
"""

import itertools
import statistics
from collections.abc import Callable
from functools import partial

from pddlego_local.core.errors import MissingPart
from pddlego_local.core.nouns import Grammar, Message, Names, Sampling
from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import NewNames
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.goals import goal
from pddlego_local.decoding.staged.problem import ProblemStages
from pddlego_local.decoding.staged.reading import domain_of, problem_in
from pddlego_local.decoding.staged.writing import Build, Writing
from pddlego_local.environments.coin.game import TABLES
from pddlego_local.models.vllm.model import VllmModel
from tools.bench.mask import decoder_tokenizer, mask_times

SIZES = (10, 100, 300)
_PROMPT = (Message("user", "Write the PDDL domain and problem of this house."),)
_TURNS = 25


def stage_bench() -> list[dict[str, object]]:
    """One row per stage and number of objects."""
    try:
        tokenizer = decoder_tokenizer()
    except MissingPart as absent:
        return [{"skipped": str(absent)}]
    rows = []
    for size in SIZES:
        for name, (grammar, text) in stages(size).items():
            masks = mask_times(grammar, text, tokenizer)
            rows.append(
                {
                    "objects": size,
                    "stage": name,
                    "tokens": masks.tokens,
                    "grammar characters": masks.grammar_chars,
                    "compile ms": round(masks.compile_ms, 1),
                    "mask us, median": round(masks.median_us),
                    "99th": round(masks.p99_us),
                }
            )
    return rows


def stages(size: int, salt: str = "") -> dict[str, tuple[Grammar, str]]:
    """By stage, its grammar and a text of it in the layout "line", without its head, for a row of
    rooms; `salt` makes it a new grammar."""
    rooms = [f"room{salt}{number}" for number in range(size - 4)]
    ways = ["north", "south", "east", "west"]
    declared = declarations(domain_of(TABLES.domain))
    listed = f"(:objects {' '.join(rooms)} - location {' '.join(ways)} - direction)"
    objects = f" now) (:domain coin_collector) {listed}"
    row = itertools.pairwise(rooms)
    facts = f" (at {rooms[0]}) {' '.join(f'(connected {a} {b} east)' for a, b in row)})"
    end = f' (:goal (at {rooms[-1]})))"}}'
    names = (*rooms, *ways)
    writing = Writing("line", NewNames(names))
    writing.text = f'{{"pf": "(define (problem{objects}'
    problem = ProblemStages(writing, declared, Scene(names=Names(names)))
    things = declared.with_objects(problem_in(writing.text))
    true = {("at", rooms[0]), *(("connected", a, b, "east") for a, b in itertools.pairwise(rooms))}
    built: dict[str, tuple[Build, str]] = {
        "objects": (partial(problem.title_and_objects, opening="_NEXT_PROBLEM"), objects),
        "facts and goal": (problem.facts_and_goal, facts + end),
        "facts": (problem.facts, facts),
        "goal": (lambda rules: goal(rules, things, set()), end),
        "goal again": (lambda rules: goal(rules, things, true), end),
    }
    return {name: (_grammar(name, build), text) for name, (build, text) in built.items()}


def _grammar(name: str, build: Build) -> Grammar:
    rules = Rules("line")
    start = build(rules)
    return rules.grammar(name, start)


def first_token_bench(model: VllmModel, turns: int = _TURNS) -> list[dict[str, object]]:
    """Milliseconds to the first token, alone on the server: free, and under grammars that it has
    not seen; they take turns."""
    for first in (None, _unseen("goal", SIZES[0])(turns)):  # the first of a kind is slow
        model.complete(_PROMPT, first, Sampling(max_tokens=1))
    arms: dict[str, Callable[[int], Grammar | None]] = {"free": lambda _: None}
    for size in SIZES:
        for name in ("facts and goal", "goal"):
            arms[f"{name}, {size} objects"] = _unseen(name, size)
    taken: dict[str, list[float]] = {arm: [] for arm in arms}
    for turn in range(turns):
        for arm, grammar in arms.items():
            asked = Sampling(max_tokens=1, seed=turn)
            taken[arm].append(1e3 * model.complete(_PROMPT, grammar(turn), asked).latency_s)
    free = statistics.median(taken["free"])
    return [
        {
            "grammar": arm,
            "first token ms": round(statistics.median(times), 1),
            "over free": round(statistics.median(times) - free, 1),
        }
        for arm, times in taken.items()
    ]


def _unseen(name: str, size: int) -> Callable[[int], Grammar]:
    return lambda turn: stages(size, salt=f"x{turn}x")[name][0]

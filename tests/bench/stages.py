"""What the stages of "typed" and "grounded" cost the decoder, by the number of objects: the size of
the grammar, compiling it, each token's mask at a large vocabulary, and the first token from a
server that has never seen the grammar.
"""

import itertools
import statistics
from collections.abc import Callable

from pddlego_local.core import Grammar, Message, Sampling
from pddlego_local.decoding.staged import parts
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.goals import Facts, frontier, goal
from pddlego_local.decoding.staged.reading import domain_of, problem_in
from pddlego_local.environments.coin.game import TABLES
from pddlego_local.errors import MissingPart
from pddlego_local.models.vllm.model import VllmModel
from tests.bench.mask import decoder_tokenizer, mask_times

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
    """By stage, its grammar and a text of it, for a row of rooms; `salt` makes it a new grammar."""
    rooms = [f"room{salt}{number}" for number in range(size - 4)]
    ways = ["north", "south", "east", "west"]
    declared = declarations(domain_of(TABLES.domain))
    unvisited = rooms[1:]
    head = '", "pf": "(define (problem now) (:domain coin_collector) (:objects '
    objects = f"{head}{' '.join(rooms)} - location {' '.join(ways)} - direction) (:init"
    row = itertools.pairwise(rooms)
    facts = f" (at {rooms[0]}) {' '.join(f'(connected {a} {b} east)' for a, b in row)})"
    end = f' (:goal (at {rooms[-1]})))"}}'
    begun = problem_in('{"df": "' + objects + ")")
    things = declared.with_objects(begun)
    joined = {(a, b, "east") for a, b in itertools.pairwise(rooms)}
    true: Facts = {"at": {(rooms[0],)}, "connected": joined}
    return {
        "objects": (parts.objects(declared, [*rooms, *ways], parts.NEXT_PROBLEM), objects),
        "facts and goal": (parts.facts_and_goal(things), facts + end),
        "facts": (parts.facts(things), facts),
        "goal": (goal(frontier(things, unvisited), {}), end),
        "goal again": (goal(frontier(things, unvisited), true), end),
    }


def first_token_bench(model: VllmModel) -> list[dict[str, object]]:
    """Milliseconds to the first token, alone on the server: free, and under grammars that it has
    not seen; they take turns."""
    model.complete(_PROMPT, None, Sampling(max_tokens=1))
    arms: dict[str, Callable[[int], Grammar | None]] = {"free": lambda _: None}
    for size in SIZES:
        for name in ("facts and goal", "goal"):
            arms[f"{name}, {size} objects"] = _unseen(name, size)
    taken: dict[str, list[float]] = {arm: [] for arm in arms}
    for turn in range(_TURNS):
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

"""Tests the guarantee of the ladder with many answers: Fast Downward's translator and the static
check judge what random models write under `typed` and `grounded`.

    python -m tools.bench.proof -n 84 --vllm

Random weights know no PDDL, so whatever is right in these answers comes from the rung. The
observations come from real games that a perfect player plays.
"""

import argparse
import contextlib
import itertools
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import get_args

from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Model, Question
from pddlego_local.decoding.rungs import GoalArm
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.models.random import RandomModel, RandomVllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward
from tools.bench.played import ENVIRONMENTS, played

GAMES = range(4)
MAX_TOKENS = 8192
_PROMPT = (Message("user", "Write the PDDL domain and problem of what you see."),)
_QUESTION: AnyQuestion = Question(PDDL, _PROMPT, GrammarContext())


def contexts() -> list[GrammarContext]:
    """Returns the contexts of the rule-based reference's questions in some games of each kind."""
    return [
        asked.question.context
        for environment in ENVIRONMENTS
        for asked in played(environment, GAMES, rung="grounded")
    ]


def judge(
    model: Model,
    rung: str,
    layout: Layout,
    count: int,
    known: list[GrammarContext],
    concurrency: int,
) -> Counter[str]:
    """Counts the outcomes of `count` answers: "cut", "refused", or else the planner's outcome."""
    chosen = random.Random(layout).choices(known, k=count)

    def one(number: int) -> tuple[str, int]:
        goal: GoalArm = "unmet" if rung == "grounded" else "any"
        constraint = constraint_for(rung, PDDL, replace(chosen[number], goal=goal), layout)
        sampling = Sampling(max_tokens=MAX_TOKENS, seed=number)
        drawn = draw(model, _QUESTION, constraint, sampling, {})[0]
        answer = read_constrained(drawn.completion, PDDL)
        tokens = drawn.completion.completion_tokens
        if not answer.value:
            return "cut", tokens
        result = planner.plan(answer.value.df, answer.value.pf)
        accepted = check(answer.value.df, answer.value.pf).accepted
        refused = result.outcome == "translate_error" or not accepted
        return ("refused" if refused else result.outcome), tokens

    with FastDownward() as planner, ThreadPoolExecutor(concurrency) as pool:
        found = list(pool.map(one, range(count)))
    return Counter(outcome for outcome, _ in found) + Counter(tokens=sum(t for _, t in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=40, help="answers per rung, layout and model")
    parser.add_argument("--weights", default="0,1", help="seeds of the random weights")
    parser.add_argument("--rungs", default="typed,grounded")
    parser.add_argument("--vllm", action="store_true", help="use vLLM, not a model in process")
    given = parser.parse_args()
    known = contexts()
    print(f"{len(known)} questions")
    for seed in map(int, given.weights.split(",")):
        with contextlib.closing(_model(seed, given.vllm)) as model:
            for rung, layout in itertools.product(given.rungs.split(","), get_args(Layout)):
                found = judge(model, rung, layout, given.n, known, 32 if given.vllm else 1)
                print(f"{rung}, {layout}, weights {seed}: {dict(found)}", flush=True)


def _model(seed: int, vllm: bool) -> Model:
    if not vllm:
        return RandomModel(seed=seed)
    server = Server(device="cpu", kv_cache_gib=1, variables={"OMP_NUM_THREADS": "1"})
    return RandomVllmModel(seed=seed, dtype="float32", context_tokens=16384, server=server)


if __name__ == "__main__":
    main()

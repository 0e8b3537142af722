"""Tests the promise of the upper rungs with many answers: Fast Downward's translator
and the static check judge what random models write under `typed` and `grounded`.

    python -m tools.bench.proof -n 5000 --out FILE

Random weights know no PDDL, so whatever is right in these answers comes from the rung.
The questions come from real games that a perfect player plays: of every environment,
and of every method that asks for PDDL. So all forms occur: both files, a domain and
then a problem for it, a problem for a given domain, and an edit. Each answer is drawn
under the settings in `conf` in one of the layouts, and it is read as `pddlego run` and
`pddlego sample` read it. In a third of the questions only
a few names are left, so that an answer runs out of names.

FILE gets a line for each answer. The same command goes on where it was interrupted.
"""

import argparse
import functools
import itertools
import json
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.nouns import Message, Names
from pddlego_local.decoding.forms import (
    PROBLEM,
    WITH_PDDL,
    DomainFile,
    Edit,
    Pddl,
    Problem,
)
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Model, Question
from pddlego_local.decoding.rungs import RUNGS, RungName
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.generated import families
from pddlego_local.episode.model_caller import draw_answers
from pddlego_local.models.random import RandomModel, RandomVllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply, objects_of
from pddlego_local.pddl.sections import with_goal
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.config import compose_cell
from tests.episode.drawing import TASTES, RandomLogits
from tools.bench.played import played

GAMES = (
    "coin", "cooking", "cooking_easy", "cooking_hard", "alfworld", "alfworld_unseen",
    "alfworld_real",
)  # fmt: skip
IN_GAMES = ("pddlego_plus", "pddl_gen", "pddl_edit")
IN_WORDS = ("formalizer", "formalizer_problem", "formalizer_two_step")
SEEDS = range(2)
FEW_NAMES = 4
SPREADS = (0.3, 0.3, 3.0)  # with a wide spread, a model repeats itself


CROWDED = """(define (domain crowded) (:requirements :strips :typing)
  (:types t u - object v - u)
  (:constants {constants}) (:predicates (p ?x - {kind}) (q ?x ?y - {kind}))
  (:action a :parameters (?x - {kind}) :effect (p ?x)))"""
CONSTANTS = ("c", "c - u", "c d - v", "c - object d - u")
"""Domains in which few facts are possible, with constants that a problem may declare
again. So an answer often runs out of names.
"""


class Case(NamedTuple):
    """The settings under which an answer is drawn."""

    rung: RungName
    layout: Layout

    @property
    def decoding(self) -> Decoding:
        return _decoding(*self)


TYPED: tuple[RungName, ...] = ("typed", "grounded")
CASES = [
    Case(rung, layout) for rung, layout in itertools.product(TYPED, get_args(Layout))
]


@functools.cache
def _decoding(rung: str, layout: str) -> Decoding:
    words = [f"decoding={rung}", f"decoding.layout={layout}"]
    built: Decoding = compose_cell(words).build("decoding")
    return built


Known = list[list[AnyQuestion]]
"""The questions about PDDL of each environment and method."""


def questions() -> Known:
    """Plays every environment and method, with every world that is described in words.
    What cannot be played is named on standard error.
    """
    found: Known = []
    for environment, method in itertools.product(GAMES, IN_GAMES):
        found.append(_asked(environment, method))
    for method in IN_WORDS:
        worlds = (
            _asked("described", method, f"environment.world={name}")
            for name in families()
        )
        found.append(list(itertools.chain.from_iterable(worlds)))
    return [asked for asked in (*found, crowded()) if asked]


def crowded() -> list[AnyQuestion]:
    """Returns questions for a problem with the names of constants and a few more."""
    return [
        Question(
            PROBLEM,
            (Message("user", "Write the problem file."),),
            GrammarContext(
                domain=CROWDED.format(constants=constants, kind=kind),
                names=Names(tuple(names)),
            ),
        )
        for constants, kind, names in itertools.product(
            CONSTANTS, "tv", ("cd", "cda", "cdab")
        )
    ]


def _asked(environment: str, method: str, *overrides: str) -> list[AnyQuestion]:
    try:
        every = list(
            played(environment, SEEDS, "grounded", f"method={method}", *overrides)
        )
    except PddlegoError as error:
        print(f"left out: {environment}, {method}: {error!s:.150}", file=sys.stderr)
        return []
    return [one.question for one in every if one.question.form.name in WITH_PDDL]


class Drawn(NamedTuple):
    """The files of an answer, as they are handed on; `fault` says why there are
    none.
    """

    question: AnyQuestion
    value: Any
    domain: str = ""
    problem: str = ""
    fault: str = ""


def draw(
    model: Model, question: AnyQuestion, decoding: Decoding, seed: int
) -> tuple[Drawn, int]:
    """Draws one answer, and for a domain alone a problem. Returns it with its number of
    tokens.
    """
    sampling = decoding.sampling(seed)
    ((drawn, answer),) = draw_answers(model, question, decoding, sampling)
    value, tokens, context = (
        answer.value,
        drawn.completion.completion_tokens,
        question.context,
    )
    match value:
        case Pddl():
            found = Drawn(question, value, value.df, value.pf)
        case Problem():
            found = Drawn(question, value, context.domain, value.pf)
        case Edit():
            edited = apply(value.model_dump(), context.problem)
            fault = "; ".join(edited.faults)
            # The goal is the method's, and it may name objects that the model has not
            # declared: then a run tries the method's next goal (episode/planning.py).
            problem = with_goal(edited.problem, "(and)")
            found = Drawn(question, value, context.domain, problem, fault)
        case DomainFile():
            its_own = replace(context, domain=value.df)
            second = Question(PROBLEM, question.messages, its_own)
            found, more = draw(model, second, decoding, seed + 1)
            tokens += more
        case _:
            found = Drawn(question, None, fault=answer.fault)
    return found, tokens


def judge(planner: FastDownward, drawn: Drawn, rung: str) -> tuple[str, str]:
    """Returns the outcome of an answer, and what is wrong with it ("" if nothing is):
    "cut" by the limit of tokens, "refused" by the translator or the static check, a
    "goal" or "names" that the rung excludes, or else the planner's outcome.
    """
    if drawn.value is None:
        return ("cut", "") if drawn.fault == "truncated" else ("refused", drawn.fault)
    files, context = (drawn.domain, drawn.problem), drawn.question.context
    result, found = planner.plan(*files), check(*files)
    if drawn.fault or result.outcome == "translate_error" or not found.accepted:
        return "refused", drawn.fault or result.message
    if not RUNGS[rung].grounded or isinstance(drawn.value, Edit):
        return result.outcome, ""
    if context.own_goal and result.outcome == "goal_already_true":
        return "goal", "It is already true."
    if others := set(objects_of(drawn.problem)) - set(context.names.objects):
        return "names", ", ".join(sorted(others))
    return result.outcome, ""


def outside(drawn: Drawn, rung: RungName) -> str:
    """Returns why `reject` would not accept the answer. It misjudges lists that are
    longer than a rung writes: types to which those of the actions were added, and the
    objects of an edit, each in a string of its own.
    """
    return why_outside(drawn.value, drawn.question, rung) if drawn.value else ""


def answer_row(
    number: int, seed: int, known: Known, planner: FastDownward, how: str
) -> dict[str, Any]:
    """Draws and judges the answer with this number. It does not depend on the other
    answers.
    """
    rng = random.Random(f"{seed} {number}")
    case, question = rng.choice(CASES), rng.choice(rng.choice(known))
    if few := rng.random() < 1 / 3:
        names = question.context.names
        kept = rng.sample(
            names.objects, min(rng.randint(0, FEW_NAMES), len(names.objects))
        )
        context = replace(question.context, names=Names(tuple(kept), names.things))
        question = replace(question, context=context)
    model = _model(how, rng.randrange(3), rng.choice(SPREADS), rng.choice(TASTES))
    drawn, tokens = draw(model, question, case.decoding, rng.randrange(2**31))
    outcome, why = judge(planner, drawn, case.rung)
    row: dict[str, Any] = {"n": number, "seed": seed, "form": question.form.name}
    row |= {"environment": question.context.environment.rpartition(".")[2] or "crowded"}
    row |= {**case._asdict(), "few_names": few, "outcome": outcome, "tokens": tokens}
    row["outside"] = outside(drawn, case.rung)
    if why:
        row |= {"why": why, "domain": drawn.domain, "problem": drawn.problem}
    return row


@functools.cache
def _model(how: str, seed: int, spread: float, taste: str) -> Model:
    if how == "logits":
        return RandomLogits(seed, spread, taste)
    return _weights(how, seed)


@functools.cache
def _weights(how: str, seed: int) -> Model:
    if how == "random":
        return RandomModel(seed=seed)
    server = Server(device="cpu", kv_cache_gib=1, variables={"OMP_NUM_THREADS": "1"})
    return RandomVllmModel(
        seed=seed, dtype="float32", context_tokens=16384, server=server
    )


def rows_in(out: Path, seed: int) -> dict[int, dict[str, Any]]:
    """Returns the rows of a file by number; a line that was not written to its end is
    removed.
    """
    lines = (
        out.read_text(encoding="utf-8").splitlines(keepends=True)
        if out.exists()
        else []
    )
    if lines and not lines[-1].endswith("\n"):
        out.write_text("".join(lines[:-1]), encoding="utf-8")
        lines.pop()
    rows = {row["n"]: row for row in map(json.loads, lines)}
    if any(row["seed"] != seed for row in rows.values()):
        raise SystemExit(f"{out} has answers of another --seed; name another file.")
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the counts: answers, those of each outcome, and the same for each form
    and rung.
    """
    tokens, wrong = (
        sum(row["tokens"] for row in rows),
        sum("why" in row for row in rows),
    )
    not_in = Counter(row["outside"].split(":")[0] for row in rows if row["outside"])
    lines = [
        f"{len(rows)} answers, {tokens} tokens; wrong: {wrong}; outside: {dict(not_in)}"
    ]
    groups: dict[str, list[dict[str, Any]]] = {"all": rows}
    for row in rows:
        for name in (
            row["form"],
            row["environment"],
            f"{row['rung']}, {row['layout']}",
        ):
            groups.setdefault(name, []).append(row)
    for name, group in sorted(groups.items()):
        counts = Counter(row["outcome"] for row in group).most_common()
        lines.append(f"{name}: {', '.join(f'{outcome} {n}' for outcome, n in counts)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "-n", type=int, default=200, help="the number of answers (default 200)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed gives other answers"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="JSON lines, one for each answer"
    )
    parser.add_argument(
        "--model",
        default="logits",
        choices=("logits", "random", "vllm"),
        help=(
            "random logits for each token (fast), a random Llama in process, or one"
            " behind vLLM"
        ),
    )
    given = parser.parse_args()
    rows, known, began = rows_in(given.out, given.seed), questions(), time.monotonic()
    print(f"{sum(map(len, known))} questions, {len(rows)} answers")
    limits = Limits(cpu_s=20)
    with (
        given.out.open("a", encoding="utf-8") as file,
        FastDownward(search="lama_first", limits=limits) as planner,
    ):
        for number in range(given.n):
            if number in rows:
                continue
            rows[number] = answer_row(number, given.seed, known, planner, given.model)
            print(json.dumps(rows[number]), file=file, flush=True)
            if len(rows) % 100 == 0:
                refused = sum("why" in row for row in rows.values())
                print(
                    f"{len(rows)} answers, {refused} wrong,"
                    f" {time.monotonic() - began:.0f} s"
                )
    print(table(list(rows.values())))


if __name__ == "__main__":
    main()

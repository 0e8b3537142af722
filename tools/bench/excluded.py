"""Which recorded answers each rung of the ladder would have excluded, as tables in Markdown.

    python -m tools.bench.excluded DATA.jsonl.xz [--every N]

DATA holds one object a line: "id", "model", "environment", "domain", "problem", what the planner of
that run said as "cause", and a guess where it recorded nothing as "cause_inferred". Causes are also
judged again, by our checker and planner. The pairs are as they were extracted, so that "free" and
"json" exclude none; for the other rungs they are printed in the layout "line" first, which takes
away what carries no meaning. Observations are not in the data: of the rung "grounded" the names are
not judged, its rule about goals is.
"""

import argparse
import functools
import itertools
import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.core.protocols import Planner
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.staged.declarations import ActionSchema
from pddlego_local.environments.alfworld import game as alfworld
from pddlego_local.environments.coin import game as coin
from pddlego_local.pddl.check import check
from pddlego_local.pddl.initial_state import goal_already_true
from pddlego_local.planner.fast_downward import FastDownward
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import rate
from tools.bench.departures import Pair, departures, told_parameters
from tools.bench.markdown import head, line

RUNGS = ("syntax", "signatures", "typed", "grounded")
WORKED = "worked"
CAUSES = (WORKED, "syntax", "symbols", "goal_already_true", "unsolvable", "other")
SCENES = {
    "coincollector": Scene(actions=coin.TABLES.schemas),
    "alfworld": Scene(actions=alfworld.TABLES.schemas),
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """`outside` are the rungs that exclude the answer, `reasons` why "typed" does, where the
    planner's translator takes it, and `place` where it departs from "typed"."""

    row: Row
    outcome: str
    cause: str
    outside: frozenset[str]
    reasons: tuple[str, ...]
    place: str

    @property
    def model(self) -> str:
        return str(self.row["model"]).rpartition("/")[2]

    @property
    def environment(self) -> str:
        return str(self.row["environment"])

    @property
    def recorded(self) -> str:
        """The cause that the run recorded; what a checker guessed where it recorded none."""
        cause, guess = self.row["cause"], self.row["cause_inferred"]
        return f"({guess})" if cause == "unrecorded" else str(cause)


def rows(file: Path, every: int = 1) -> list[Row]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in itertools.islice(lines, 0, None, every)]


def judge(row: Row, planner: Planner) -> Judged:
    domain, problem, scene = row["domain"], row["problem"], SCENES[row["environment"]]
    found, outcome = check(domain, problem), planner.plan(domain, problem).outcome
    pair = Pair.of(domain, problem, _told(row["environment"])) if found.syntax else None
    places = {rung: _place(rung, domain, problem, scene) for rung in RUNGS[:3]}
    place = places["typed"]
    reasons = departures(pair) if pair and found.symbols else []
    # The printer leaves out wrong `:requirements`, which is not to count as written right.
    outside = places | {
        "typed": place or pair is None,
        "grounded": place or pair is None or goal_already_true(pair.domain, pair.problem),
    }
    return Judged(
        row,
        outcome,
        _cause(outcome, found.syntax, found.symbols),
        frozenset(rung for rung, is_outside in outside.items() if is_outside),
        tuple(reasons),
        place,
    )


def _place(rung: str, domain: str, problem: str, scene: Scene) -> str:
    """Where a printed pair leaves the rung; "" nowhere."""
    printer = Printer("line", scene.actions, tight=rung == "typed")
    try:
        text = printer.answer({"df": domain, "pf": problem})
    except ValueError as fault:
        return f"cannot be printed: {fault}"
    if rung == "syntax":
        return "" if accepts(load("syntax", "line"), text) else "somewhere"
    constraint = constraint_for(rung, PDDL, scene, "line")
    assert constraint.in_stages
    return place_of_departure(constraint, text)


def _cause(outcome: str, syntax: bool, symbols: bool | None) -> str:
    if outcome == "solved":
        return WORKED
    if not syntax:
        return "syntax"
    if not symbols:
        return "symbols"
    return outcome if outcome in CAUSES else "other"


@functools.cache
def _told(environment: str) -> dict[str, tuple[tuple[str, str], ...]]:
    return told_parameters(tuple(map(ActionSchema.of, SCENES[environment].actions)))


Key = Callable[[Judged], str]


def table_of_causes(answers: Sequence[Judged], cause: Key, causes: Sequence[str]) -> Iterator[str]:
    """Model × cause: how many answers."""
    yield from head(["model", *causes, "all"])
    for model, own in _by_model(answers):
        counts = Counter(map(cause, own))
        yield line([model, *(counts[name] for name in causes), len(own)])


def table_of_rungs(answers: Sequence[Judged], cause: Key, causes: Sequence[str]) -> Iterator[str]:
    """Model and cause × rung: the share of answers outside the rung's language."""
    yield from head(["model", "cause", *RUNGS])
    for model, own in _by_model(answers):
        unusable = [answer for answer in own if answer.cause != WORKED]
        groups = [(name, [answer for answer in own if cause(answer) == name]) for name in causes]
        for name, group in [("all unusable", unusable), *groups]:
            if group:
                yield line([model, name, *(_outside(rung, group) for rung in RUNGS)])


def table_of_reasons(answers: Sequence[Judged]) -> Iterator[str]:
    """Why answers that worked are outside "typed"; what has no reason is listed one by one."""
    lost = [answer for answer in answers if answer.cause == WORKED and "typed" in answer.outside]
    yield from head(["reason", *SCENES, "alone", "for example"])
    counts = Counter(reason for answer in lost for reason in answer.reasons)
    for reason, _ in counts.most_common():
        own = [answer for answer in lost if reason in answer.reasons]
        places = Counter(answer.environment for answer in own)
        alone = [answer for answer in own if len(answer.reasons) == 1]
        example = (alone or own)[0].row["id"]
        yield line([reason, *(places[name] for name in SCENES), len(alone), example])
    for answer in lost:
        if not answer.reasons:
            yield line([answer.place, *("" for _ in SCENES), "", answer.row["id"]])


def _by_model(answers: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    """All models first, then each, the one with most answers first."""
    yield "all", list(answers)
    for model, _ in Counter(answer.model for answer in answers).most_common():
        yield model, [answer for answer in answers if answer.model == model]


def _outside(rung: str, answers: Sequence[Judged]) -> str:
    return rate(Rate(sum(rung in answer.outside for answer in answers), len(answers)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=1, help="judge every Nth pair only")
    given = parser.parse_args()
    with FastDownward() as planner:
        answers = [judge(row, planner) for row in rows(given.data, given.every)]
    recorded = [name for name, _ in Counter(a.recorded for a in answers).most_common()]
    for title, lines in (
        ("Answers by cause", table_of_causes(answers, lambda a: a.cause, CAUSES)),
        ("Outside, by cause", table_of_rungs(answers, lambda a: a.cause, CAUSES)),
        ("Answers by recorded cause", table_of_causes(answers, lambda a: a.recorded, recorded)),
        ("Outside, by recorded cause", table_of_rungs(answers, lambda a: a.recorded, recorded)),
        ('Why answers that worked are outside "typed"', table_of_reasons(answers)),
    ):
        print(f"\n## {title}\n", *lines, sep="\n")


if __name__ == "__main__":
    main()

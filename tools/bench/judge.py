"""Holds the judge of states (`pddlego_local/pddl/state.py`) to the planner and to two
simulators.

    python -m tools.bench.judge --data FOLDER --out runs/judge.jsonl

FOLDER is searched for problem files beside a domain, for archives of them, and for JSON
lines with the keys "domain" and "problem". Every pair that the planner solves is
judged: the judge must accept the plan, must say of altered plans what unified-planning
says, and must agree with unified-planning and with the grounding of Fast Downward's
translator (grounding.py) on random walks. The command can be stopped and given again:
it continues where it was.
"""

import argparse
import json
import lzma
import random
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.nouns import PlanResult
from pddlego_local.environments.described.world import in_order
from pddlego_local.pddl.check import check
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, Step, Task, read_task
from pddlego_local.planner import FastDownward, Limits
from tools.bench.grounding import Grounding, grounding_of
from tools.bench.markdown import table
from tools.bench.unified import Unified, unified_task

ALTERED_PLANS = 10
WALKS, STEPS = 2, 6
MOST_ACTIONS = 20_000
"""A task with more ground actions is not walked: the oracles take minutes for it."""

Pair = tuple[str, str, str, str]
"""Where a pair comes from, its name, its domain and its problem."""


def pairs_in(folder: Path) -> Iterator[Pair]:
    """Yields all pairs of a folder, unpacking its archives."""
    for archive in sorted(folder.rglob("*.tar.xz")):
        with tempfile.TemporaryDirectory() as unpacked, tarfile.open(archive) as files:
            files.extractall(unpacked, filter="data")
            yield from _files(Path(unpacked), archive.name.partition(".")[0])
    yield from _files(folder, folder.name)
    for lines in sorted(folder.rglob("*.jsonl.xz")):
        with lzma.open(lines, "rt", encoding="utf-8") as file:
            for number, row in enumerate(map(json.loads, file)):
                yield (
                    lines.name.partition(".")[0],
                    str(number),
                    row["domain"],
                    row["problem"],
                )


def _files(folder: Path, source: str) -> Iterator[Pair]:
    for domain in sorted(folder.rglob("domain.pddl")):
        for problem in sorted(domain.parent.glob("*.pddl")):
            if "domain" not in problem.name:
                given = [
                    path.read_text("utf-8", errors="replace")
                    for path in (domain, problem)
                ]
                name = str(problem.relative_to(folder))
                yield source, name, given[0], given[1]
                ordered = [in_order(text) for text in given]
                if check(*ordered).accepted and not check(*given).accepted:
                    yield source, f"{name} in order", ordered[0], ordered[1]


def judged(pair: Pair, planner: FastDownward, seed: str) -> dict[str, Any]:
    """Returns what is counted of one pair."""
    _, _, domain, problem = pair
    result, counts = planner.plan(domain, problem), Counter[str]()
    accepted = check(domain, problem).accepted
    told = result.outcome not in ("timeout", "out_of_memory", "planner_fault")
    counts["check disagrees"] += told and accepted == (
        result.outcome == "translate_error"
    )
    row: dict[str, Any] = {"outcome": result.outcome, "wrong": []}
    if result.outcome in ("solved", "goal_already_true"):
        _judge(domain, problem, result, random.Random(seed), counts, row["wrong"])
    return row | {"counts": dict(counts)}


def _judge(
    domain: str,
    problem: str,
    result: PlanResult,
    chance: random.Random,
    counts: Counter[str],
    wrong: list[str],
) -> None:
    task = read_task(domain, problem)
    plan = [tuple(step.strip("()").lower().split()) for step in result.plan]
    accepted = reaches(task, plan)
    counts["plans accepted" if accepted else "plans refused"] += 1
    wrong += [] if accepted else ["the plan is refused"]
    unified = unified_task(domain, problem)
    if isinstance(unified, str):
        counts["not read by unified-planning"] += 1
    else:
        for changed in altered(plan, task, chance):
            counts["altered plans"] += 1
            if reaches(task, changed) != unified.reaches(changed):
                counts["altered plans, disagreeing"] += 1
                wrong.append(f"altered plan {changed}")
    grounding = grounding_of(domain, problem, MOST_ACTIONS)
    if grounding is None:
        counts["too large to walk"] += 1
        return
    for _ in range(WALKS):
        _walk(
            task,
            grounding,
            None if isinstance(unified, str) else unified,
            chance,
            counts,
            wrong,
        )


def reaches(task: Task, plan: Sequence[Step]) -> bool:
    """Returns whether a plan reaches the goal."""
    states = [task.initial]
    for step in plan:
        states = [new for state in states for new in task.successors(state, step)]
    return any(map(task.is_goal, states))


def altered(
    plan: Sequence[Fact], task: Task, chance: random.Random
) -> Iterator[list[Fact]]:
    """Yields plans with an action less, two actions exchanged, or another argument."""
    for number in range(ALTERED_PLANS if plan else 0):
        changed, place = list(plan), chance.randrange(len(plan))
        name, *things = changed[place]
        if number % 3 == 0:
            del changed[place]
        elif number % 3 == 1 or not things:
            other = chance.randrange(len(plan))
            changed[place], changed[other] = changed[other], changed[place]
        else:
            things[chance.randrange(len(things))] = chance.choice(list(task.objects))
            changed[place] = (name, *things)
        yield changed


def _walk(
    task: Task,
    grounding: Grounding,
    unified: Unified | None,
    chance: random.Random,
    counts: Counter[str],
    wrong: list[str],
) -> None:
    """Walks at random, and compares possible actions and successors in each state."""
    state = task.initial
    for _ in range(STEPS):
        counts["states compared"] += 1
        possible = task.applicable(state)
        difference = grounding.difference(task, state, possible)
        if difference:
            counts["states disagreeing with the translator"] += 1
            wrong.append(difference)
        if unified is not None:
            counts["states compared with unified-planning"] += 1
            sample = chance.sample(possible, min(len(possible), 5))
            others = _others(task, state, set(possible), chance)
            difference = unified.difference(state, [*sample, *others], task)
            if difference:
                counts["states disagreeing with unified-planning"] += 1
                wrong.append(difference)
        if not possible:
            break
        state = task.successor(state, chance.choice(possible))


def _others(
    task: Task, state: State, possible: set[Fact], chance: random.Random
) -> list[Fact]:
    """Some actions that the judge says are impossible, with objects drawn at random."""
    found, things = list[Fact](), list(task.objects)
    for name, schemas in task.actions.items():
        count = len(schemas[0].parameters)
        step = (name, *(chance.choice(things) for _ in range(count if things else 0)))
        if len(step) == count + 1 and step not in possible:
            found.append(step)
    return chance.sample(found, min(len(found), 5))


COLUMNS = (
    "check disagrees",
    "plans accepted",
    "plans refused",
    "not read by unified-planning",
    "altered plans",
    "altered plans, disagreeing",
    "states compared",
    "states disagreeing with the translator",
    "states compared with unified-planning",
    "states disagreeing with unified-planning",
    "too large to walk",
)


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the table: one row for each source."""
    lines = []
    for source in [*sorted({row["source"] for row in rows}), "all"]:
        own = [row for row in rows if source in (row["source"], "all")]
        total = sum((Counter(row["counts"]) for row in own), Counter[str]())
        lines.append([source, len(own), *(total[name] for name in COLUMNS)])
    return table(("source", "pairs tried", *COLUMNS), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of pairs")
    parser.add_argument("--out", type=Path, default=Path("runs/judge.jsonl"))
    parser.add_argument(
        "--most", type=int, default=10**9, help="pairs that are tried, at most"
    )
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in given.out.open()] if given.out.exists() else []
    done, seen = {(row["source"], row["name"]) for row in rows}, set[tuple[str, str]]()
    with (
        FastDownward(search="lama_first", limits=Limits(cpu_s=5)) as planner,
        given.out.open("a") as out,
    ):
        for source, name, domain, problem in pairs_in(given.data):
            twice = (domain, problem) in seen
            seen.add((domain, problem))
            if twice or (source, name) in done or len(rows) >= given.most:
                continue
            found = judged((source, name, domain, problem), planner, name)
            rows.append({"source": source, "name": name, **found})
            print(json.dumps(rows[-1]), file=out, flush=True)
    print(report(rows))
    for row in rows:
        for wrong in row["wrong"][:3]:
            print(f"{row['source']} {row['name']}: {wrong}"[:500])


if __name__ == "__main__":
    main()

"""Where recorded games first depart from what the reference would have written, lost ones and won.

    python -m tools.bench.lost RUNS [--show 20]

Games of `method=pddlego_plus method.variant=compact`, whose prompts hold all that was seen: the
reference reads the same. Its files are one right answer of several, so that won games depart too: a
kind of departure loses games where it is more frequent among those that were lost. To look first in
another place than the reference, where one has not been, is no departure. "none" of a lost game is
a game whose actions did not suffice. --show prints the departures of lost games.
"""

import argparse
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.nouns import Completion, Turn
from pddlego_local.core.record.events import Call, End
from pddlego_local.core.record.folder import transcripts
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.layout import Printer
from pddlego_local.environments import family
from pddlego_local.environments.tables import Tables
from pddlego_local.episode.reading.answer import read_free
from pddlego_local.pddl.edit import facts_of, objects_of
from pddlego_local.pddl.sections import listed
from pddlego_local.report.cells import find_cells
from tools.bench.markdown import table

KINDS = (
    *("unread", "other domain", "name from nowhere", "looks where it was", "object left out"),
    *("fact left out", "other fact", "other goal", "none"),
)
_LOOK = re.compile(r"\(visited ([\w-]+)\)")
_MEMORY = re.compile(
    r"^Seen, the newest last:\n(.*?)(?=^(?:Valid now: |The plan failed:|Done three times in a row: "
    r"|The planner on the previous files:)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_TURN = re.compile(r"^Action: (.*)\n((?:(?!Action: ).*\n?)*)", re.MULTILINE)


@dataclass(frozen=True)
class Departure:
    kind: str
    told: str
    """What differs, in PDDL."""


def departure(prompt: str, text: str, environment: str) -> Departure:
    """Of an answer to a compact prompt; `environment` is the package of its reference."""
    (memory,) = _MEMORY.findall(prompt)
    turns = [Turn(command, said.strip()) for command, said in _TURN.findall(memory)]
    right = dict(zip(("df", "pf"), family.reference(environment).formalize(turns), strict=True))
    domain, problem = json.loads(_printer(environment).answer(right)).values()
    value = read_free(Completion(text, "stop", 0, 0, 0.0), PDDL).value
    if not value:
        return Departure("unread", text[-200:])
    if _tight(value.df) != _tight(domain):
        return Departure("other domain", value.df)
    found = _differences(value.pf, problem)
    looks = [_LOOK.search(_section(text, ":goal")) for text in (value.pf, problem)]
    if all(looks) and not found["fact left out"] and not found["other fact"]:
        place = str(looks[0] and looks[0][1])
        been = any(place == turn.command.removeprefix("go to ").replace(" ", "") for turn in turns)
        return Departure("looks where it was" if been else "none", place)
    seen = _tight(prompt.replace(" ", ""))
    nowhere = [one for one in found["other object"] if one not in seen]
    named = {"name from nowhere": nowhere} | found
    kind = next((kind for kind in KINDS if named.get(kind)), "none")
    return Departure(kind, "; ".join(f"{name}: {' '.join(all_)}" for name, all_ in found.items()))


@functools.cache
def _printer(environment: str) -> Printer:
    return Printer("line", schemas=Tables.load(environment).schemas, tight=True)


def _differences(problem: str, right: str) -> dict[str, list[str]]:
    objects, facts = objects_of(problem), facts_of(problem)
    right_objects, right_facts = objects_of(right), facts_of(right)
    goals = [_tight(_section(text, ":goal")) for text in (problem, right)]
    return {
        "object left out": [one for one in right_objects if one not in objects],
        "other object": [one for one in objects if one not in right_objects],
        "fact left out": [one for one in right_facts if one not in facts],
        "other fact": [one for one in facts if one not in right_facts],
        "other goal": goals if goals[0] != goals[1] else [],
    }


def _section(text: str, name: str) -> str:
    block = listed(text, name)
    return text[block.offset : block.end + 1]


def _tight(text: str) -> str:
    return " ".join(text.replace("(", " ( ").replace(")", " ) ").split())


def games(runs: Path) -> Iterator[tuple[str, bool, int, Departure]]:
    """Of each game its decoding, whether it was won, its number and its first departure."""
    for cell in find_cells([runs]):
        if cell.options.get("method.variant") != "compact":
            continue
        package = f"pddlego_local.environments.{cell.labels['environment'].split('_')[0]}"
        for _, events in transcripts(cell.folder):
            calls = [event for event in events if isinstance(event, Call)]
            (row,) = (event.row for event in events if isinstance(event, End))
            if row.outcome == "success_at_start":
                continue
            found = (departure(one.messages[-1].content, one.text, package) for one in calls)
            first = next((one for one in found if one.kind != "none"), Departure("none", ""))
            yield cell.labels["decoding"], row.success, row.game, first


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N")
    given = parser.parse_args()
    counts, lost = Counter[tuple[str, bool, str]](), list[str]()
    for decoding, won, game, first in games(given.runs):
        counts[decoding, won, first.kind] += 1
        if not won:
            lost.append(f"{decoding}, game {game}: {first.kind}. {first.told}")
    arms = sorted({decoding for decoding, _, _ in counts})
    cells = [(arm, won) for arm in arms for won in (False, True)]
    headers = ["first departure", *(f"{arm}, {'won' if won else 'lost'}" for arm, won in cells)]
    rows = [[kind, *(counts[arm, won, kind] for arm, won in cells)] for kind in KINDS]
    print(table(headers, rows))
    print(*lost[: given.show], sep="\n")


if __name__ == "__main__":
    main()

"""Counts the answers that the token limit cut, by the number of the call in its episode.

    python -m tools.bench.cut_answers RUN...

Each cell has one line, with its `decoding.lists`. It says how many of the first, second, third and
later calls, and of all calls, were cut. It also says how many tokens an answer has on average,
including forced ones, and how many games were won, of those that were not trivial.
"""

import sys
from collections import Counter
from pathlib import Path
from statistics import mean

from pddlego_local.core.record.events import Call
from pddlego_local.report.cells import CellRecord, find_cells
from tools.bench.markdown import table

PLACES = ("first", "second", "third", "later")


def measured(cell: CellRecord) -> list[object]:
    """Returns the line of a cell."""
    asked, cut = Counter[str](), Counter[str]()
    tokens = []
    for row in cell.rows:
        calls = [event for event in cell.events(row)[0] if isinstance(event, Call)]
        for number, call in enumerate(calls):
            for place in (PLACES[min(number, 3)], "all"):
                asked[place] += 1
                cut[place] += call.fault == "truncated"
            tokens.append(call.completion_tokens)
    ended = Counter(row.outcome for row in cell.rows)
    played = len(cell.rows) - ended["success_at_start"]
    return [
        f"{cell.folder.name} {cell.run.identity['decoding'].get('lists', '')}".strip(),
        *(f"{cut[place]} of {asked[place]}" for place in (*PLACES, "all")),
        f"{mean(tokens):.0f}" if tokens else "–",
        f"{ended['success']} of {played}",
    ]


def main() -> None:
    columns = ["cell", *PLACES, "all", "tokens an answer", "won"]
    cells = find_cells([Path(argument) for argument in sys.argv[1:]])
    print(table(columns, map(measured, cells)))


if __name__ == "__main__":
    main()

"""What the two readers make of recorded free answers, as a table in Markdown.

    python -m tools.bench.readings RUNS

RUNS is a folder of recorded runs; the answers of its free cells are read again, without what was
played after them. "otherwise" are answers that both read, as different values; "after the cut" are
those that the lenient reader reads although the token limit cut what follows.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from pddlego_local.core.nouns import Completion
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import transcripts
from pddlego_local.decoding.forms import FORMS, Form, Keys, choice
from pddlego_local.episode.reading.answer import read_free
from pddlego_local.report.cells import find_cells
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import rate
from tools.bench.markdown import table

COLUMNS = ("model", "answers", "strict", "lenient", "otherwise", "after the cut")
_FORMS: Mapping[str, Form[Keys]] = {form.name: form for form in FORMS} | {"choice": choice(9999)}


def counts(runs: Path) -> dict[str, Counter[str]]:
    """By model: how many answers there are, and how many of them each reader reads."""
    found: dict[str, Counter[str]] = {}
    for cell in find_cells([runs]):
        if cell.options["decoding.rung"] == "free":
            own = found.setdefault(cell.labels["model"], Counter())
            for call in _calls(cell.folder):
                own.update(["answers", *_readings(call)])
    return found


def _calls(cell: Path) -> Iterator[Call]:
    for _, events in transcripts(cell):
        yield from (event for event in events if isinstance(event, Call))


def _readings(call: Call) -> Iterator[str]:
    completion = Completion(call.text, call.finish_reason, 0, 0, 0.0)
    form = _FORMS[call.form]
    strictly = read_free(completion, form, reading="strict").value
    leniently = read_free(completion, form, prompt=call.messages).value
    if strictly:
        yield "strict"
    if leniently:
        yield "lenient"
    if strictly and leniently and strictly != leniently:
        yield "otherwise"
    if leniently and call.finish_reason == "length":
        yield "after the cut"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    rows = []
    for model, own in counts(parser.parse_args().runs).items():
        of = own["answers"]
        shares = [rate(Rate(own[name], of)) for name in COLUMNS[2:4]]
        rows.append([model, of, *shares, own["otherwise"], own["after the cut"]])
    print(table(COLUMNS, rows))


if __name__ == "__main__":
    main()

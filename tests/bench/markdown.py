"""Tables in Markdown."""

from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[object], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join(_lines(columns, rows))


def _lines(columns: Sequence[object], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(map(str, cells))} |"

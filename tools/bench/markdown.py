"""Makes tables in Markdown."""

from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[object], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join([*head(columns), *map(line, rows)])


def head(columns: Sequence[object]) -> Iterator[str]:
    yield line(columns)
    yield line(["---"] * len(columns))


def line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

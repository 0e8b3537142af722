"""What the drawings of boxes and of lines share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import escape

from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.text import short, written

MARKS: Mapping[str, str] = {
    "wrong": "✗", "missed": "!", "new": "+", "unseen": "?", "": ""
}  # fmt: skip
"""The marks of facts, the most important first, with their signs."""

CHARACTER = 6.7  # width in pixels, at the size of the font
MOST_TOLD = 12  # facts, when the mouse rests on a part

Point = tuple[float, float]


class Box(NamedTuple):
    """The middle of a box, and its size."""

    x: float
    y: float
    width: float
    height: float


class Row(NamedTuple):
    text: str
    mark: str


def cut(rows: Sequence[Row], most: int) -> list[Row]:
    """Returns at most so many rows, the wrong and the missed ones among them. The last
    one counts those that are left out, and has the most important of their marks.
    """
    if len(rows) <= most:
        return [*rows]
    first = sorted(rows, key=lambda row: row.mark not in ("wrong", "missed"))
    shown = first[: most - 1]
    hidden = [row for row in rows if row not in shown]
    mark = most_important({row.mark for row in hidden})
    kept = [row for row in rows if row in shown]
    return [*kept, Row(f"… {len(hidden)} more", mark)]


def worst(facts: Sequence[Fact], marks: Mapping[Fact, str]) -> str:
    """Returns the most important mark among facts."""
    return most_important({marks.get(fact, "") for fact in facts})


def most_important(found: Collection[str]) -> str:
    return next((mark for mark in MARKS if mark in found), "")


def joined(classes: Iterable[str]) -> str:
    return " ".join(filter(None, classes))


def text(x: float, y: float, row: Row, classes: str) -> str:
    sign = f"{MARKS[row.mark]} " if row.mark else ""
    class_ = f' class="{classes}"' if classes else ""
    words = escape(sign + row.text)
    return f'<text x="{x:.0f}" y="{y:.0f}"{class_}>{words}</text>'


def title(facts: Sequence[Fact], name: str = "") -> str:
    """What a browser shows when the mouse rests on a part."""
    lines = [short(name, 200)] if name else []
    lines += [written(fact) for fact in facts]
    return f"<title>{escape(chr(10).join(lines))}</title>"


def point(point: Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"

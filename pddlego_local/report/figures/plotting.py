"""Figures as SVG, for a light page and for a dark one, and as PNG; the same bytes for the same
records. Told apart in grey by markers and line styles, and wide as a phone's screen.
matplotlib is loaded when one is drawn."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, shorten
from typing import TYPE_CHECKING

from pddlego_local.core.visible import visible
from pddlego_local.report.statistics.rates import Interval, Rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 5.6  # inches
DPI = 160
MARKERS = "osD^vP*X<>"
STYLES = ("-", "--", ":", "-.")
COLOURS = ("#3b5b92", "#d9a441", "#7aa07a", "#b5534c", "#8d7bb0", "#9c9c9c", "#58a6a6", "#d98fb0")
ON_DARK = ("#8fb3f0", "#e5b85c", "#93c493", "#ec8c84", "#b7a5dc", "#bdbdbd", "#74c7c7", "#efb0cb")
INK, PAPER, GREY = "#1a1a1a", "#ffffff", COLOURS[5]
DARK = {INK: "#e6e6e3", PAPER: "#161616", **dict(zip(COLOURS, ON_DARK, strict=True))}
"""What each colour of a figure becomes on a dark page."""

ENDINGS = (".svg", "_dark.svg", ".png")
ABOVE = 0.21  # of the distance between two rows, a name above its dot
LETTERS = 60  # on a line that spans the figure
LONG = 28  # letters of a legend's entry, of which two do not fit side by side
STYLE = Path(__file__).with_name("report.mplstyle")


@dataclass(frozen=True)
class Panel:
    """Lines of shares, {name: {tick: share}}; `ticks` are all places, from the left."""

    title: str
    ticks: Sequence[str]
    lines: Mapping[str, Mapping[str, Rate]]


def remove(folder: Path, name: str) -> None:
    """The files of a figure, if they are there."""
    for ending in ENDINGS:
        (folder / f"{name}{ending}").unlink(missing_ok=True)


def rows_height(count: int) -> float:
    """In inches, of a panel of so many rows, each with its name above it."""
    return 0.6 + 0.4 * count


@contextmanager
def drawing(folder: Path, name: str, heights: Sequence[float]) -> Iterator[Sequence["Axes"]]:
    """Panels of these heights in inches, one below the other, and higher by their legends; written
    when the block ends."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(fname=STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name in letters that the font does not have
        figure = Figure(layout="constrained")
        grid = figure.add_gridspec(len(heights), 1)
        axes = [figure.add_subplot(grid[row, 0]) for row in range(len(heights))]
        yield axes
        heights = [
            height + _legend_height(axis) for height, axis in zip(heights, axes, strict=True)
        ]
        figure.set_size_inches(WIDTH, sum(heights))
        grid.set_height_ratios(heights)
        folder.mkdir(parents=True, exist_ok=True)
        light, dark, png = (folder / f"{name}{ending}" for ending in ENDINGS)
        figure.savefig(light, metadata={"Date": None, "Creator": None})
        figure.savefig(png, dpi=DPI, metadata={"Software": None})
    coloured = re.compile("|".join(DARK))
    text = light.read_text(encoding="utf-8")
    dark.write_text(coloured.sub(lambda match: DARK[match[0]], text), encoding="utf-8")


def draw_lines(axes: Sequence["Axes"], panels: Sequence[Panel], most: int) -> None:
    """At most so many lines a panel, each a little to the side of the others; a name looks the same
    in all panels."""
    looks = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    for axis, panel in zip(axes, panels, strict=False):
        names = list(panel.lines)[:most]
        for number, name in enumerate(names):
            aside = 0.08 * (number - (len(names) - 1) / 2)
            shares = panel.lines[name]
            places = [x for x, tick in enumerate(panel.ticks) if tick in shares and shares[tick].n]
            rates = [shares[panel.ticks[x]] for x in places]
            found = [(rate.share or 0.0, rate.interval) for rate in rates]
            look = looks.index(name)
            axis.errorbar(
                [x + aside for x in places],
                [share for share, _ in found],
                _errors(found),
                capsize=3,
                label=_wrapped(name),
                color=COLOURS[look % len(COLOURS)],
                marker=MARKERS[look % len(MARKERS)],
                linestyle=STYLES[look % len(STYLES)],
                markersize=5,
                linewidth=1.3,
            )
        axis.set_xticks(range(len(panel.ticks)), list(map(visible, panel.ticks)))
        axis.set_xlim(-0.5, len(panel.ticks) - 0.5)
        axis.set_ylim(-0.03, 1.03)
        axis.set_ylabel("success")
        several = len(names) > 1
        axis.set_title(_wrapped(panel.title if several else f"{panel.title}: {names[0]}"))
        if several:
            _legend(axis)


def draw_dots(
    axes: "Axes", title: str, dots: Sequence[tuple[str, float, Interval]], *, differences: bool
) -> None:
    """One name, share and interval a row, from the top down. Differences of shares have a line at
    0."""
    shares, places = [share for _, share, _ in dots], range(len(dots))
    errors = _errors([(share, interval) for _, share, interval in dots])
    axes.errorbar(shares, places, xerr=errors, fmt="o", capsize=3, color=COLOURS[0])
    if differences:
        axes.axvline(0, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
    else:
        axes.set_xlim(-0.03, 1.03)
    _name_rows(axes, [name for name, *_ in dots])
    axes.set_title(_wrapped(title))


def draw_stacks(axes: "Axes", title: str, stacks: Mapping[str, Mapping[str, float]]) -> None:
    """One bar a name from the top down, made of shares that add up to 1: {name: {part: share}}.
    A part that comes first in any bar stands left of those behind it."""
    parts = list(dict.fromkeys(part for shares in stacks.values() for part in shares))
    ends = [0.0] * len(stacks)
    for number, part in enumerate(parts):
        shares = [of_name.get(part, 0.0) for of_name in stacks.values()]
        colour = COLOURS[number % len(COLOURS)]
        axes.barh(range(len(stacks)), shares, 0.42, left=ends, color=colour, label=part)
        ends = [end + share for end, share in zip(ends, shares, strict=True)]
    axes.set_xlim(0, 1)
    _name_rows(axes, list(stacks))
    axes.set_title(_wrapped(title))
    _legend(axes)


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Each name stands above its row, where there is room for long ones."""
    for number, name in enumerate(names):
        axes.annotate(
            shorten(visible(name), LETTERS, placeholder=" …"), (0, number - ABOVE),
            xycoords=("axes fraction", "data"), xytext=(2, 1), textcoords="offset points",
            fontsize=8.5, va="bottom",
        )  # fmt: skip
    axes.set_yticks([])
    axes.set_ylim(len(names) - 0.6, -0.9)


def _legend_height(axes: "Axes") -> float:
    """At most, in inches."""
    legend = axes.get_legend()
    lines = [text.get_text().count("\n") + 1 for text in legend.get_texts()] if legend else []
    return 0.2 + 0.18 * sum(lines) if lines else 0.0


def _wrapped(text: str) -> str:
    return fill(visible(text), LETTERS)


def _errors(dots: Sequence[tuple[float, Interval]]) -> tuple[list[float], list[float]]:
    """How far each interval reaches below its share, and above."""
    below = [max(0.0, share - interval.low) for share, interval in dots]
    return below, [max(0.0, interval.high - share) for share, interval in dots]


def _legend(axes: "Axes") -> None:
    """Below the panel, so that it hides nothing."""
    names = axes.get_legend_handles_labels()[1]
    columns = 2 if len(names) > 3 and max(map(len, names)) < LONG else 1
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns)

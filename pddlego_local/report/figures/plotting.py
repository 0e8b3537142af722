"""Draws figures as SVG, for a light and for a dark page, and as PNG. The same records
give the same bytes. Markers and line styles distinguish lines in greyscale, and figures
are as wide as the screen of a phone. matplotlib is loaded when a figure is drawn.
"""

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
COLOURS_ON_DARK = {
    "#0072b2": "#5ab4ee",
    "#e69f00": "#f2b84b",
    "#cc79a7": "#e6a6cb",
    "#d55e00": "#ff8a3d",
    "#7f7f7f": "#b8b8b8",
    "#8fd0f5": "#bfe6ff",
    "#4b3f9e": "#a195f2",
    "#8c5a2b": "#c79764",
}
"""Colours after Okabe and Ito, which colour-blind readers can tell apart, each with the
one on a dark page. The first one is success. None is green, which would read as
success.
"""

COLOURS = tuple(COLOURS_ON_DARK)
INK = "#1a1a1a"
PAPER = "#ffffff"
ON_COLOURS = "#1b1b1b"  # on a light colour, also on a dark page
GREY = "#7f7f7f"
DARK = {INK: "#e6e6e3", PAPER: "#161616", **COLOURS_ON_DARK}
"""The colour on a dark page for each colour of a figure."""

ENDINGS = (".svg", "_dark.svg", ".png")
# the height of a name above its dot, as a share of the distance between two rows
ABOVE = 0.21
BELOW = 0.18  # how far a mark extends from its dot, in the same unit
LETTERS = 60  # characters in a line that spans the figure
SMALL_LETTERS = 84  # the same for the smaller names of rows
LETTER = 0.0125  # the width of a letter in a bar, as a share of the bar
BELOW_TICKS = 2.7  # of a legend's font, between a panel and its legend
LONG = 28  # characters in a legend's entry from which on two do not fit side by side
SHORT = 22  # characters of a name that fits beside its line
LINE_OF_TEXT = 0.09  # the height of a line of text, as a share of a panel with lines
STYLE = Path(__file__).with_name("report.mplstyle")


@dataclass(frozen=True)
class Panel:
    """Lines of shares, {name: {tick: share}}. `ticks` are all positions on the x axis,
    from the left.
    """

    title: str
    ticks: Sequence[str]
    lines: Mapping[str, Mapping[str, Rate]]


@dataclass(frozen=True)
class Dot:
    """A row with a share, or with a difference of shares."""

    name: str
    share: float
    interval: Interval


def remove(folder: Path, name: str) -> None:
    """Removes the files of a figure, if they exist."""
    for ending in ENDINGS:
        (folder / f"{name}{ending}").unlink(missing_ok=True)


def rows_height(count: int) -> float:
    """Returns the height in inches of a panel with `count` rows and a name above each
    row.
    """
    return 0.6 + 0.4 * count


@contextmanager
def drawing(
    folder: Path, name: str, heights: Sequence[float]
) -> Iterator[Sequence["Axes"]]:
    """Yields panels of these heights in inches, one below the other. Legends are added
    to the heights, and the figure is written when the block ends.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(fname=STYLE), warnings.catch_warnings():
        # The font lacks characters of a name.
        warnings.filterwarnings("ignore", "Glyph")
        figure = Figure(layout="constrained")
        grid = figure.add_gridspec(len(heights), 1)
        rows = range(len(heights))
        panels = [figure.add_subplot(grid[row, 0]) for row in rows]
        yield panels
        with_legends = [
            height + _legend_height(panel)
            for height, panel in zip(heights, panels, strict=True)
        ]
        figure.set_size_inches(WIDTH, sum(with_legends))
        grid.set_height_ratios(with_legends)
        folder.mkdir(parents=True, exist_ok=True)
        light, dark, png = (folder / f"{name}{ending}" for ending in ENDINGS)
        figure.savefig(light, metadata={"Date": None, "Creator": None})
        figure.savefig(png, dpi=DPI, metadata={"Software": None})
    text = light.read_text(encoding="utf-8")
    on_dark = re.sub("|".join(DARK), lambda match: DARK[match[0]], text)
    dark.write_text(on_dark, encoding="utf-8")


def draw_lines(axes: Sequence["Axes"], panels: Sequence[Panel], most: int) -> None:
    """Draws at most `most` lines in each panel, each slightly shifted to the side. A
    name has the same style in all panels.
    """
    styles = dict[str, int]()
    for panel in panels:
        for name in panel.lines:
            styles.setdefault(name, len(styles))
    for axis, panel in zip(axes, panels, strict=False):
        names = list(panel.lines)[:most]
        middle = (len(names) - 1) / 2
        for number, name in enumerate(names):
            aside = 0.08 * (number - middle)
            _draw_line(axis, panel, name, aside, styles[name])
        _set_scale(axis, panel.ticks)
        title = panel.title
        if len(names) == 1:
            title += f": {names[0]}"
        elif not _name_lines(axis, panel, names):
            _legend(axis)
        axis.set_title(_wrapped(title))


def _name_lines(axis: "Axes", panel: Panel, names: Sequence[str]) -> bool:
    """Writes the name of each line to the right of its last dot, and names of near dots
    one below the other. Returns False, and writes none, if they do not fit there.
    """
    last = panel.ticks[-1]
    rates = {name: panel.lines[name].get(last) for name in names}
    ends = {name: rate.share for name, rate in rates.items() if rate and rate.n}
    if len(ends) < len(names) or max(map(len, names)) > SHORT:
        return False
    lowest = 2.0
    places = {}
    for name, share in sorted(ends.items(), key=lambda end: -(end[1] or 0.0)):
        places[name] = min(share or 0.0, lowest - LINE_OF_TEXT)
        lowest = places[name]
    moved = max((ends[name] or 0.0) - place for name, place in places.items())
    if moved > LINE_OF_TEXT:
        return False
    for name, place in places.items():
        axis.annotate(
            visible(name),
            (len(panel.ticks) - 1, place),
            xytext=(20, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
    return True


def _set_scale(axis: "Axes", ticks: Sequence[str]) -> None:
    places = range(len(ticks))
    axis.set_xticks(places, [visible(tick) for tick in ticks])
    axis.set_xlim(-0.5, len(ticks) - 0.5)
    axis.set_ylim(-0.06, 1.03)
    axis.set_ylabel("success")


def _draw_line(axis: "Axes", panel: Panel, name: str, aside: float, style: int) -> None:
    """`aside` is how far the line is shifted to the right."""
    places, dots = [], []
    for place, tick in enumerate(panel.ticks):
        rate = panel.lines[name].get(tick)
        if rate and rate.n:
            places.append(place + aside)
            dots.append(Dot(tick, rate.share or 0.0, rate.interval))
    axis.errorbar(
        places,
        [dot.share for dot in dots],
        _errors(dots),
        capsize=3,
        label=_wrapped(name),
        color=COLOURS[style % len(COLOURS)],
        marker=MARKERS[style % len(MARKERS)],
        linestyle=STYLES[style % len(STYLES)],
        markersize=5,
        linewidth=1.3,
    )


def draw_dots(
    axes: "Axes", title: str, dots: Sequence[Dot], *, differences: bool
) -> None:
    """Draws one row for each dot, from the top. Differences of shares have a line at
    0.
    """
    axes.errorbar(
        [dot.share for dot in dots],
        range(len(dots)),
        xerr=_errors(dots),
        fmt="o",
        capsize=3,
        color=COLOURS[0],
    )
    if differences:
        # The line at 0 is drawn row by row, so that it crosses no name.
        rows = range(len(dots))
        ends = [row + BELOW for row in rows], [row - BELOW for row in rows]
        axes.vlines([0] * len(dots), *ends, color=GREY, linewidth=1, zorder=0)
    else:
        axes.set_xlim(-0.03, 1.03)
    _name_rows(axes, [dot.name for dot in dots])
    axes.set_title(_wrapped(title))


def draw_stacks(
    axes: "Axes", title: str, stacks: Mapping[str, Mapping[str, float]]
) -> None:
    """Draws one bar for each name from the top, made of shares that add up to 1: {name:
    {part: share}}. Parts have the same order in all bars: that of their first
    occurrence. A part is named where it has room for its name, and in a legend if it
    has none in any bar.
    """
    parts = dict.fromkeys(part for shares in stacks.values() for part in shares)
    ends = [0.0] * len(stacks)
    for number, part in enumerate(parts):
        shares = [of_name.get(part, 0.0) for of_name in stacks.values()]
        room = max(map(len, part.split("\n"))) * LETTER
        is_named = any(share > room for share in shares)
        colour = COLOURS[number % len(COLOURS)]
        bars = axes.barh(
            range(len(stacks)),
            shares,
            0.42,
            left=ends,
            color=colour,
            label="_" if is_named else part,
        )
        names = [part if share > room else "" for share in shares]
        ink = PAPER if _is_dark(colour) else ON_COLOURS
        axes.bar_label(bars, names, label_type="center", fontsize=8, color=ink)
        ends = [end + share for end, share in zip(ends, shares, strict=True)]
    axes.set_xlim(0, 1)
    _name_rows(axes, list(stacks))
    axes.set_title(_wrapped(title))
    _legend(axes)


def _is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Writes each name above its row, where there is room for long names."""
    for number, name in enumerate(names):
        axes.annotate(
            shorten(visible(name), SMALL_LETTERS, placeholder=" …"),
            (0, number - ABOVE),
            xycoords=("axes fraction", "data"),
            xytext=(2, 1),
            textcoords="offset points",
            fontsize=8.5,
            va="bottom",
        )
    axes.set_yticks([])
    axes.set_ylim(len(names) - 0.6, -0.9)


def _legend_height(axes: "Axes") -> float:
    """An upper bound in inches."""
    legend = axes.get_legend()
    if not legend:
        return 0.0
    texts = [text.get_text() for text in legend.get_texts()]
    lines = sum(text.count("\n") + 1 for text in texts)
    return 0.2 + 0.18 * lines


def _wrapped(text: str) -> str:
    return fill(visible(text), LETTERS)


def _errors(dots: Sequence[Dot]) -> tuple[list[float], list[float]]:
    """How far each interval extends below and above its share."""
    below = []
    above = []
    for dot in dots:
        low, high = dot.interval
        below.append(max(0.0, dot.share - low))
        above.append(max(0.0, high - dot.share))
    return below, above


def _legend(axes: "Axes") -> None:
    """Draws the legend below the panel, so that it hides nothing."""
    _, names = axes.get_legend_handles_labels()
    if not names:
        return
    fit_side_by_side = len(names) > 3 and max(map(len, names)) < LONG
    columns = 2 if fit_side_by_side else 1
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=BELOW_TICKS,
        ncols=columns,
    )

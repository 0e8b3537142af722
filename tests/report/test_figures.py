"""What figures show, counted by hand, and that only those are drawn that have something
to show.
"""

import functools
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pddlego_local.core.record.counting import TRIVIAL
from pddlego_local.report.cells import by_number, find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.figures.charts import (
    Series,
    draw_differences,
    draw_figures,
    series_of,
)
from pddlego_local.report.figures.plotting import DARK, PAPER
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.verdicts import verdicts
from tests.report.test_report import write_cell
from tests.rows import row

cell = functools.partial(write_cell, games="0-9")


def drawn(folder: Path, out: Path) -> list[str]:
    figures = list(draw_figures(series_of(find_cells([folder])), out))
    assert sorted(path.name for path in out.glob("*")) == sorted(
        f"{name}{ending}"
        for name in figures
        for ending in (".png", ".svg", "_dark.svg")
    )
    return figures


def test_seeds_are_pooled_and_series_stand_in_the_order_of_the_ladder(
    tmp_path: Path,
) -> None:
    lost, won = row("step_limit", 0), row("success", 1)
    for seed, rows in enumerate([[lost, won], [row("success", 0), won], [lost]]):
        cell(tmp_path / f"typed{seed}", rows, decoding="typed", seed=seed)
    cell(tmp_path / "free", [row("success_at_start", 5), won], decoding="free")
    free, typed = series_of(find_cells([tmp_path]))
    assert (free.decoding, typed.decoding) == ("free", "typed")
    rate = typed.measures.success
    assert (rate.k, rate.n, typed.measures.games) == (3, 5, 2)
    assert free.measures.success.n == 1  # the trivial game stands apart
    free, _ = series_of(find_cells([tmp_path]), also=TRIVIAL)
    assert free.measures.success.n == 2


def test_rooms_make_the_difficulty_and_not_another_line(tmp_path: Path) -> None:
    for rooms in (3, 11):
        rows = [row("success", game, task_type=f"{rooms} rooms") for game in range(2)]
        cell(tmp_path / "runs" / str(rooms), rows, rooms=rooms)
    first, second = series_of(find_cells([tmp_path]))
    assert (first.system, first.name) == (second.system, second.name)
    assert {first.place, second.place} == {"rooms=3", "rooms=11"}
    in_order = ["3 rooms", "11 rooms", "cool"]
    assert sorted(["11 rooms", "cool", "3 rooms"], key=by_number) == in_order
    assert "tasks" in drawn(tmp_path / "runs", tmp_path / "out")


def test_only_what_has_something_to_show_is_drawn_and_what_was_drawn_before_goes(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    nothing = row("step_limit", 0)
    cell(tmp_path / "runs" / "a", [nothing])
    assert drawn(tmp_path / "runs", out) == ["outcomes"]
    asked = row("success", 1, calls=3, causes={"solved": 3}, completion_tokens=90)
    cell(tmp_path / "runs" / "b", [asked, nothing], decoding="free")
    assert drawn(tmp_path / "runs", out) == ["success", "outcomes"]
    for name in ("a", "b"):
        rows = tmp_path / "runs" / name / "episodes.jsonl"
        rows.write_text("", encoding="utf-8")
    assert drawn(tmp_path / "runs", out) == []


def test_figures_can_be_read_hold_no_date_and_on_a_dark_page_have_other_colours(
    written: Path,
) -> None:
    pictures = {path.stem for path in (written / "figures").glob("*.png")}
    assert pictures == {"success", "outcomes"}
    files = [written / "figures" / f"success{ending}.svg" for ending in ("", "_dark")]
    light, dark = (file.read_text(encoding="utf-8") for file in files)
    assert ElementTree.fromstring(light).tag.endswith("svg")
    assert "date" not in light.lower() and "<script" not in light
    colours = re.compile("#[0-9a-f]{6}")
    assert colours.sub("", light) == colours.sub("", dark)
    used = set(colours.findall(light)), set(colours.findall(dark))
    assert not used[0] & used[1] and "#000000" not in used[0]
    for colour in used[1] - {DARK[PAPER]}:  # lines and text, on the page's own ground
        assert contrast(colour, DARK[PAPER]) > 4.5, colour


def contrast(one: str, other: str) -> float:
    """As WCAG 2 reckons it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_what_several_trials_teach_is_a_curve_over_the_seeds_of_a_series(
    tmp_path: Path,
) -> None:
    first = [row("step_limit", 0), row("success", 1)]
    again = [row("solved_before", 1, trial=1)]
    runs = tmp_path / "runs"
    cell(runs / "a", [*first, row("success", 0, trial=1), *again], seed=0)
    cell(runs / "b", [*first, row("step_limit", 0, trial=1), *again], seed=1)
    (series,) = series_of(find_cells([runs]))
    assert [(rate.k, rate.n) for rate in series.trials] == [(2, 4), (3, 4)]
    assert series.trials[1].interval == Rate(3, 4, 2).interval  # two games, not four
    assert "trials" in drawn(runs, tmp_path / "out")
    cell(runs / "c", first, seed=2)  # whose second trial is still to come
    (series,) = series_of(find_cells([runs]))
    assert [(rate.k, rate.n) for rate in series.trials] == [(3, 6), (3, 4)]


@pytest.mark.parametrize(
    "name",
    [
        "\x00\x1b[31m\ud800 ]]> -- <!-- & \u202e 語",
        "a_$model$_with_a_long_{name best_of=4 layout=lines " + "option=1 " * 10,
    ],
)
def test_figures_survive_any_name(tmp_path: Path, name: str) -> None:
    won = row(
        "success",
        1,
        calls=3,
        causes={"solved": 2, "truncated": 1},
        completion_tokens=90,
    )
    series = [
        Series(
            name,
            "",
            f"{name} {n}",
            f"{rung} {name[:8]}",
            {name[:8]: [won], "7 rooms": [won]},
            [Rate(1, 2), Rate(2, 2)],
        )
        for n in range(4)
        for rung in ("free", "typed", "grounded")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(draw_figures(series, tmp_path)) == {"success", "trials", "tasks"}
    for file in tmp_path.glob("*.svg"):
        ElementTree.parse(file)


def drawn_differences(runs: Path, out: Path) -> list[str]:
    found = compared(find_cells([runs]))
    return list(draw_differences(found, verdicts(found), out))


def test_what_was_compared_is_one_figure_if_there_are_two_comparisons(
    tmp_path: Path,
) -> None:
    runs, out = tmp_path / "runs", tmp_path / "out"
    for decoding, solved in {"free": 2, "typed": 4, "grounded": 9}.items():
        ends = ["success" if game < solved else "step_limit" for game in range(10)]
        rows = [row(end, game, calls=1) for game, end in enumerate(ends)]
        cell(runs / decoding, rows, decoding=decoding)
    assert drawn_differences(runs, out) == ["differences"]
    figure = (out / "differences.svg").read_text(encoding="utf-8")
    assert "free → typed" in figure and "n = 10" in figure
    (runs / "typed" / "episodes.jsonl").write_text("", encoding="utf-8")
    assert drawn_differences(runs, out) == []
    assert not list(out.iterdir())

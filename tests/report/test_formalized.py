"""How far answers come in described worlds: nested columns, and their figure, rung by
rung.
"""

from pathlib import Path

from pddlego_local.report.cells import find_cells
from pddlego_local.report.figures.charts import draw_figures, series_of
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.text import result_tables
from tests.planted import composed, plant, plant_rows
from tests.rows import row

ROWS = [  # outcome, cause of the last answer; a repaired one has two
    ("success", {"solved": 1}),
    ("success", {"translate_error": 1, "solved": 1}),
    ("valid_but_wrong", {"solved": 1}),
    ("valid_but_wrong", {"goal_already_true": 1}),
    ("solver_abort", {"unsolvable": 1}),
    ("solver_abort", {"answered": 1, "timeout": 1}),
    ("solver_abort", {"translate_error": 1}),
    ("solver_abort", {"no_json": 1}),
    ("success_at_start", {}),
]
VERDICTS = ("equivalent", "different", "not comparable")  # of the first three
ARM = ("environment=described", "method=formalizer", "decoding.layout=any")


def planted(runs: Path) -> None:
    notes = [{"equivalence": one} for one in VERDICTS] + [{}] * 6
    rows = [
        row(outcome, game, causes=causes, notes=notes[game])
        for game, (outcome, causes) in enumerate(ROWS)
    ]
    plant_rows(runs, composed(*ARM, "decoding=typed"), rows, "0-8")
    plant(runs, *ARM, "decoding=free", outcomes=dict.fromkeys(range(9), "solver_abort"))


def test_columns_are_nested_and_trivial_worlds_stand_apart(tmp_path: Path) -> None:
    planted(tmp_path)
    (_, rows), *_ = result_tables(report_numbers(find_cells([tmp_path])))
    free, typed = sorted(rows, key=lambda one: one["decoding"])
    told = {name: typed[name].split(" %")[0] for name in COLUMNS}
    assert told == {
        "read": "87.5",
        "accepted": "75.0",
        "has plan": "50.0",
        "success": "25.0",
        "valid but wrong": "25.0",
        "equivalent to gold": "12.5",
    }
    assert free["read"].startswith("0.0 %")
    assert free["equivalent to gold"] == "–"  # no problem was compared


COLUMNS = (
    "read",
    "accepted",
    "has plan",
    "success",
    "valid but wrong",
    "equivalent to gold",
)


def test_other_environments_do_not_have_them(tmp_path: Path) -> None:
    plant(tmp_path, "decoding=typed", outcomes={0: "success"})
    (_, (only,)), *_ = result_tables(report_numbers(find_cells([tmp_path])))
    assert not ({*COLUMNS} - {"success"}) & only.keys()


def test_the_figure_of_the_price_is_drawn_for_described_worlds_alone(
    tmp_path: Path,
) -> None:
    planted(tmp_path / "described")
    plant(tmp_path / "coin", "decoding=typed", outcomes={0: "success", 1: "step_limit"})
    plant(
        tmp_path / "coin", "decoding=free", outcomes={0: "step_limit", 1: "step_limit"}
    )
    for name, there in (("described", True), ("coin", False)):
        out = tmp_path / f"{name} figures"
        out.mkdir()
        figures = draw_figures(series_of(find_cells([tmp_path / name])), out)
        assert ("formalized" in figures) is there
        assert (out / "formalized.svg").exists() is there

"""The arms of the experiment "mechanism", as they are composed."""

from pathlib import Path
from typing import Any

import pytest

from pddlego_local.decoding.settings import Decoding
from pddlego_local.report.arms import contrasts, groups
from pddlego_local.report.cells import find_cells
from pddlego_local.runner.config import CellConfig, compose_cell
from tests.planted import plant_rows, swept
from tests.rows import row

OTHERS = (
    "ceiling",
    "first_evening",
    "nano",
    "nano_edit",
    "constraining_hurts",
    "sample",
    "workstation",
)


@pytest.fixture(scope="module", params=["mechanism", "mechanism_edit"])
def cells(request: pytest.FixtureRequest) -> list[CellConfig]:
    return [compose_cell(cell) for cell in swept(request.param)]


def test_every_arm_can_be_composed_and_is_another_one(cells: list[CellConfig]) -> None:
    decodings = [cell.build("decoding") for cell in cells]
    assert len({cell.cell for cell in cells}) == len(cells)
    assert all(decoding.temperature > 0 for decoding in decodings)
    arms = {
        said(cell, decoding) for cell, decoding in zip(cells, decodings, strict=True)
    }
    each = {"", "draft"}
    assert arms >= {(rung, what) for rung in ("typed", "grounded") for what in each}
    assert arms >= {
        ("typed", "any"),
        ("free", ""),
        ("free", "again"),
        ("free", "typed"),
        ("free", "grounded"),
        ("free", "repair typed"),
        ("free", "repair grounded"),
    }


def test_two_comparisons_are_primary_and_six_secondary(
    cells: list[CellConfig], tmp_path: Path
) -> None:
    for cell in cells:
        plant_rows(tmp_path, cell, [row("success", 300, calls=1)], "300")
    found = groups(contrasts(find_cells([tmp_path])), cells[0].settings.compare or ())
    asked = {
        role: [
            f"{one.base.name(one.factor)} → {one.other.name(one.factor)}"
            for (one,) in found[role]
        ]
        for role in ("primary", "secondary")
    }
    assert asked["primary"] == ["free → grounded", "free + repair grounded → grounded"]
    assert len(asked["secondary"]) == 6


def said(cell: CellConfig, decoding: Decoding) -> tuple[str, str]:
    """The rung, and what sets the arm apart."""
    free = decoding.rung == "free"
    apart: dict[str, Any] = {
        "draft": decoding.reason == "draft",
        "any": decoding.layout == "any" and not free,
        f"repair {decoding.repair}": decoding.repair != "none",
        "again": cell.tree["method"]["max_retries"] == 5
        and decoding.feedback == "explained",
        str(decoding.reject and decoding.reject.rung): decoding.reject is not None,
    }
    (what,) = [name for name, holds in apart.items() if holds] or [""]
    return decoding.rung, what


def test_an_arm_without_rejection_has_the_name_that_it_had() -> None:
    free = compose_cell(["decoding=free"]).cell
    assert compose_cell(["decoding=free", "decoding.reject=null"]).cell == free
    rejecting = compose_cell(["decoding=free", "decoding.reject={rung:typed,tries:4}"])
    assert rejecting.cell != free
    rejecting.check()


def test_its_games_are_of_no_other_experiment(cells: list[CellConfig]) -> None:
    for other in OTHERS:
        games = compose_cell([f"experiment={other}"]).settings.games
        assert not set(games) & set(cells[0].settings.games)


def test_the_games_in_alfworld_are_the_first_twelve_of_each_floor_plan() -> None:
    config = compose_cell(["experiment=mechanism_edit", "arm=mechanism/free"])
    games, environment = config.settings.games, config.build("environment")
    found = dict[str, list[int]]()
    for seed in range(300, max(games) + 1):
        found.setdefault(environment._find(seed).floor_plan, []).append(seed)
    assert len(found) == 12 and not any(
        "+slice" in kind for kind in environment.task_types
    )
    assert sorted(games) == sorted(
        seed for seeds in found.values() for seed in seeds[:12]
    )

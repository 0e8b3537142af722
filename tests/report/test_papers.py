"""The papers' protocols: every cell of every file composes, and is played with perfect
answers. And the public runs on open weights, ready to be repeated.
"""

from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import find_cells
from pddlego_local.report.papers import HERE, Row, paper_results
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cell
from tests.planted import swept

# Cells and episodes of one model, as the papers played them; and what is played of each
# here: rooms, seeds and (to the reference) prompts change no code.
PAPERS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "paper/pddlego": (12, 12 * 50, ()),
    "paper/pddlego_seeds": (10, 10 * 10, ("seed=4",)),
    "paper/pddlego_plus": (15, 3 * 100, ("environment.rooms=5",)),
    "paper/pddlego_plus_prompts": (20, 4 * 100, ("environment.rooms=3",)),
    "paper/pddlego_plus_domain": (5, 100, ("environment.rooms=7",)),
    "paper/pddlego_plus_alfworld": (2, 2 * 100, ()),
    "paper/pddlego_plus_alfworld_plangen": (1, 100, ()),
    "paper/pddlego_plus_prompts_alfworld": (
        4,
        4 * 100,
        ("method.variant=simple_hint",),
    ),
    "paper/pddlego_plus_domain_alfworld": (1, 100, ()),
    "paper/deps": (
        20,
        4 * 10 * 5,
        ("seed=4", "hydra.sweeper.params.method='deps,inner_monologue'"),
    ),
    "paper/fcrf": (2, 2 * 134 * 10, ()),
}
IN_ALFWORLD = {"paper/deps", "paper/fcrf"}  # the others say so in their names
REPLICATED = {  # of whom the report must show a number beside ours, and which
    "replicate/qwen3_32b": ("pddlego_plus", "Qwen3-32B", (0.63, 0.69)),
    "replicate/qwen3_32b_plangen": ("plangen", "Qwen3-32B", (0.68, 0.73)),
    "replicate/qwen3_8b": ("pddlego_plus", "Qwen3-8B", (0.27, 0.27)),
    "replicate/olmo3": ("pddlego_plus", "Olmo-3-32B-Think", (0.04, 0.05)),
    "replicate/olmo3_plangen": ("plangen", "Olmo-3-32B-Think", (0.65, 0.75)),
}
BY_RULES = "model=reference"
NEAR = "7,11"  # games whose coin PlanGen, too, finds in 20 actions


def only_cell(experiment: str, *overrides: str) -> CellConfig:
    (cell,) = swept(experiment, *overrides)
    return compose_cell(cell)


def play(config: CellConfig) -> list[EpisodeRow]:
    result = run_cell(config)
    assert result.faults == []
    return read_rows(result.folder / "episodes.jsonl")


def test_every_protocol_is_told_of_here() -> None:
    experiments = folder("conf") / "experiment"
    files = [
        *experiments.glob("paper/[!_]*.yaml"),
        *experiments.glob("replicate/[!_]*.yaml"),
    ]
    names = {f"{file.parent.name}/{file.stem}" for file in files}
    assert names == {*PAPERS, *REPLICATED}


@pytest.mark.parametrize("experiment", PAPERS)
def test_every_cell_composes_and_asks_for_the_papers_number_of_episodes(
    experiment: str,
) -> None:
    composed = [compose_cell(cell) for cell in swept(experiment, BY_RULES)]
    episodes = sum(
        len(config.settings.games) * config.settings.trials for config in composed
    )
    assert (len(composed), episodes) == PAPERS[experiment][:2]
    assert len({config.cell for config in composed}) == len(composed)


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(name, marks=[pytest.mark.alfworld] * (name in IN_ALFWORLD))
        for name in PAPERS
    ],
)
def test_two_games_of_a_cell_are_won_with_perfect_answers(
    experiment: str, tmp_path: Path
) -> None:
    """Of each cell. Only chance may lose."""
    *_, overrides = PAPERS[experiment]
    played = swept(experiment, BY_RULES, *overrides)
    if "_domain" in experiment:
        before = experiment.replace("_domain", "")
        played = [*swept(before, BY_RULES, "method=pddlego_plus", *overrides), *played]
    for cell in played:
        config = compose_cell(
            [*cell, f"run.out={tmp_path}", "games=0-1", "run.concurrency=1"]
        )
        rows = play(config)
        assert {(row.game, row.trial) for row in rows} == {
            (game, trial) for game in (0, 1) for trial in range(config.settings.trials)
        }
        if config.labels["method"] != "random_policy":
            assert all(row.won for row in rows), config.cell


@pytest.mark.parametrize("experiment", [name for name in PAPERS if "_domain" in name])
def test_a_fixed_domain_is_refused_before_anything_was_won(
    experiment: str, tmp_path: Path
) -> None:
    config = compose_cell([*swept(experiment, BY_RULES)[0], f"run.out={tmp_path}"])
    with pytest.raises(
        ConfigError, match=rf"method\.domains={tmp_path}.*no won episode"
    ):
        config.check()


def others(out: Path) -> list[Row]:
    results = paper_results(find_cells([out]))
    assert [row["source"] for row in results].count(HERE) == 1
    public = [row for row in results if row["source"] == "public runs"]
    return [row for row in public if not row["domain"]]


@pytest.mark.parametrize("experiment", REPLICATED)
def test_perfect_answers_win_and_the_public_number_stands_beside(
    experiment: str, tmp_path: Path
) -> None:
    config = only_cell(experiment, BY_RULES, f"games={NEAR}", f"run.out={tmp_path}")
    assert [row.won for row in play(config)] == [True, True]
    method, model, success = REPLICATED[experiment]
    (beside,) = (row for row in others(tmp_path) if row["model"] == model)
    lowest, highest = beside["success"], beside["highest"] or beside["success"]
    assert (lowest, highest) == pytest.approx(success)
    assert beside["method"] == config.labels["method"] == method
    budget = config.tree["environment"]["budget"]
    assert beside["budget"] == f"{budget['limit']} {budget['unit']}"


def test_the_games_are_those_that_are_not_trivial(tmp_path: Path) -> None:
    """Of the seeds from the first to the last, as the public runs skipped them."""
    chosen = only_cell("replicate/qwen3_32b", BY_RULES).settings.games
    assert len(chosen) == 100
    skipped = sorted(set(range(max(chosen) + 1)) - set(chosen))
    games = f"games={','.join(map(str, [*skipped, 0, 106]))}"
    rows = play(
        only_cell("replicate/qwen3_32b", BY_RULES, games, f"run.out={tmp_path}")
    )
    assert (
        sorted(row.game for row in rows if row.outcome == "success_at_start") == skipped
    )
    assert set(only_cell("replicate/qwen3_8b", BY_RULES).settings.games) < set(chosen)

"""The public runs on open weights, ready to be repeated: played with perfect answers, and by random
weights in each model's shape.
"""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from pddlego_local.core.outcomes import CAUSES
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import find_cells
from pddlego_local.report.papers import Result, paper_results
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.overrides import quote_games
from pddlego_local.runner.run import run_cell
from pddlego_local.runner.sweep import cells_of
from tests.models.families import make_family

FILES = sorted(path.stem for path in (folder("conf") / "experiment").glob("replicate_*.yaml"))
PUBLISHED = {  # of whom the report must show a number beside ours, and which
    "replicate_qwen3_32b": ("pddlego_plus", "Qwen3-32B", (0.63, 0.69)),
    "replicate_qwen3_32b_plangen": ("plangen", "Qwen3-32B", (0.68, 0.73)),
    "replicate_qwen3_8b": ("pddlego_plus", "Qwen3-8B", (0.27, 0.27)),
    "replicate_olmo3": ("pddlego_plus", "Olmo-3-32B-Think", (0.04, 0.05)),
    "replicate_olmo3_plangen": ("plangen", "Olmo-3-32B-Think", (0.65, 0.75)),
}
NEAR = "7,11"  # games whose coin PlanGen, too, finds in 20 actions
LIMIT = 12  # tokens of an answer


def only_cell(experiment: str, *overrides: str) -> CellConfig:
    """Each of these experiments is one cell."""
    wanted = [f"experiment={experiment}", *overrides]
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        (cell,) = cells_of(compose("config", quote_games(wanted), return_hydra_config=True))
    return compose_cell(cell)


def play(config: CellConfig) -> list[EpisodeRow]:
    result = run_cell(config)
    assert result.faults == []
    return read_rows(result.folder / "episodes.jsonl")


def others(out: Path) -> list[Result]:
    results = paper_results(find_cells([out]))
    assert sum(one.ours and not one.group for one in results) == 1
    return [one for one in results if one.source == "public runs" and not one.domain]


def test_every_replication_is_told_of_here() -> None:
    assert set(FILES) == PUBLISHED.keys()


@pytest.mark.parametrize("experiment", FILES)
def test_perfect_answers_win_and_the_public_number_stands_beside(
    experiment: str, tmp_path: Path
) -> None:
    config = only_cell(experiment, "model=reference", f"games={NEAR}", f"run.out={tmp_path}")
    assert [row.won for row in play(config)] == [True, True]
    method, model, success = PUBLISHED[experiment]
    (beside,) = (one for one in others(tmp_path) if (one.method, one.model) == (method, model))
    assert (beside.lowest, beside.highest) == pytest.approx(success)
    assert config.labels["method"] == method
    budget = config.tree["environment"]["budget"]
    assert beside.budget == f"{budget['limit']} {budget['unit']}"


def test_the_games_are_those_that_are_not_trivial(tmp_path: Path) -> None:
    """Of the seeds from the first to the last, as the public runs skipped them."""
    config = only_cell("replicate_qwen3_32b", "model=reference")
    chosen = config.settings.games
    assert len(chosen) == 100
    skipped = sorted(set(range(max(chosen) + 1)) - set(chosen))
    games = f"games={','.join(map(str, [*skipped, 0, 106]))}"
    override = ["model=reference", games, f"run.out={tmp_path}"]
    rows = play(only_cell("replicate_qwen3_32b", *override))
    assert sorted(row.game for row in rows if row.outcome == "success_at_start") == skipped
    assert set(only_cell("replicate_qwen3_8b", "model=reference").settings.games) < set(chosen)


@pytest.fixture(scope="session")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Model folders of two narrow layers and random weights, by family."""
    place = tmp_path_factory.mktemp("shaped")
    return {family: make_family(place / family, family) for family in ("qwen3", "olmo3")}


@pytest.mark.parametrize("experiment", FILES)
def test_random_weights_in_the_models_shape_play_a_game(
    experiment: str, shaped: dict[str, Path], tmp_path: Path
) -> None:
    """Cut after a few tokens: each answer is the model's failure, none is ours."""
    model = ["model=transformers", f"model.weights={shaped[experiment.split('_')[1]]}"]
    model += ["model.dtype=float32", "model.context_tokens=16384", "model.engine.device=cpu"]
    config = only_cell(
        experiment, *model, "games=0", f"decoding.max_tokens={LIMIT}", f"run.out={tmp_path}"
    )
    (row,) = play(config)
    asked = {"pddlego_plus": ("solver_abort", 6), "plangen": ("simulation_abort", 5)}
    assert (row.outcome, row.calls) == asked[config.labels["method"]]
    assert {CAUSES[cause].blame for cause in row.causes} == {"model"}
    assert sum(row.causes.values()) == row.calls
    assert 0 < row.completion_tokens <= row.calls * LIMIT

"""The papers' protocols: every cell of every file composes, and is played with perfect answers."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from pddlego_local.runner.sweep import cells_of

FILES = {path.stem: path for path in (folder("conf") / "experiment").glob("paper_*.yaml")}
# What is played of each: rooms, seeds and (to the reference) prompts change no code.
PLAYED: dict[str, tuple[str, ...]] = {
    "paper_pddlego": (),
    "paper_pddlego_seeds": ("seed=4",),
    "paper_pddlego_plus": ("environment.rooms=5",),
    "paper_pddlego_plus_prompts": ("environment.rooms=3",),
    "paper_pddlego_plus_domain": ("environment.rooms=7",),
    "paper_pddlego_plus_alfworld": (),
    "paper_pddlego_plus_alfworld_plangen": (),
    "paper_pddlego_plus_prompts_alfworld": ("method.variant=simple_hint",),
    "paper_pddlego_plus_domain_alfworld": (),
    "paper_deps": ("seed=4", "hydra.sweeper.params.method='deps,inner_monologue'"),
    "paper_fcrf": (),
}
IN_ALFWORLD = {"paper_deps", "paper_fcrf"}  # the others say so in their names
EPISODES = {  # cells and episodes of one model: what the papers played
    "paper_pddlego": (12, 12 * 50),
    "paper_pddlego_seeds": (10, 10 * 10),
    "paper_pddlego_plus": (15, 3 * 100),
    "paper_pddlego_plus_prompts": (20, 4 * 100),
    "paper_pddlego_plus_domain": (5, 100),
    "paper_pddlego_plus_alfworld": (2, 2 * 100),
    "paper_pddlego_plus_alfworld_plangen": (1, 100),
    "paper_pddlego_plus_prompts_alfworld": (4, 4 * 100),
    "paper_pddlego_plus_domain_alfworld": (1, 100),
    "paper_deps": (20, 4 * 10 * 5),
    "paper_fcrf": (2, 2 * 134 * 10),
}


def cells(experiment: str, *overrides: str) -> list[list[str]]:
    """The overrides of each cell, with the rule-based reference in the models' place."""
    wanted = [f"experiment={experiment}", "model=reference", *overrides]
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        return cells_of(compose("config", wanted, return_hydra_config=True))


def play(out: Path, experiment: str, *overrides: str) -> None:
    """Two games of each cell. Only chance may lose."""
    for cell in cells(experiment, *overrides):
        config = compose_cell([*cell, f"run.out={out}", "games=0-1", "run.concurrency=1"])
        rows = read_rows(run_cell(config).folder / "episodes.jsonl")
        assert {(row.game, row.trial) for row in rows} == {
            (game, trial) for game in (0, 1) for trial in range(config.settings.trials)
        }
        if config.labels["method"] != "random_policy":
            assert all(row.won for row in rows), config.cell


@pytest.mark.parametrize("experiment", FILES)
def test_every_cell_composes_and_asks_for_the_papers_number_of_episodes(experiment: str) -> None:
    composed = [compose_cell(cell) for cell in cells(experiment)]
    episodes = sum(len(config.settings.games) * config.settings.trials for config in composed)
    assert (len(composed), episodes) == EPISODES[experiment]
    assert len({config.cell for config in composed}) == len(composed)


@pytest.mark.parametrize(
    "experiment",
    [pytest.param(name, marks=[pytest.mark.alfworld] * (name in IN_ALFWORLD)) for name in FILES],
)
def test_two_games_of_a_cell_are_won_with_perfect_answers(experiment: str, tmp_path: Path) -> None:
    overrides = PLAYED[experiment]
    if "_domain" in experiment:
        before = experiment.replace("_domain", "")
        play(tmp_path, before, "method=pddlego_plus", *overrides)
    play(tmp_path, experiment, *overrides)


@pytest.mark.parametrize("experiment", [name for name in FILES if "_domain" in name])
def test_a_fixed_domain_is_refused_before_anything_was_won(experiment: str, tmp_path: Path) -> None:
    config = compose_cell([*cells(experiment)[0], f"run.out={tmp_path}"])
    with pytest.raises(ConfigError, match=rf"method\.domains={tmp_path}.*no won episode"):
        config.check()

"""inspect_ai's numbers agree with the table of rewards if a mock model gives its
answers.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from pddlego_inspect import games

from tests.rewards import Row, groups

MODEL = "mockllm/model"


@pytest.mark.parametrize(("options", "table"), list(groups()))
def test_an_evaluation_has_the_numbers_of_the_table(
    options: dict[str, Any], table: list[Row], tmp_path: Path
) -> None:
    ended = [row for row in table if row.outcome]
    answers = [
        ModelOutput.from_content(MODEL, text) for row in ended for text in row.texts
    ]
    for answer in answers:
        answer.usage = (
            ModelUsage()
        )  # without it, a tokenizer is downloaded to count tokens
    model = get_model(MODEL, custom_outputs=answers, memoize=False)
    (log,) = evaluate(
        "pddlego_inspect/games",
        task_args={"seeds": [row.game for row in ended], **options},
        model=model,
        max_samples=1,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.samples
    assert log.results
    for row, sample in zip(ended, log.samples, strict=True):
        score = (sample.scores or {})["earned"]
        assert score.metadata is not None
        rewards = [round(reward, 6) for reward in score.metadata["rewards"]]
        assert sample.id == row.game
        assert rewards == row.rewards
        assert score.explanation == row.outcome
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    won = sum(row.outcome == "success" for row in ended)
    total = sum(sum(row.rewards) for row in ended)
    assert means == pytest.approx(
        {"won": won / len(ended), "reward": total / len(ended)}
    )


def test_without_seeds_the_games_are_those_to_evaluate_on() -> None:
    task = games(number=2, environment="coin", environment__rooms=4)
    assert len(task.dataset) == 2


def test_the_package_has_the_layout_of_an_evaluation() -> None:
    root = Path(__file__).parents[1]
    lint = [sys.executable, "-m", "inspect_evals_lint", "pddlego_inspect"]
    done = subprocess.run(
        [*lint, "--root", str(root)], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout
    assert "18 passed" in done.stdout

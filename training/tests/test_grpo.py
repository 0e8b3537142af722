"""Reinforcement in small: what the loss is computed from, one step, and an
interruption.

Some minutes.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from pddlego_training import grpo
from pddlego_training.settings import GrpoSettings, compose_settings
from rich.console import Console
from safetensors.torch import load_file

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.weights import training_maps

QUIET = Console(quiet=True)
SMALL = ("updates=3", "houses=2", "group=3", "model_every=1", "processes=1")


def begun(out: Path, rung: str) -> grpo.Reinforcement:
    return grpo.Reinforcement(
        compose_settings(GrpoSettings, "grpo", [*SMALL, f"rung={rung}", f"out={out}"])
    )


@pytest.mark.parametrize("rung", ["free", "grounded"])
def test_the_loss_uses_the_probabilities_that_tokens_were_drawn_with(
    rung: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a step makes the rewarded answer more likely."""
    drawn, draw = list[float](), torch.multinomial

    def noted(likely: torch.Tensor, *given: Any, **options: Any) -> torch.Tensor:
        token = draw(likely, *given, **options)
        drawn.append(float(likely[0, token].log()))
        return token

    trained = begun(tmp_path, rung)
    monkeypatch.setattr(torch, "multinomial", noted)
    group = grpo.play(trained.settings, 200_007)
    texts = [text for answer in group for text in answer.texts]
    assert (len(texts) > len(group)) == (
        rung == "grounded"
    )  # it has texts that were rolled back

    def likely() -> list[float]:
        with torch.no_grad():
            return torch.cat(
                [grpo.log_probabilities(trained.model, t) for t in texts]
            ).tolist()

    before = likely()
    assert before == pytest.approx(drawn, abs=1e-3)
    trained.learn([[one._replace(reward=float(one is group[0])) for one in group]])
    first = sum(len(text.sampled) for text in group[0].texts)
    assert sum(likely()[:first]) > sum(before[:first])


def test_a_training_that_is_killed_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    lines = tmp_path / "killed" / "progress.jsonl"
    whole = begun(tmp_path / "whole", "free").carry_out(QUIET)
    module = (sys.executable, "-m", "pddlego_training")
    process = subprocess.Popen(
        [*module, "grpo", *SMALL, "rung=free", f"out={lines.parent}"],
        start_new_session=True,
    )
    while (
        not lines.is_file() or len(lines.read_text(encoding="utf-8").splitlines()) < 2
    ):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    killed = begun(lines.parent, "free").carry_out(QUIET)
    assert (whole.name, killed.name) == ("whole-update-3", "killed-update-3")
    once, other = (
        load_file(folder / "model.safetensors") for folder in (whole, killed)
    )
    assert all(once[name].equal(other[name]) for name in once)
    assert training_maps(str(killed)) > training_maps("nano_early")


def test_a_task_is_drawn_on_the_rung_of_its_training() -> None:
    settings = compose_settings(GrpoSettings, "grpo", ["rung=typed"])
    assert "decoding=typed" in settings.task


@pytest.mark.parametrize(
    "wrong", ["rung=none", "group=1", "seed=20", "rooms=7", "rooms"]
)
def test_a_wrong_setting_of_a_reinforcement_is_named(wrong: str) -> None:
    name = wrong.partition("=")[0]
    with pytest.raises(ConfigError, match=rf"\A{name}(=|: th(ere|is) is no)"):
        compose_settings(GrpoSettings, "grpo", ["rung=free", wrong])

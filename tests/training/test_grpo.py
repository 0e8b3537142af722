"""Reinforcement in small: what the loss is computed from, one step, and an interruption.

Some minutes.
"""

import os
import signal
import time
from pathlib import Path

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from pddlego_local.models.weights import locate, training_maps
from pddlego_local.training import grpo
from pddlego_local.training.settings import compose_grpo
from tests.processes import start

SMALL = ("updates=3", "houses=2", "group=3", "model_every=1", "processes=1", "learning_rate=1e-3")


def begun(out: Path, rung: str) -> grpo.Reinforcement:
    return grpo.Reinforcement(compose_grpo("grpo", [*SMALL, f"rung={rung}", f"out={out}"]))


@pytest.mark.parametrize("rung", ["free", "grounded"])
def test_the_loss_uses_the_probabilities_that_tokens_were_drawn_with(
    rung: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a step makes the rewarded answer more likely than the others."""
    drawn, draw = list[float](), torch.multinomial

    def noted(likely: torch.Tensor, number: int = 1, **options: torch.Generator) -> torch.Tensor:
        token = draw(likely, num_samples=options.pop("num_samples", number), **options)  # type: ignore[call-overload]
        drawn.append(float(likely[0, token].log()))
        return token

    trained = begun(tmp_path, rung)
    monkeypatch.setattr(torch, "multinomial", noted)
    group = grpo.play(trained.settings, 200_007)
    texts = [text for answer in group for text in answer.texts]
    assert (len(texts) > len(group)) == (rung == "grounded")  # with what was rolled back

    def likely() -> list[float]:
        with torch.no_grad():
            return torch.cat([grpo.log_probabilities(trained.model, t) for t in texts]).tolist()

    before = likely()
    assert before == pytest.approx(drawn, abs=1e-3)
    rewarded = [answer._replace(reward=float(answer is group[0])) for answer in group]
    trained.learn([rewarded])
    count = sum(len(text.sampled) for text in group[0].texts)
    assert sum(likely()[:count]) > sum(before[:count])
    assert sum(likely()[count:]) < sum(before[count:])


def test_a_training_that_is_killed_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    console, lines = Console(quiet=True), tmp_path / "killed" / "progress.jsonl"
    whole = begun(tmp_path / "whole", "free").carry_out(console)
    words = ("train", "grpo", *SMALL, "rung=free", f"out={lines.parent}")
    with start(*words) as process:
        while not lines.is_file() or len(lines.read_text().splitlines()) < 2:
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    killed = begun(lines.parent, "free").carry_out(console)
    first, once, other = (
        load_file(locate(str(folder)) / "model.safetensors")
        for folder in (whole.with_name("update-1"), whole, killed)
    )
    assert all(once[name].equal(other[name]) for name in once)
    assert not all(once[name].equal(first[name]) for name in once)
    assert training_maps(str(killed)) > training_maps("nano_early")

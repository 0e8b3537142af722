"""The small model for described worlds that ships: what it makes of worlds it has not
seen.
"""

from pathlib import Path

import pytest

import pddlego_local
from pddlego_local.cli import run
from pddlego_local.models.weights import training_maps


@pytest.mark.parametrize(("world", "least"), [("blocksworld", 6), ("logistics", 4)])
def test_it_formalizes_worlds_that_it_has_not_seen(
    world: str, least: int, tmp_path: Path
) -> None:
    """Of eight, under a grammar, with plans that gold accepts."""
    options = [
        "model=nano_described",
        "environment=described",
        f"environment.world={world}",
    ]
    options += ["environment.sizes=[5,8]", "method=formalizer", "planner=lama_first"]
    options += ["decoding=typed", "decoding.temperature=0", "decoding.max_tokens=1500"]
    assert run(["run", *options, "games=0-7", f"run.out={tmp_path}"]) == 0
    frame = pddlego_local.load(tmp_path)
    assert len(frame) == 8 and not frame["map_seen"].any()
    assert training_maps("nano_described").isdisjoint(frame["map"])
    assert frame["success"].sum() >= least

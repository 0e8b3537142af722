"""Cells keep their names, so that records of earlier versions go on. The names below are those of
commit e66fd8e, the last one before some options were removed."""

import hashlib
import re

import pytest
from hydra import compose, initialize_config_dir

from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.sweep import cells_of

# A name, and the overrides that it is composed from.
CELLS = """
coin-pddlego_plus-reference-syntax-s0-1d17f3bf
coin-pddlego_plus-random-json-s0-510818ea
    model=random decoding=json
coin-pddlego_plus-random-typed-s0-cfce002b
    model=random decoding=typed decoding.goal=unmet
coin-pddlego_plus-random_vllm-grounded-s0-6fdaf0d9
    model=random_vllm decoding=grounded decoding.layout=lines
coin-pddlego_plus-nano-signatures-s0-e7378783
    model=nano decoding=signatures decoding.best_of=4
coin-pddlego_plus-nano_vllm-free-s0-956273bb
    model=nano_vllm decoding=free decoding.feedback=explained
coin-pddlego_plus-qwen3_8b-syntax-s0-cd2ce5cf
    model=qwen3_8b decoding.reason=draft decoding.draft_tokens=500
coin-pddlego_plus-llama31_8b-typed-s0-1beb70b2
    model=llama31_8b decoding=typed +decoding.stage_tokens.objects=500
cooking_hard-pddlego_plus-nano-free_strict-s3-e8e4325b
    model=nano method.variant=compact decoding.temperature=0 environment=cooking_hard
    decoding=free_strict seed=3
alfworld-pddl_edit-nano_edit-syntax-s0-d7898091
    model=nano_edit environment=alfworld method=pddl_edit decoding.temperature=0
described-formalizer-reference-syntax-s0-254360b0
    environment=described method=formalizer planner=lama_first
"""
SWEEPS = {  # the first digits of a hash of all names
    "ceiling": "7064d4c64e93",
    "first_evening": "71bb0287d953",
    "nano": "5a5913997df5",
    "nano_described": "3a0d27feb346",
    "nano_edit": "dcd6eecb6feb",
    "paper_fcrf": "2b80e67ea430",
    "paper_pddlego_plus_alfworld": "3892bee5d5db",
    "replicate_qwen3_8b": "608164673b86",
    "sample": "264acaf9ed8a",
    "smoke": "a98a0c688238",
    "workstation_trials": "77faf05e45ac",
}


@pytest.mark.parametrize("cell", re.split(r"\n(?! )", CELLS.strip()))
def test_a_cell_keeps_its_name(cell: str) -> None:
    name, *overrides = cell.split()
    assert compose_cell(overrides).cell == name


@pytest.mark.parametrize(("experiment", "digest"), SWEEPS.items())
def test_the_cells_of_an_experiment_keep_their_names(experiment: str, digest: str) -> None:
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        sweep = compose("config", [f"experiment={experiment}"], return_hydra_config=True)
    names = "\n".join(sorted(compose_cell(cell).cell for cell in cells_of(sweep)))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == digest

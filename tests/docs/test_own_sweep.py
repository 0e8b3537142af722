"""The files of docs/use/own_sweep.md, as they stand: an experiment in about twenty
lines, and an arm. And the arms that fit one experiment say so where they are named
elsewhere.
"""

import re
from pathlib import Path

import pytest
import yaml

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego

PAGE = (Path(__file__).parents[2] / "docs" / "use" / "own_sweep.md").read_text(
    encoding="utf-8"
)
EXPERIMENT, ARM = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)
ARMS = folder("conf") / "arm"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    for name, text in (("experiment/retries", EXPERIMENT), ("arm/repaired", ARM)):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_an_experiment_with_its_arms_is_one_short_file(
    conf: Path, pddlego: Pddlego
) -> None:
    assert 15 <= len([line for line in EXPERIMENT.splitlines() if line]) <= 25
    words = (
        "run",
        f"--config-dir={conf}",
        "experiment=retries",
        "--dry-run",
        f"run.out={conf}",
    )
    said = pddlego(*words).out
    assert "cells: 6" in said and said.count("method.max_retries=5") == 3
    cell = compose_cell(["experiment=retries"], conf)
    assert list(map(str, cell.settings.compare or ())) == [
        "decoding.rung, free against grounded",
        "method.max_retries, 0 against each other value",
    ]
    compose_cell(["experiment=retries", "games=500", f"run.out={conf}"], conf).check()


def test_an_arm_of_ones_own_says_where_it_fits(conf: Path, pddlego: Pddlego) -> None:
    swept = yaml.safe_load(EXPERIMENT)
    swept["hydra"]["sweeper"]["params"] = {"arm": "repaired,mechanism/grounded"}
    path = conf / "experiment" / "retries.yaml"
    path.write_text(
        f"# @package _global_\n{yaml.safe_dump(swept, sort_keys=False)}",
        encoding="utf-8",
    )
    words = (
        "run",
        f"--config-dir={conf}",
        "experiment=retries",
        "--dry-run",
        f"run.out={conf}",
    )
    assert "cells: 2" in pddlego(*words).out
    with pytest.raises(
        ConfigError, match="arm=repaired is made for method=pddlego_plus or pddl_"
    ):
        compose_cell(["arm=repaired", "method=plangen"], conf).check()


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        *(
            (f"arm={path.relative_to(ARMS).with_suffix('')}", "environment=described")
            for path in sorted([*ARMS.glob("*.yaml"), *ARMS.glob("examples/*.yaml")])
            if "formalizer" in path.read_text(encoding="utf-8")
            or "examples/common" in path.read_text(encoding="utf-8")
        ),
        ("experiment=mechanism arm=repair_typed", "environment=described"),
        (
            "arm=pretrained/typed environment=described",
            "environment=coin or cooking or alfworld",
        ),
        ("experiment=mechanism arm=pretrained/typed", "method=pddl_edit"),
        ("arm=mechanism/typed method=plangen", "method=pddlego_plus or"),
    ],
)
def test_an_arm_that_fits_one_experiment_says_so_elsewhere(
    words: str, needed: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        compose_cell(words.split()).check()
    told = str(refused.value)
    assert re.match(rf"arm=\S+ is made for {re.escape(needed)}", told)
    assert "choose another" in told and "its file in conf/arm lists them" in told


@pytest.mark.parametrize("words", ["arm=mechanism/free", "arm=pretrained/typed"])
def test_other_arms_are_taken(words: str) -> None:
    compose_cell(words.split()).check()

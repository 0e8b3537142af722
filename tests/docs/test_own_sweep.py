"""The files of docs/use/own_sweep.md, as they stand: an experiment in about twenty
lines, and two arms. And the arms that fit one experiment say so where they are named
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
EXPERIMENT, REPAIRED, ASKED_AGAIN = re.findall(
    r"^```yaml\n(.*?)^```", PAGE, re.M | re.S
)
ARMS = folder("conf") / "arm"
MECHANISM = Path(__file__).parents[2] / "docs" / "results" / "mechanism" / "conf"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    files = {
        "experiment/retries": EXPERIMENT,
        "arm/repaired": REPAIRED,
        "arm/asked_again": ASKED_AGAIN,
    }
    for name, text in files.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
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
    assert "cells: 6" in said and said.count("method.rounds=5") == 3
    cell = compose_cell(["experiment=retries"], conf)
    assert list(map(str, cell.settings.compare or ())) == [
        "decoding.rung, free against grounded",
        "method.rounds, 0 against each other value",
    ]
    compose_cell(["experiment=retries", "games=500", f"run.out={conf}"], conf).check()


def test_an_arm_of_ones_own_says_where_it_fits(conf: Path, pddlego: Pddlego) -> None:
    swept = yaml.safe_load(EXPERIMENT)
    swept["hydra"]["sweeper"]["params"] = {"arm": "repaired,asked_again"}
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


@pytest.mark.parametrize("arm", sorted(path.stem for path in ARMS.glob("*.yaml")))
def test_an_arm_that_fits_one_experiment_says_so_elsewhere(arm: str) -> None:
    with pytest.raises(ConfigError) as refused:
        compose_cell([f"arm={arm}"]).check()
    told = str(refused.value)
    assert told.startswith(f"arm={arm} is made for environment=described")
    assert "choose another" in told and "its file in conf/arm lists them" in told


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("arm=mechanism/typed method=plangen", "method=pddlego_plus or"),
        ("experiment=mechanism environment=described method=formalizer", "method="),
    ],
)
def test_the_arms_beside_a_page_say_so_too(words: str, needed: str) -> None:
    with pytest.raises(ConfigError, match=rf"arm=\S+ is made for {needed}"):
        compose_cell(["arm=mechanism/free", *words.split()], MECHANISM).check()


def test_an_arm_beside_a_page_is_taken() -> None:
    compose_cell(["arm=mechanism/free"], MECHANISM).check()

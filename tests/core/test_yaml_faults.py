"""What is wrong with a YAML file of a user's own, in one sentence."""

from pathlib import Path

import pytest

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import ConfigError
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

WRONG = CASES["wrong"]


@pytest.mark.parametrize("text", WRONG)
def test_the_line_and_what_to_write(text: str) -> None:
    with pytest.raises(ConfigError) as told:
        yaml_faults.load(text, "F")
    message, (line, remedy) = str(told.value), WRONG[text]
    assert message.startswith("F") and line in message and remedy in message
    assert "\n" not in message


@pytest.mark.parametrize("group", ["experiment", "arm", "model"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"b: c: d\n", "mine.yaml, line 1: this is not YAML (mapping values"),
        (b"a: 1\na: 2\n", "mine.yaml, line 2"),
        (b"x: \xff\xfe\n", "mine.yaml is not a text in UTF-8"),
        (b"x: ${bad\n", "write \\${"),
    ],
)
def test_a_configuration_of_ones_own(
    tmp_path: Path, pddlego: Pddlego, group: str, content: bytes, told: str
) -> None:
    (tmp_path / group).mkdir()
    (tmp_path / group / "mine.yaml").write_bytes(content)
    said = pddlego(
        "run", "--config-dir", tmp_path, f"{group}=mine", "--dry-run", code=2
    )
    assert told in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize("content", ["", "- a\n", "just a text\n", "name: x\n"])
def test_an_experiment_without_its_first_line(
    tmp_path: Path, pddlego: Pddlego, content: str
) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(content, "utf-8")
    words = ("run", "--config-dir", tmp_path, "experiment=mine", "--dry-run")
    assert "# @package _global_" in pddlego(*words, code=2).err

"""A path in place of the text of a file is named so, wherever texts are taken."""

import json
from pathlib import Path

import pytest

from pddlego_local import check, formalize, plan
from pddlego_local.core.errors import ConfigError
from pddlego_local.pddl.paths import path_in_place_of_text
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

PATHS = CASES["paths"]
TEXTS = CASES["texts"]
NEEDED = "is a path: give the content of the file in its place"


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_named_and_its_content_is_asked_for(path: str) -> None:
    assert NEEDED in path_in_place_of_text(path)
    messages = [fault.message for fault in check(path, path).faults]
    assert len(messages) == 2 and all(NEEDED in one for one in messages)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_not_called_a_path(text: str) -> None:
    assert path_in_place_of_text(text) == ""


def test_every_way_to_give_two_texts_says_so(tmp_path: Path, pddlego: Pddlego) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        '{"id": 1, "domain": "domain.pddl", "problem": "problem.pddl"}\n',
        encoding="utf-8",
    )
    for command in ("check", "plan"):
        printed = pddlego(command, "--jsonl", pairs).out
        assert f"`domain.pddl` {NEEDED}" in json.dumps(json.loads(printed))
    result = plan("domain.pddl", "problem.pddl")
    assert (result.outcome, result.message) == (
        "translate_error",
        f"domain: `domain.pddl` {NEEDED}",
    )
    for texts in (
        {"text": "puzzle.txt"},
        {"text": "A robot.", "domain": "domain.pddl"},
    ):
        with pytest.raises(ConfigError, match="is a path"):
            formalize(**texts, model="nano_worlds")

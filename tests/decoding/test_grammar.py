"""Faulty grammar files: each is refused with file, line and reason, by whichever reader
sees it.
"""

import shutil
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar
from pddlego_local.core.resources import folder
from pddlego_local.decoding.grammars import lark_text
from pddlego_local.decoding.grammars.lark_text import (
    accepts,
    decoder_verdict,
    load,
    validate,
)
from tests.questions import static_grammar
from tests.tables import table

CASES = table(__file__)


@pytest.mark.parametrize("name", ["domain", "problem", "syntax"])
def test_our_grammars_are_valid_and_self_contained(name: str) -> None:
    grammar = load(name)
    validate(grammar)
    assert grammar.text.startswith("start:")
    assert "%import" not in grammar.text
    assert load(name).sha256 == grammar.sha256


FAULTS = CASES["faults"]


@pytest.mark.parametrize(("part", "before", "after", "reason"), FAULTS)
def test_a_mistake_in_a_file_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    before: str,
    after: str,
    reason: str,
) -> None:
    shutil.copytree(folder("grammars"), tmp_path / "grammars")
    path = tmp_path / "grammars" / f"{part}.lark"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    monkeypatch.setattr(lark_text, "folder", tmp_path.joinpath)
    with pytest.raises(ConfigError, match=reason) as caught:
        validate(load("problem"))
    assert "\n" not in str(caught.value)


def test_a_missing_or_binary_part_and_an_unknown_name_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lark_text, "folder", lambda _: tmp_path)
    with pytest.raises(ConfigError, match=r"problem\.lark cannot be read"):
        load("problem")
    (tmp_path / "domain.lark").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"domain\.lark cannot be read"):
        load("domain")
    with pytest.raises(
        ConfigError, match=r"'pddl'; choose one of domain, problem, syntax"
    ):
        load("pddl")


@pytest.mark.parametrize("schema", ["", "{", "[1]", '{"type": "nope"}'])
def test_a_schema_that_is_none_is_refused(schema: str) -> None:
    with pytest.raises(ConfigError, match="Malformed grammar in the grammar 'answers'"):
        validate(Grammar("answers", "json_schema", schema))


def test_the_json_rung_takes_exactly_two_strings_in_order() -> None:
    grammar = static_grammar("json")
    assert grammar
    assert decoder_verdict(grammar, '{"df": "a\\n", "pf": ""}') == "accepted"
    assert decoder_verdict(grammar, '{"df": "a') == "unfinished"
    for text in (
        '{"pf": "a", "df": "b"}',
        '{"df": "a", "pf": "b", "x": "c"}',
        '{"df": "a"}',
        '{"df": "a", "pf": 1}',
        '{"df": "a\n", "pf": ""}',
        '["a", "b"]',
    ):
        assert decoder_verdict(grammar, text) == "rejected"


def test_an_enormous_text_is_only_rejected() -> None:
    blanks = "(define (domain d) " + " " * 200_000
    brackets = "(" * 200_000
    for text in (blanks, brackets, "a" * 1_000_000, '{"df": "' * 50_000):
        for name in ("domain", "syntax"):
            assert not accepts(load(name), text)

"""`pddlego read` says what is read from an answer, or why nothing is."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.episode.test_free_answers import DOMAIN, NAMES, PROBLEM, ROWS, answered
from tests.pddlego import Pddlego

JSON = '{{"df": "{}", "pf": "{}"}}'.format(NAMES["J_DOMAIN"], NAMES["J_PROBLEM"])
FENCES = f"```pddl\n{DOMAIN}\n\n{PROBLEM}\n```\n"
FORMAT = '{"df": "...", "pf": "..."}'


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    return tmp_path / "answer.txt"


def test_programs_get_what_a_run_would_have_read(
    answer: Path, pddlego: Pddlego
) -> None:
    problem = answer.with_name("problem.pddl")
    for row in ROWS:
        if "prompt" in row or "\ud800" in row["answer"] or "not offered" in row["name"]:
            continue  # what it cannot be told
        answer.write_bytes(row["answer"].encode())
        words = [answer, "--json", "--form", row.get("form", "pddl")]
        if row.get("cut"):
            words.append("--cut")
        if "thought" in row:
            words += ["--thought", *row["thought"]]
        if "problem" in row:
            problem.write_text(row["problem"], encoding="utf-8")
            words += ["--problem", problem]
        right = answered(row, "lenient")
        printed = pddlego("read", *words, code=0 if right.value else 1)
        found: dict[str, Any] = json.loads(printed.out)
        assert found.pop("fault") == right.fault
        if right.value:
            assert found == right.value.model_dump()
        else:
            assert found
            assert not any(found.values())


def test_a_reader_sees_the_files_and_where_they_were(
    answer: Path, pddlego: Pddlego
) -> None:
    answer.write_text(f"{FENCES}\nAs JSON that is {FORMAT}.\n", encoding="utf-8")
    assert pddlego("read", answer).out == (
        f"--- df\n{DOMAIN}\n--- pf\n{PROBLEM}\n---\n"
        "Read: PDDL in the text, lines 2 to 9.\n"
        "Not read: JSON, line 12: a placeholder.\n"
    )


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("No.", "", "no_json: The answer contained neither a JSON object"),
        ('{"plan": []}', "", "wrong_keys: The answer's JSON object had other keys"),
        ("", "", "empty: The answer, or a text in it, was empty"),
        (JSON[:-20], "--cut", "truncated: The answer was cut off."),
        (FORMAT + JSON[:-20], "--cut", "Not read: JSON, line 1: a placeholder."),
        (FORMAT, "", "placeholder: The answer contained placeholders"),
        (f"@@{JSON}", "--cut --thought @@ !!", "unfinished_thought: "),
        ("12", "--form command", 'Requested: {"action": "..."}'),
    ],
)
def test_it_says_why_nothing_was_read(
    answer: Path, pddlego: Pddlego, text: str, options: str, why: str
) -> None:
    answer.write_text(text, encoding="utf-8")
    assert why in pddlego("read", answer, *options.split(), code=1).out


def test_an_earlier_draft_is_named(answer: Path, pddlego: Pddlego) -> None:
    draft = JSON.replace("house", "shed")
    answer.write_text(f"{draft}\n{JSON}", encoding="utf-8")
    told = pddlego("read", answer).out
    assert "(domain house)" in told
    assert "(domain shed)" not in told
    assert "Not read: JSON, line 1: an earlier draft" in told


def test_standard_input_in_any_bytes(
    monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(b"\xff\x1b[31m" + JSON.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    pddlego("read", "-")


def test_bad_usage(answer: Path, pddlego: Pddlego) -> None:
    assert str(answer) in pddlego("read", answer, code=2).err
    for given in ["--form", "poem"], []:
        pddlego("read", *given, code=2)

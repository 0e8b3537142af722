"""How models write what they are asked for: what is read of it, and what is not (a
table).
"""

import json
import re
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from pddlego_local.core.nouns import Completion, Message
from pddlego_local.decoding.forms import FORMS, Fields, Form, choice
from pddlego_local.decoding.settings import Reading
from pddlego_local.episode.reading.answer import Answer, read_free

DOMAIN = """(define (domain house)
  (:predicates (at ?r)) ; no "places" yet
  (:action go :parameters (?r) :effect (at ?r)))"""
PROBLEM = """(define (problem p) (:domain house)
  (:objects kitchen)
  (:init)
  (:goal (at kitchen)))"""
FILES = {
    "DOMAIN": DOMAIN,
    "PROBLEM": PROBLEM,
    "OLD_DOMAIN": "(define (domain old) (:predicates (q)))",
    "OLD_PROBLEM": "(define (problem older) (:domain old) (:init) (:goal (q)))",
}


def in_string(text: str) -> str:
    return json.dumps(text)[1:-1]


NAMES = {
    **FILES,
    **{f"J_{name}": in_string(text) for name, text in FILES.items()},
    **{f"JJ_{name}": in_string(in_string(text)) for name, text in FILES.items()},
}


def with_files(value: Any) -> Any:
    if isinstance(value, str):
        return Template(value).safe_substitute(NAMES)
    if isinstance(value, dict):
        return {key: with_files(entry) for key, entry in value.items()}
    return [with_files(entry) for entry in value] if isinstance(value, list) else value


def rows(file: str) -> list[dict[str, Any]]:
    table = yaml.safe_load((Path(__file__).parent / file).read_text("utf-8"))
    return [
        {**with_files(row), "name": f"{group}: {row['name']}"}
        for group, rows in table.items()
        for row in rows
    ]


ROWS = [*rows("free_answers.yaml"), *rows("free_steps.yaml")]
BY_NAME = {form.name: form for form in FORMS} | {"choice": choice(12)}


def form_of(case: dict[str, Any]) -> Form[Fields]:
    return BY_NAME[case.get("form", "pddl")]


def answered(case: dict[str, Any], reading: Reading) -> Answer[Fields]:
    completion = Completion(
        case["answer"], "length" if case.get("cut") else "stop", 1, 1, 0.0
    )
    prompt = (Message("user", case["prompt"]),) if "prompt" in case else ()
    markers = tuple(case["thought"]) if "thought" in case else None
    problem = case.get("problem", "")
    return read_free(
        completion,
        form_of(case),
        reading=reading,
        prompt=prompt,
        markers=markers,
        problem=problem,
    )


def expected(case: dict[str, Any]) -> Any:
    return (
        {"df": DOMAIN, "pf": PROBLEM}
        if case.get("read") == "pair"
        else case.get("read")
    )


def trimmed(answer: Answer[Fields]) -> Any:
    """The blanks around a file are no part of it."""
    if answer.value is None:
        return None
    entries = answer.value.model_dump()
    return {k: v.strip() if isinstance(v, str) else v for k, v in entries.items()}


@pytest.mark.parametrize("case", ROWS, ids=lambda row: row["name"])
def test_what_is_read(case: dict[str, Any]) -> None:
    answer = answered(case, "lenient")
    assert (trimmed(answer), answer.fault) == (expected(case), case.get("fault", ""))


@pytest.mark.parametrize(
    "case", rows("strict_answers.yaml"), ids=lambda row: row["name"]
)
def test_what_is_read_strictly(case: dict[str, Any]) -> None:
    answer = answered(case, "strict")
    read = answer.value and answer.value.model_dump()
    assert (read, answer.fault) == (expected(case), case.get("fault", ""))


@pytest.mark.parametrize("case", ROWS, ids=lambda row: row["name"])
def test_how_much_of_it_the_strict_reader_reads(case: dict[str, Any]) -> None:
    """What it reads is read leniently too, and as the same, but for what is never to be
    read.
    """
    strictly = answered(case, "strict")
    same = "same" if strictly == answered(case, "lenient") else "other"
    assert case.get("strict", "nothing") == (same if strictly.value else "nothing")


def squashed(text: str) -> str:
    """What is left without blanks, and what strings and lists put between the lines of
    a text.
    """
    return re.sub(r"""\\+(?:[nrt]|u[0-9a-f]{4})|[\s\\"',+]""", "", text)


PDDL_ROWS = [row for row in ROWS if "form" not in row]


@pytest.mark.parametrize("case", PDDL_ROWS, ids=lambda row: row["name"])
def test_no_character_of_a_file_is_made_up(case: dict[str, Any]) -> None:
    for entry in (trimmed(answered(case, "lenient")) or {}).values():
        assert squashed(entry) in squashed(case["answer"])

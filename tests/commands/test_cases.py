"""Inputs rebuilt from public bug reports, and the right result of each: what is read from an
answer, and what is said of PDDL. Tokenizers with added tokens that spell PDDL are in
tests/models/test_added_tokens.py, sweeps in tests/runner/test_overrides.py."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.pddlego import Pddlego

CASES = Path(__file__).with_name("cases")
HOUSE = {
    "df": "(define (domain house)\n  (:predicates (at ?r) (door ?a ?b))\n"
    "  (:action go :parameters (?a ?b) :precondition (and (at ?a) (door ?a ?b)) "
    ":effect (and (at ?b) (not (at ?a)))))\n",
    "pf": "(define (problem p)\n  (:domain house)\n  (:objects k h)\n"
    "  (:init (at k) (door k h))\n  (:goal (at h)))\n",
}
WITH_COMMENTS = {
    "df": HOUSE["df"].replace("  (:action", "  ; <move>\n  (:action"),
    "pf": HOUSE["pf"].replace("  (:goal", "  ; goal: reach <room>\n  (:goal"),
}
FLAT = (
    "(define (problem flat)\n  (:domain house)\n  (:objects kitchen hall - location)\n"
    "  (:init (at kitchen) (connected kitchen hall))\n  (:goal (at hall)))\n"
)
HALL = {
    "objects": {"add": ["hall - location"], "replace": {}, "delete": []},
    "init": {"add": ["(connected kitchen hall)"], "replace": {}, "delete": []},
}
READ: dict[str, tuple[str, dict[str, Any] | str]] = {  # the form; the value, or the fault
    "command_bullet": ("command", {"action": "go to shelf 1"}),
    "command_numbered": ("command", {"action": "go to shelf 1"}),
    "command_react_halluc": ("command", {"action": "go to shelf 1"}),
    "command_underscore": ("command", {"action": "go to living_room"}),
    "edit_unquoted_goal": ("edit", HALL),
    "read_excerpt_after": ("pddl", HOUSE),
    "read_fence_eats_paren": ("problem", {"pf": FLAT}),
    "read_harmony": ("pddl", HOUSE),
    "read_magistral": ("pddl", HOUSE),
    "read_magistral_cut": ("pddl", "unfinished_thought"),
    "read_tag_in_comment": ("pddl", WITH_COMMENTS),
    "read_template_problem_after": ("pddl", HOUSE),
}
CHECKED = {  # what is said, and whether the planner's translator takes it
    "bom": (r"U\+FEFF \(byte order mark\)", 1),
    "comma_objects": (r"`o` is used in `:init` but is declared as `o,`", 1),
}


def test_no_case_is_left_out() -> None:
    assert {path.stem for path in CASES.iterdir()} == READ.keys() | CHECKED.keys()


@pytest.mark.parametrize("name", READ)
def test_an_answer_is_read_as_it_is_meant(name: str, pddlego: Pddlego) -> None:
    form, meant = READ[name]
    cut = ["--cut"] * name.endswith("_cut")
    words = ["--form", form, "--json", *cut, CASES / f"{name}.txt"]
    faulty = isinstance(meant, str)
    read = json.loads(pddlego("read", *words, code=int(faulty)).out)
    assert read.pop("fault") == (meant if faulty else "")
    assert faulty or read == meant


@pytest.mark.parametrize("name", CHECKED)
def test_the_check_says_what_is_wrong(name: str, pddlego: Pddlego) -> None:
    said, code = CHECKED[name]
    pair = [CASES / name / file for file in ("domain.pddl", "problem.pddl")]
    assert re.search(said, pddlego("check", *pair, code=code).out)
    assert "translate_error" in pddlego("plan", *pair, code=1).out

"""One name is declared as one thing: what a rung accepts, what the planner reads."""

from dataclasses import replace

import pytest

from pddlego_local.decoding.forms import DOMAIN as DOMAIN_ALONE
from pddlego_local.decoding.forms import (
    PDDL,
    PROBLEM,
    DomainFile,
    Fields,
    Pddl,
    Problem,
)
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import AnyQuestion, Question
from pddlego_local.episode.reading.answer import Answer, without_repetition
from pddlego_local.planner import FastDownward
from tests.decoding import test_typed
from tests.tables import table

CASES = table(__file__)

# One change to the house, and who accepts it: a rung as it stands, and without what it
# says twice.
SAID_TWICE = CASES["said_twice"]


@pytest.mark.parametrize("case", SAID_TWICE)
def test_a_rung_accepts_a_name_twice_only_if_the_planner_reads_it_once(
    case: str, planner: FastDownward
) -> None:
    old, new, as_it_stands, once = SAID_TWICE[case]
    house = test_typed.DOMAIN + test_typed.PROBLEM_FILE
    assert house.count(old) >= 1
    files = Pddl(
        df=test_typed.DOMAIN.replace(old, new, 1),
        pf=test_typed.PROBLEM_FILE.replace(old, new, 1),
    )
    question = Question(PDDL, (), test_typed.SCENE)
    dropped = without_repetition(Answer(files, ""), question).value
    assert dropped
    for value, inside in ((files, as_it_stands), (dropped, once)):
        assert bool(why_outside(value, question, "typed")) is not inside
        if inside:
            assert planner.plan(value.df, value.pf).outcome == "solved"


@pytest.mark.parametrize("case", SAID_TWICE)
def test_one_file_alone_is_judged_by_what_it_declares(case: str) -> None:
    """Beside a given domain the problem is at fault, and a domain alone for its own
    constants.
    """
    old, new, as_it_stands, _ = SAID_TWICE[case]
    if old in test_typed.PROBLEM_FILE and old not in test_typed.DOMAIN:
        context = replace(test_typed.SCENE, domain=test_typed.DOMAIN)
        alone: Fields = Problem(pf=test_typed.PROBLEM_FILE.replace(old, new, 1))
        asked: AnyQuestion = Question(PROBLEM, (), context)
    else:
        alone = DomainFile(df=test_typed.DOMAIN.replace(old, new))
        asked = Question(DOMAIN_ALONE, (), test_typed.SCENE)
    assert bool(why_outside(alone, asked, "typed")) is not as_it_stands

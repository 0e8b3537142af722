"""The ladder is one table, with an entry for every rung and every form."""

from typing import get_args

import pytest

from pddlego_local.decoding.forms import FORMS, choice
from pddlego_local.decoding.ladder import LADDER, constraint_for
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import RUNGS, RungName
from pddlego_local.environments.coin.game import TABLES

SCENE = GrammarContext(actions=TABLES.schemas, domain=TABLES.domain, problem="(define (problem p))")


@pytest.mark.parametrize("rung", RUNGS)
def test_every_form_has_a_constraint_on_every_rung_and_none_if_free(rung: str) -> None:
    for form in (*FORMS, choice(7)):
        constraint = constraint_for(rung, form, SCENE)
        assert constraint.free is (rung == "free")


def test_only_pddl_is_drawn_in_stages() -> None:
    staged = {
        (rung, form.name)
        for rung in RUNGS
        for form in FORMS
        if constraint_for(rung, form, SCENE).in_stages
    }
    upper = ("signatures", "typed", "grounded")
    assert staged == {(rung, form) for rung in upper for form in ("pddl", "domain", "problem")} | {
        (rung, "edit") for rung in upper[1:]
    }


def test_the_table_has_every_form_and_every_rung() -> None:
    assert LADDER.keys() == {form.name for form in FORMS}
    assert {len(row) for row in LADDER.values()} == {len(RUNGS)}
    assert tuple(RUNGS) == get_args(RungName)

"""The ladder is one table of rung and form: what is not in it is an error at import."""

import pytest

from pddlego_local.decoding.forms import FORMS
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.environments.coin.game import TABLES
from tests.decoding.on_rung import constraint_for
from tests.processes import ran

SCENE = GrammarContext(
    actions=TABLES.schemas, domain=TABLES.domain, problem="(define (problem p))"
)


def test_only_pddl_is_drawn_in_stages() -> None:
    staged = {
        (rung, form.name)
        for rung in RUNGS
        for form in FORMS
        if constraint_for(rung, form, SCENE).in_stages
    }
    upper = ("signatures", "typed", "grounded")
    assert staged == {
        (rung, form) for rung in upper for form in ("pddl", "domain", "problem")
    } | {(rung, "edit") for rung in upper[1:]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "forms.FORMS = (*forms.FORMS, forms.Form('haiku', forms.Text, '{}'))",
            "['haiku']",
        ),
        (
            (
                "import pddlego_local.decoding.rungs as r; r.RUNGS = {**r.RUNGS, 'new':"
                " r.Rung('new')}"
            ),
            "has 6 of 7 rungs",
        ),
    ],
)
def test_what_the_table_lacks_is_an_error_at_import(change: str, said: str) -> None:
    code = (
        f"from pddlego_local.decoding import forms; {change}; import"
        " pddlego_local.decoding.ladder"
    )
    ended = ran("-c", code)
    assert ended.returncode == 1
    assert "TypeError" in ended.stderr and said in ended.stderr

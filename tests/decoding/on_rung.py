"""The constraint of a rung in the layout "any", in which a test can write any text."""

from typing import Any

from pddlego_local.decoding import ladder
from pddlego_local.decoding.forms import PDDL, Form
from pddlego_local.decoding.ladder import EMPTY
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding


def constraint_for(
    rung: Any,
    form: Form[Any] = PDDL,
    context: GrammarContext = EMPTY,
    layout: Layout = "any",
    **options: Any,
) -> Constraint:
    """Returns the constraint of a rung, with the defaults of `conf` otherwise."""
    layout = "any" if rung == "free" else layout
    decoding = Decoding(rung=rung, layout=layout, **options)
    return ladder.constraint_for(decoding, form, context)

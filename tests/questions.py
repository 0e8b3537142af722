"""Questions for the tests that draw answers, and the grammars that need no scene."""

from pddlego_local.core.nouns import Grammar, Message
from pddlego_local.decoding.forms import PDDL, Fields, Form
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from tests.decoding.on_rung import constraint_for

MESSAGES = (Message("user", "Write the PDDL."),)
QUESTION: AnyQuestion = Question(PDDL, MESSAGES, GrammarContext())


def static_grammar(rung: str, form: Form[Fields] = PDDL) -> Grammar | None:
    """What one of the three lower rungs puts on a form."""
    constraint = constraint_for(rung, form)
    assert not constraint.in_stages
    return constraint.first_grammar

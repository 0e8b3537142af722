"""Scenes at some moment of a game in each environment, and the decoder's verdict on
answers.
"""

import json
from typing import Any

from pddlego_local.core.nouns import Grammar, Names
from pddlego_local.decoding.forms import Form
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from tests.decoding.on_rung import constraint_for

DIRECTIONS = ("north", "south", "east", "west")
RUNGS = ("signatures", "typed", "grounded")
THINGS = ("drawer 1", "drawer 12", "mug 3", "fridge 1", "sinkbasin 1")
ROOM = GrammarContext(
    Alfworld.actions,
    Names(things=THINGS),
    (
        "examine mug 3",
        "go to drawer 1",
        "inventory",
        "look",
        "take mug 3 from drawer 12",
    ),
)
HOUSE = GrammarContext(
    Coin.actions, Names(things=("kitchen", "north", "wood door")), ("move north",)
)
KITCHEN = GrammarContext(
    Cooking.actions,
    Names(things=("kitchen", "north", "TV stand", "red potato", "knife")),
    ("put red potato in TV stand", 'say "a/b \\ (c)*"'),
)


def grammar_of(rung: str, form: Form[Any], context: GrammarContext) -> Grammar:
    """What a rung puts on a form that is not drawn in stages."""
    constraint = constraint_for(rung, form, context)
    grammar = constraint.first_grammar
    assert grammar and not constraint.in_stages
    return grammar


def accepted(grammar: Grammar, value: Any) -> bool:
    return decoder_verdict(grammar, json.dumps(value)) == "accepted"

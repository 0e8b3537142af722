"""Commands, moves and things seen on the rungs above "syntax".

The grammars are JSON schemas, which one reader takes: the decoder's engine. What it
lets through is compared with lists written out by hand, and with whole games that the
reference plays.
"""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from pddlego_local.core.nouns import Names, Sampling, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.forms import COMMAND, MOVE, SEEN, Fields, Form
from pddlego_local.decoding.grammars.lark_text import decoder_verdict, validate
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.models.reference import ReferenceFormalizer
from tests.decoding.contexts import HOUSE, KITCHEN, ROOM, RUNGS, accepted, grammar_of
from tests.questions import static_grammar
from tests.tables import table


def rungs_that_take(context: GrammarContext, command: str) -> tuple[str, ...]:
    return tuple(
        rung
        for rung in RUNGS
        if accepted(grammar_of(rung, COMMAND, context), {"action": command})
    )


SCENES = {"room": ROOM, "house": HOUSE, "kitchen": KITCHEN}


@pytest.mark.parametrize(
    ("scene", "count", "command"),
    [
        (scene, count, command)
        for scene, by_count in table(__file__).items()
        for count, commands in by_count.items()
        for command in commands
    ],
)
def test_a_rung_takes_just_its_commands(scene: str, count: int, command: str) -> None:
    assert rungs_that_take(SCENES[scene], command) == RUNGS[:count]


@pytest.mark.parametrize("rung", RUNGS)
def test_the_envelope_is_that_of_the_form(rung: str) -> None:
    grammar = grammar_of(rung, COMMAND, ROOM)
    validate(grammar)
    assert decoder_verdict(grammar, '{\n  "action": "look"\n}') == "accepted"
    assert decoder_verdict(grammar, '{"action": "look') == "unfinished"
    for text in (
        '{"action": "look"} ',
        '{"action": "look", "why": "so"}',
        '{"action": 1}',
        '"look"',
        "{}",
    ):
        assert decoder_verdict(grammar, text) != "accepted"


def test_where_nothing_was_mentioned_all_names_are_free() -> None:
    unmentioned = GrammarContext(actions=Alfworld.actions)
    assert rungs_that_take(unmentioned, "go to drawer 1") == RUNGS
    offered = replace(unmentioned, commands=("look",))
    assert rungs_that_take(offered, "look") == RUNGS
    assert rungs_that_take(offered, "go to drawer 1") == RUNGS[:2]


@pytest.mark.parametrize("rung", RUNGS)
def test_thoughts_are_free_and_acts_are_commands(rung: str) -> None:
    grammar = grammar_of(rung, MOVE, ROOM)
    validate(grammar)
    assert accepted(grammar, {"kind": "act", "text": "look"})
    assert accepted(
        grammar, {"kind": "think", "text": 'A mug! "Where", says it, is drawer 2?'}
    )
    assert accepted(grammar, {"kind": "think", "text": "x" * 400})
    assert not accepted(grammar, {"kind": "think", "text": "x" * 401})
    assert not accepted(grammar, {"kind": "think", "text": ""})
    assert not accepted(grammar, {"kind": "act", "text": "A mug!"})
    assert not accepted(grammar, {"kind": "say", "text": "look"})
    assert not accepted(grammar, {"text": "look", "kind": "act"})
    takes = accepted(grammar, {"kind": "act", "text": "go to drawer 2"})
    assert takes == (rung != "grounded")


@pytest.mark.parametrize("rung", RUNGS[:2])
def test_what_is_seen_is_free_below_grounded(rung: str) -> None:
    grammar = grammar_of(rung, SEEN, KITCHEN)
    below = static_grammar("syntax", SEEN)
    assert below and grammar.text == below.text


def test_what_is_seen_was_mentioned() -> None:
    grammar = grammar_of("grounded", SEEN, KITCHEN)
    validate(grammar)
    assert accepted(grammar, {"closed": [], "items": []})
    assert accepted(grammar, {"closed": ["TV stand"], "items": ["knife", "red potato"]})
    assert accepted(grammar, {"closed": ["knife"] * 15, "items": ["knife"] * 30})
    assert not accepted(grammar, {"closed": ["knife"] * 16, "items": []})
    assert not accepted(grammar, {"closed": [], "items": ["knife"] * 31})
    for thing in ("fridge", "north", "tv stand", "red", "red potatoes", ""):
        assert not accepted(grammar, {"closed": [], "items": [thing]})
    nothing = grammar_of("grounded", SEEN, GrammarContext())
    assert accepted(nothing, {"closed": [], "items": []})
    assert not accepted(nothing, {"closed": ["fridge"], "items": []})


def test_hundreds_of_names_are_no_burden() -> None:
    """30 ms of CPU are usual; a blow-up ends in the test's limit."""
    things = tuple(f"toiletpaperhanger {number}" for number in range(300))
    offered = tuple(f"go to {thing}" for thing in things)
    context = replace(ROOM, names=Names(things=things), commands=offered)
    for grammar, value in (
        (
            grammar_of("grounded", COMMAND, context),
            {"action": f"move {things[7]} to {things[77]}"},
        ),
        (grammar_of("grounded", SEEN, context), {"closed": [], "items": [things[299]]}),
    ):
        assert accepted(grammar, value)


# ---- Whole games


def answers(
    model: ReferenceFormalizer,
    package: str,
    memory: tuple[Turn, ...],
    form: Form[Fields],
) -> Any:
    context = GrammarContext(environment=package, memory=memory)
    question: AnyQuestion = Question(form, (), context)
    return json.loads(model.answer(question, Sampling()).completion.text)


def check_game(environment: Environment, seed: int) -> None:
    """The reference plays one action at a time; each answer must be inside, on every
    rung.
    """
    with contextlib.closing(ReferenceFormalizer()) as model:
        observed = environment.reset(seed)
        memory: tuple[Turn, ...] = (Turn("look around", observed.text),)
        while not observed.success:
            assert len(memory) <= environment.budget.limit
            names = environment.names(memory)
            context = GrammarContext(environment.actions, names, observed.commands)
            command = answers(model, environment.package, memory, COMMAND)
            move = answers(model, environment.package, memory, MOVE)
            for rung in RUNGS:
                assert accepted(grammar_of(rung, COMMAND, context), command), (
                    rung,
                    command,
                )
                assert accepted(grammar_of(rung, MOVE, context), move), (rung, move)
                if environment.name == "cooking":
                    listed = answers(model, environment.package, memory, SEEN)
                    assert accepted(grammar_of(rung, SEEN, context), listed), rung
            # What is offered is not the only reason: the templates alone take it too.
            unoffered = replace(context, commands=())
            assert accepted(grammar_of("grounded", COMMAND, unoffered), command), (
                command
            )
            observed = environment.step(command["action"])
            memory = (*memory, Turn(command["action"], observed.text))


def test_the_reference_is_inside_in_coin() -> None:
    check_game(Coin(), 8)


def test_the_reference_is_inside_in_cooking() -> None:
    check_game(Cooking(), 2)


def test_the_reference_is_inside_in_alfworld() -> None:
    with contextlib.closing(Alfworld(task_types=TASK_TYPES)) as game:
        check_game(game, 3)

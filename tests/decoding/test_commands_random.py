"""Random weights under the grammars of commands, moves and things seen. About 20
seconds.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.core.nouns import Grammar, Message, Sampling
from pddlego_local.decoding.forms import COMMAND, MOVE, SEEN, Form
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.environments.tables import Tables
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.transformers import Engine, TransformersModel
from tests.decoding.contexts import DIRECTIONS, HOUSE, KITCHEN, ROOM, RUNGS, grammar_of
from tests.environments.commands import parse


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransformersModel]:
    folder = make_random_llama(tmp_path_factory.mktemp("models") / "random", seed=3)
    model = TransformersModel(
        weights=str(folder), engine=Engine(device="cpu", threads=1)
    )
    yield model
    model.close()


def drawn(
    model: TransformersModel, grammar: Grammar, form: Form[Any], count: int = 30
) -> list[Any]:
    """Answers, every one of which must end and be of the form."""
    answers = []
    for seed in range(count):
        prompt = (Message("user", "What now?"),)
        completion = model.complete(
            prompt, grammar, Sampling(max_tokens=1500, seed=seed)
        )
        assert completion.finish_reason == "stop"
        assert list(json.loads(completion.text)) == list(form.keys.model_fields)
        answers.append(form.keys.model_validate_json(completion.text, strict=True))
    return answers


def legal(context: GrammarContext) -> set[str]:
    """All that "grounded" allows, one by one."""
    fillings = {"dir": DIRECTIONS}
    nouns = tuple(thing for thing in context.names.things if thing not in DIRECTIONS)
    return {
        action.command.format(**dict(zip(action.variables, words, strict=True)))
        for action in context.actions
        for words in itertools.product(
            *(fillings.get(v, nouns) for v in action.variables)
        )
    } | set(context.commands)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(
    ("name", "context"), [("alfworld", ROOM), ("coin", HOUSE), ("cooking", KITCHEN)]
)
def test_random_weights_name_legal_commands(
    model: TransformersModel, rung: str, name: str, context: GrammarContext
) -> None:
    grammar = grammar_of(rung, COMMAND, context)
    named = {answer.action for answer in drawn(model, grammar, COMMAND, count=10)}
    assert rung != "grounded" or named <= legal(context)
    for command in named - set(context.commands):
        parsed = parse(Tables.load(f"pddlego_local.environments.{name}"), command)
        assert parsed and parsed[0] in context.actions
        assert rung == "signatures" or parsed[1].get("dir", "north") in DIRECTIONS


@pytest.mark.parametrize("rung", RUNGS)
def test_random_weights_make_legal_moves(model: TransformersModel, rung: str) -> None:
    answers = drawn(model, grammar_of(rung, MOVE, ROOM), MOVE, count=12)
    acts = {answer.text for answer in answers if answer.kind == "act"}
    assert acts and len(acts) < len(answers)
    if rung == "grounded":
        assert acts <= legal(ROOM)


def test_random_weights_see_what_was_mentioned(model: TransformersModel) -> None:
    """Below "grounded" the grammar is that of "syntax", which has its own test."""
    answers = drawn(model, grammar_of("grounded", SEEN, KITCHEN), SEEN)
    named = {name for answer in answers for name in (*answer.closed, *answer.items)}
    assert named and named <= set(KITCHEN.names.things)

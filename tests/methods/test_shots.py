"""`method.shots`: solved games before the question, by methods that play."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.textworld_express.game import SEEDS
from pddlego_local.episode.episode import Episode, OtherGames, Parts
from pddlego_local.methods import Method
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.methods.playing import Listener

GAME = 5
METHODS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "pddl_edit": (PddlEdit, {}),
    "detailed": (PddlegoPlus, {}),
    "compact": (PddlegoPlus, {"variant": "compact"}),
}


def house() -> Coin:
    return Coin(rooms=5)


@contextlib.contextmanager
def lend() -> Iterator[Coin]:
    yield house()


def asked(
    method: Method,
    planner: FastDownward,
    others: OtherGames | None = None,
    game: int = GAME,
) -> list[AnyQuestion]:
    """The questions of a game that the reference plays."""
    model = Listener()
    decoding = Decoding(rung="grounded")
    parts = Parts(house(), model, planner, decoding, others=others)
    with contextlib.closing(model):
        method(Episode(parts, lambda _: None, run_seed=0, game=game, trial=0))
    return model.asked


@pytest.mark.parametrize("name", METHODS)
def test_the_question_stays_in_its_own_words(planner: FastDownward, name: str) -> None:
    make, options = METHODS[name]
    alone = asked(make(**options), planner)
    others = OtherGames(lend)
    shown = asked(make(**options, shots=2), planner, others)
    assert len(shown) == len(alone) > 1
    prefixes = set()
    for question, plain in zip(shown, alone, strict=True):
        (message,) = plain.messages
        *examples, last = question.messages
        roles = [each.role for each in examples]
        assert roles == ["user", "assistant"] * 3  # the first game has a later step
        head = message.content.removesuffix(last.content)
        assert examples[0].content.startswith(head)
        assert head + last.content == message.content
        assert all(json.loads(each.content) for each in examples[1::2])
        assert len({each.content for each in examples}) == len(examples)
        # Names of other games are not shown of this one.
        assert question.context == plain.context
        prefixes.add(tuple(examples))
    assert len(prefixes) == 1  # which a server keeps in its cache
    assert all(len(question.messages) == 1 for question in alone)


def test_no_example_is_a_game_of_the_cell_or_of_its_map(planner: FastDownward) -> None:
    last = SEEDS[-1]
    first = asked(PddlEdit(), planner, game=last)[0].messages[0].content
    seen = first.rpartition("Action: look around")[2]

    def examples(played: frozenset[int], game: int) -> str:
        method = PddlEdit(shots=1)
        questions = asked(method, planner, OtherGames(lend, played), game)
        return questions[0].messages[0].content

    assert examples(frozenset(), GAME).endswith(seen)
    assert not examples(frozenset([last]), GAME).endswith(seen)
    assert not examples(frozenset(), last).endswith(seen)


def test_where_there_are_no_other_games(planner: FastDownward) -> None:
    with pytest.raises(ConfigError, match=r"method\.shots needs a cell"):
        asked(PddlEdit(shots=1), planner)
    every = OtherGames(lend, frozenset(SEEDS[-3:]))
    every.kept[PddlEdit(shots=1).without_examples, 4] = ()
    with pytest.raises(ConfigError, match=r"choose at most method\.shots=0"):
        asked(PddlEdit(shots=1), planner, every)


@pytest.mark.parametrize("name", ["pddl_edit", "pddlego_plus"])
def test_a_cell_without_examples_has_the_name_that_it_had(name: str) -> None:
    words = ["decoding=free", f"method={name}"]
    assert "shots" not in compose_cell(words).identity["method"]
    shown = compose_cell([*words, "method.shots=3"])
    assert shown.identity["method"]["shots"] == 3

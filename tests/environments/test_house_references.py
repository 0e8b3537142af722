"""What the references of Coin and Cooking write is good PDDL for every reader that we
have.
"""

from collections.abc import Iterator

import pytest
from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser

from pddlego_local.core.nouns import Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.environments import family
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.coin.reference import formalize
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.pddl.check import check

COIN, COOKING = Coin(rooms=11), Cooking(rooms=5, ingredients=5)


def memories(game: Environment, seed: int, stride: int) -> Iterator[list[Turn]]:
    """What is known after one, four, seven, … offered commands that the game took."""
    seen = game.reset(seed)
    memory = [Turn("look around", seen.text)]
    for number in range(16):
        if number % 3 == 0:
            yield list(memory)
        command = seen.commands[stride * number % len(seen.commands)]
        seen = game.step(command)
        if not (seen.refused or command.startswith("close")):
            memory.append(Turn(command, seen.text))


@pytest.mark.parametrize(
    ("game", "seed", "stride"),
    [(COIN, 1, 1), (COIN, 5, 1), (COIN, 8, 1), (COOKING, 1, 5), (COOKING, 2, 5)],
)
def test_every_reader_takes_it(game: Environment, seed: int, stride: int) -> None:
    rules = family.reference(game.package)
    for memory in memories(game, seed, stride):
        for domain, text in (
            rules.formalize(memory),
            (game.domain, rules.problem(memory)),
        ):
            assert check(domain, text).accepted
            assert accepts(load("domain"), domain) and accepts(load("problem"), text)
            assert ProblemParser()(text).domain_name == str(DomainParser()(domain).name)


def test_it_draws_what_it_was_told() -> None:
    memory = [
        Turn(
            "look around",
            "You are in the kitchen. To the North you see a closed wood door.",
        ),
        Turn(
            "open door to north", "You open the wood door, revealing the living room."
        ),
    ]
    _, text = formalize(memory)
    assert (
        "(connected kitchen living_room north)" in text
        and "(:goal (at living_room))" in text
    )


def test_of_two_ways_it_takes_the_nearer() -> None:
    text = (
        "You are in the kitchen. To the North you see a closed wood door. "
        "To the East you see the living room."
    )
    assert "(:goal (at living_room))" in formalize([Turn("look around", text)])[1]

"""What the reference formalizer writes is good PDDL for every reader that we have."""

from collections.abc import Iterator

import pytest
from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.coin.reference import formalize
from pddlego_local.pddl.check import check

Memory = list[Turn]


def memories() -> Iterator[Memory]:
    """What is known after one, two, … offered commands that the game took, in three houses."""
    for seed in (1, 5, 8):
        game = Coin(rooms=11)
        seen = game.reset(seed)
        memory = [Turn("look around", seen.text)]
        for number in range(12):
            yield list(memory)
            command = seen.commands[number % len(seen.commands)]
            seen = game.step(command)
            if not (seen.refused or command.startswith("close")):
                memory.append(Turn(command, seen.text))


@pytest.mark.parametrize("memory", memories())
def test_every_reader_takes_it(memory: Memory) -> None:
    domain, problem = formalize(memory)
    assert check(domain, problem).accepted
    assert accepts(load("domain"), domain) and accepts(load("problem"), problem)
    assert len(DomainParser()(domain).actions) == 2
    assert ProblemParser()(problem).domain_name == "exploration"


def test_it_draws_what_it_was_told() -> None:
    memory = [
        Turn("look around", "You are in the kitchen. To the North you see a closed wood door."),
        Turn("open door to north", "You open the wood door, revealing the living room."),
    ]
    _, text = formalize(memory)
    assert "(connected kitchen living_room north)" in text and "(:goal (at living_room))" in text


def test_of_two_ways_it_takes_the_nearer() -> None:
    text = (
        "You are in the kitchen. To the North you see a closed wood door. "
        "To the East you see the living room."
    )
    assert "(:goal (at living_room))" in formalize([Turn("look around", text)])[1]

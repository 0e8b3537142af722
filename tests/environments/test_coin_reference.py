"""What the reference formalizer writes is good PDDL for every reader that we have."""

import pytest
from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.coin.reference import formalize
from pddlego_local.pddl.check import check
from tests.environments.commands import memories


@pytest.mark.parametrize("seed", [1, 5, 8])
def test_every_reader_takes_it(seed: int) -> None:
    for memory in memories(Coin(rooms=11), seed, 12):
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

"""What environments say is true, beside what their games tell."""

import pytest

from pddlego_local.core.nouns import Turn
from pddlego_local.core.protocols import Inspectable
from pddlego_local.environments.coin import reference as coin_reference
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking import reference as cooking_reference
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.report.map.world import read_world


@pytest.mark.parametrize("game", range(1, 5))
def test_in_coin_everything_that_is_told_is_true_but_for_placeholders(
    game: int,
) -> None:
    coin = Coin(rooms=7)
    memory = [Turn("look around", coin.reset(game).text)]
    for _ in range(12):
        told = read_world(coin.domain, coin_reference.problem(memory)).facts
        true = coin.true_state()
        comparable = {
            fact
            for fact in told
            if (fact[0], len(fact) - 1) in true.predicates
            and not any(name.startswith("behind_") for name in fact)
        }
        assert comparable and comparable <= true.facts
        offered = coin.step("look around").commands
        command = offered[len(memory) % len(offered)]
        memory.append(Turn(command, coin.step(command).text))


def test_a_door_is_open_on_both_sides_and_closed_again() -> None:
    coin = Coin(rooms=5)
    first = coin.reset(1)
    opening = next(c for c in first.commands if c.startswith("open door"))
    before = coin.true_state().facts
    coin.step(opening)
    opened = coin.true_state().facts
    assert {fact[0] for fact in opened - before} == {"connected"}
    assert len(opened - before) == len(before - opened) == 2
    coin.step(opening.replace("open", "close"))
    assert coin.true_state().facts == before


def test_in_cooking_things_are_where_they_were_put() -> None:
    cooking = Cooking(rooms=2)
    memory = [Turn("look around", cooking.reset(1).text)]
    commands = cooking.step("look around").commands
    take = next(command for command in commands if command.startswith("take "))
    thing = take.removeprefix("take ").replace(" ", "_")
    assert ("obj-at", thing, "kitchen") in cooking.true_state().facts
    memory.append(Turn(take, cooking.step(take).text))
    facts = cooking.true_state().facts
    assert ("have", thing) in facts and ("obj-at", thing, "kitchen") not in facts
    told = read_world(cooking.domain, cooking_reference.problem(memory)).facts
    true = cooking.true_state()
    known = {f for f in told if (f[0], len(f) - 1) in true.predicates}
    hidden = {f for f in known if any(n.startswith("behind_") for n in f)}
    assert known - hidden <= facts


def test_a_described_world_changes_as_its_actions_say() -> None:
    world = Described(world="blocksworld", sizes=(3, 3))
    world.reset(0)
    assert isinstance(world, Inspectable)
    before = world.true_state()
    assert before.facts == read_world(world.domain, world._world.problem).facts
    refused = world.step("pick-up nothing")
    assert refused.feedback and world.true_state() == before

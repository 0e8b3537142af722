"""The declaration of `experiment=question/instead_coin`: its games and its arms."""

from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.weights import training_maps
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.settings import ARM
from tests.planted import swept

EXPERIMENT = "question/instead_coin"
ROOMS = (5, 6, 7, 9, 11)


def test_its_games_are_new_houses_with_the_coin_out_of_sight() -> None:
    games = compose_cell([f"experiment={EXPERIMENT}"]).settings.games
    assert len(games) == 120
    trained = training_maps("nano_early")
    maps = set()
    for rooms in ROOMS:
        house = Coin(rooms=rooms)
        for game in games:
            first = house.reset(game)
            assert not first.success
            assert "coin" not in first.text
            maps.add(house.map)
    assert len(maps) == len(ROOMS) * len(games)
    assert trained
    assert maps.isdisjoint(trained)


def test_each_comparison_finds_its_two_arms() -> None:
    cells = [compose_cell(words) for words in swept(EXPERIMENT)]
    assert len({cell.cell for cell in cells}) == 50
    arms = {cell.arm.removeprefix("instead/") for cell in cells}
    assert len(arms) == 10
    declared = cells[0].settings.compare or ()
    assert sum(each.primary for each in declared) == 3
    for each in declared:
        assert each.factor == ARM
        assert {each.base, each.other} <= arms
        assert not each.primary or each.margin_points == 5
    budgets = {cell.build("decoding").max_tokens for cell in cells}
    assert len(budgets) == 1

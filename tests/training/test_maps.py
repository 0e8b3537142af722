"""The maps of a training's games: all that were drawn, and what they leave for evaluation."""

from pathlib import Path

from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.weights import training_maps
from pddlego_local.training import maps
from pddlego_local.training.examples import FIRST_SEED, Game


def test_the_list_beside_shipped_weights_holds_the_maps_of_their_training() -> None:
    nano, early = training_maps("nano"), training_maps("nano_early")
    assert early < nano
    assert maps.maps_of(Game(FIRST_SEED + n) for n in (0, 37, 999)) <= early
    later = maps.maps_of(Game(seed) for seed in (102_999, 400_000, 400_299))
    assert later <= nano and not later <= early
    assert maps.maps_of([Game(900_000)]).isdisjoint(nano)  # of a game that was held out


def test_evaluation_is_counted_without_trivial_games_and_maps_of_training(tmp_path: Path) -> None:
    """All houses of three rooms occur in the training of nano, and none of eleven."""
    small = maps.evaluation(3, range(12), training_maps("nano"))
    assert (small.games, small.left, small.left_maps) == (12, 0, 0) and small.trivial > 0
    assert small.maps < small.seen == 12 - small.trivial  # houses repeat
    large = maps.evaluation(11, range(12), training_maps("nano"))
    assert large.left == large.left_maps == large.maps == 12 - large.trivial
    environment = Coin(rooms=11)
    environment.reset(next(seed for seed in range(12) if not environment.reset(seed).success))
    maps.write(tmp_path, {environment.map})
    fewer = maps.evaluation(11, range(12), training_maps(str(tmp_path)))
    assert (fewer.seen, fewer.left, fewer.left_maps) == (1, large.left - 1, large.left_maps - 1)


def test_kitchens_of_every_size_have_maps() -> None:
    games = [Game(FIRST_SEED + n, "cooking") for n in range(6)]
    assert len({game.kitchen for game in games}) > 3 and len(maps.maps_of(games)) == 6

"""The maps of a training's games: all that were drawn."""

from pddlego_training import maps
from pddlego_training.examples import FIRST_SEED, Game

from pddlego_local.models.weights import training_maps


def test_the_list_beside_shipped_weights_holds_the_maps_of_their_training() -> None:
    nano, early = training_maps("nano"), training_maps("nano_early")
    assert early < nano
    assert maps.maps_of(Game(FIRST_SEED + n) for n in (0, 37, 999)) <= early
    later = maps.maps_of(Game(seed) for seed in (102_999, 400_000, 400_299))
    assert later <= nano and not later <= early
    assert maps.maps_of([Game(900_000)]).isdisjoint(nano)  # of a game that was held out


def test_kitchens_of_every_size_have_maps() -> None:
    games = [Game(FIRST_SEED + n, "cooking") for n in range(6)]
    assert len({game.kitchen for game in games}) > 3 and len(maps.maps_of(games)) == 6

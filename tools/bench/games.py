"""Steps and resets per second of the games, alone and with many at once."""

import time
from concurrent.futures import ThreadPoolExecutor

from pddlego_local.environments.coin.game import Coin

STEPS = 2000


def games_bench() -> list[dict[str, object]]:
    """One row per number of games at once; all share one Java machine."""
    _steps(Coin(), 100)  # the Java machine starts
    return [_measure(at_once) for at_once in (1, 8, 32)]


def _measure(at_once: int) -> dict[str, object]:
    games = [Coin() for _ in range(at_once)]
    began = time.perf_counter()
    for seed, game in enumerate(games):
        game.reset(seed)
    reset_s = time.perf_counter() - began
    with ThreadPoolExecutor(at_once) as pool:
        began = time.perf_counter()
        list(pool.map(_steps, games, [STEPS // at_once] * at_once))
        steps_s = time.perf_counter() - began
    return {
        "games at once": at_once,
        "steps per s": round(STEPS / steps_s),
        "ms per reset": round(1000 * reset_s / at_once, 2),
    }


def _steps(game: Coin, count: int) -> None:
    commands = game.reset(1).commands
    for number in range(count):
        commands = game.step(commands[number % len(commands)]).commands

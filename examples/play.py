"""A random agent looks for coins: `pddlego_local.Game` with the game's own commands.

    python play.py [GAMES]

Replace `choose` by your own agent. It sees a text and the commands that the game
offers.
"""

import random
import sys
from itertools import islice

from pddlego_local import Game


def choose(text: str, commands: tuple[str, ...], chance: random.Random) -> str:
    """Returns the agent's next command."""
    useful = [command for command in commands if not command.startswith("close")]
    return chance.choice(useful)


def main(games: int) -> None:
    chance = random.Random(0)
    game = Game(environment="coin", environment__rooms=4)
    for seed in islice(game.eval_seeds, games):
        text, info = game.reset(seed)
        earned = 0.0
        over = False
        while not over:
            command = choose(text, info["commands"], chance)
            text, reward, terminated, truncated, info = game.step(command)
            earned += reward
            over = terminated or truncated
        print(f"game {seed}: {info['outcome']}, reward {earned}")
    game.close()


if __name__ == "__main__":
    number = sys.argv[1] if len(sys.argv) > 1 else "5"
    main(int(number))

"""Generated ALFWorld games, for use without the data set.

The floor plans, the tables of what goes where, the goals and the rules come from the
`alfworld` package. Which receptacles of the floor plan a game has, and what lies in
them, is drawn from the game's seed.

The games are close to ALFRED's, but not identical:

- A house is small enough to be searched. Seeing everything takes at most SEARCH_LIMIT
  commands. Seeing everything and then doing the task takes at most 50 commands, the
  papers' limit, so a player that searches systematically wins every game. In ALFRED's
  kitchens the search may take over 80 commands.
- No two receptacles share a spot, and no object is listed in two receptacles.
- At the start, no object of the task is in a receptacle that it has to be put into.
"""

from pddlego_local.environments.alfworld.games.game import (
    PLAIN_TYPES,
    TASK_TYPES,
    GeneratedGame,
    make_game,
)

__all__ = ["PLAIN_TYPES", "TASK_TYPES", "GeneratedGame", "make_game"]

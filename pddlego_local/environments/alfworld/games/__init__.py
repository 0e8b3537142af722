"""ALFWorld games of our own making, for where the data set cannot be had.

The floor plans, the tables of what goes where, the goals and the rules are the `alfworld`
package's; which receptacles of a floor plan a game has, and what lies in them, is drawn from the
game's seed.

They are close to ALFRED's, not identical:

- A house is small enough to be searched. Seeing everything takes at most SEARCH_LIMIT commands,
  and seeing everything and then doing the task at most 50, the papers' limit: an agent that
  searches systematically wins every game. In ALFRED's kitchens the search may take over 80.
- No two receptacles share a place, and no object is listed in two receptacles.
- A task's objects lie outside the receptacles that they are wanted in.
"""

from pddlego_local.environments.alfworld.games.game import (
    PLAIN_TYPES,
    TASK_TYPES,
    Game,
    make_game,
)

__all__ = ["PLAIN_TYPES", "TASK_TYPES", "Game", "make_game"]

"""Which games and trials a cell asks for."""

import itertools
import re

MOST_EPISODES = 1_000_000
"""Of a cell: a slip of the finger would else fill the memory before it is noticed."""


def parse_games(text: object) -> tuple[int, ...]:
    """From "0-2,7" to (0, 1, 2, 7); raises ValueError on anything else, and for more than
    `MOST_EPISODES`."""
    ranges: list[range] = []
    for part in str(text).strip("[] ").split(","):
        match = re.fullmatch(r"\s*([0-9]{1,30})(?:\s*-\s*([0-9]{1,30}))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise ValueError("write seeds and ranges of seeds, such as '0-59' or '3,7-9'")
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    if sum(games.stop - games.start for games in ranges) > MOST_EPISODES:
        raise ValueError(f"a cell has at most {MOST_EPISODES:,} games; name fewer")
    return tuple(dict.fromkeys(itertools.chain(*ranges)))

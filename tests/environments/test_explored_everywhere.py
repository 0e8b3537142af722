"""Every method plays a world of one's own and each world in the box, or a sentence says
why not. Game and gymnasium (tests/rewards.jsonl) and the tools of `pddlego mcp` play a
world of one's own.
"""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.commands import mcp
from pddlego_local.core.confined import ConfinedPool
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Turn
from pddlego_local.core.record.folder import read_rows
from pddlego_local.environments.explored.box import in_the_box
from pddlego_local.environments.explored.play import LOOK
from pddlego_local.environments.explored.world import read_world
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.environments.explored_games import cell_that_the_reference_wins

HOUSE = Path(__file__).parents[2] / "examples/house"
GAME = ["environment=explored", f"environment.folder={HOUSE}"]
METHODS = sorted(
    path.stem for path in (HOUSE.parents[1] / "conf/method").glob("*.yaml")
)
WHY_NOT = {
    **dict.fromkeys(("fcrf", "reflexion"), "environment.examples.fcrf is missing"),
    "formalizer": "environment.words has no `formalizer`",
    "formalizer_problem": "environment.words has no `formalizer_problem`",
    "formalizer_two_step": "environment.words has no `formalizer`",
}
"""Methods with worked examples of one environment, and those for a world that one text
describes whole.
"""


BOX = in_the_box()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_plays_it_or_says_why_not(method: str, tmp_path: Path) -> None:
    plays_or_says_why_not(method, GAME, tmp_path)


@pytest.mark.parametrize("world", BOX)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_plays_each_world_in_the_box(
    method: str, world: str, tmp_path: Path
) -> None:
    least, _ = read_world(BOX[world]).file.sizes or (1, 1)
    smallest = f"environment.sizes=[{least},{least}]"
    game = ["environment=explored", f"environment.world={world}", smallest]
    plays_or_says_why_not(method, game, tmp_path)


def plays_or_says_why_not(method: str, game: Sequence[str], out: Path) -> None:
    words = [
        *(*game, "model=reference", "decoding=grounded", f"method={method}"),
        *("games=0", f"run.out={out}"),
    ]
    if method in WHY_NOT:
        with pytest.raises(ConfigError, match=WHY_NOT[method]) as caught:
            run_cell(compose_cell(words))
        assert "\n" not in str(caught.value)
        return
    result = run_cell(compose_cell(words))
    (row,) = read_rows(result.folder / "episodes.jsonl")
    assert result.faults == []
    # By chance the torch may be taken before it is lit, and then it cannot be lit.
    assert row.success or method == "random_policy"


@pytest.mark.parametrize("world", ["coin", "ferry", "grid", "office", "vault"])
def test_sub_goal_by_sub_goal_the_reference_wins_every_world_in_the_box(
    world: str, tmp_path: Path
) -> None:
    words = [f"environment.world={world}", "method=deps", "method.selector=horizon"]
    cell_that_the_reference_wins(tmp_path, *words)


def test_an_agent_plays_it_with_the_tools_of_mcp() -> None:
    """The agent writes the PDDL that the reference would, and asks a tool to plan."""
    environment: Any = compose_cell(GAME).build("environment")
    with closing(environment), ConfinedPool([mcp.checked.__module__]) as processes:
        tools = mcp.Tools(processes)
        memory = [Turn(LOOK, environment.reset(0).text)]
        while not environment.won():
            for files in (
                environment.formalize(memory),
                *environment.otherwise(memory),
            ):
                assert asyncio.run(tools.check_pddl(*files))["accepted"]
                planned = asyncio.run(tools.plan_pddl(*files))
                if planned["plan"]:
                    break
            for step in planned["plan"]:
                command = environment.command(step)
                memory.append(Turn(command, environment.step(command).text))
        assert len(memory) < 10

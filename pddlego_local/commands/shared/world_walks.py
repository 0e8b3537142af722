"""Random walks in a partly seen world: where exploring would fail.

Exploring finds everything if the player, at every moment, knows or sees what each
possible action needs, can foresee what an action changes, and cannot lose the game.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.effects import unsure_effects
from pddlego_local.environments.explored.marks import marks_of
from pddlego_local.environments.explored.play import Play
from pddlego_local.environments.explored.sight import Sight
from pddlego_local.environments.explored.world import Checked, World
from pddlego_local.pddl.state import State, Step
from pddlego_local.planner import FastDownward

STEPS = 20


@dataclass
class Walks:
    """What walks found, as counts by action. `unknown` are possible actions that the
    player does not know to be possible, `unsure` those of which it cannot foresee what
    they change, and `two_meanings` those whose command fits two actions.

    `decided` are the walks after which the planner found a plan or proved that there is
    none: `dead_ends`.
    """

    unknown: Counter[str] = field(default_factory=Counter)
    unsure: Counter[str] = field(default_factory=Counter)
    two_meanings: Counter[str] = field(default_factory=Counter)
    states: int = 0
    decided: int = 0
    dead_ends: int = 0

    @property
    def checked(self) -> Checked | None:
        """What `world.yaml` may say of dead ends; None if no walk was decided."""
        if not self.decided:
            return None
        return Checked(walks=self.decided, dead_ends=self.dead_ends)

    @property
    def dead_ends_in_words(self) -> str:
        return f"dead ends after {self.dead_ends} of {self.decided} walks"

    def walk(self, world: World, play: Play, seed: int, planner: FastDownward) -> None:
        """Walks from the start of a game, which must have a plan."""
        belief = Belief(world, marks_of(world))
        belief.begin(play.opening())
        chance = random.Random(seed)
        for _ in range(STEPS):
            self._look(world, play, belief)
            offered = play.offered()[1:]
            if play.won or not offered:
                break
            command = chance.choice(sorted(offered))
            belief.follow(command, play.carry_out(command))
        outcome = planner.plan(*full_files(world, play)).outcome
        is_dead_end = outcome == "unsolvable"
        if is_dead_end or outcome in ("solved", "goal_already_true"):
            self.decided += 1
            self.dead_ends += is_dead_end

    def _look(self, world: World, play: Play, belief: Belief) -> None:
        """Compares every possible action with what the player knows."""
        self.states += 1
        sight = Sight(world, belief.task)
        own = Commands(world, belief.task, sight)
        for step, command in _possible(play, play.state):
            if len(play.commands.steps(command, play.state)) > 1:
                self.two_meanings[step[0]] += 1
                continue
            believed = own.steps(command, belief.state)
            if not believed:
                self.unknown[step[0]] += 1
            elif any(unsure_effects(belief.task, sight, belief.state, believed[0])):
                self.unsure[step[0]] += 1


def _possible(play: Play, state: State) -> Iterator[tuple[Step, str]]:
    """Yields a possible action for each command."""
    commands = {play.commands.said(step): step for step in play.task.applicable(state)}
    for command, step in commands.items():
        yield step, command


def full_files(world: World, play: Play) -> tuple[str, str]:
    """Returns domain and problem of the true state, as a player who sees everything
    would write them.
    """
    everything = Belief(
        world, kinds=dict(play.task.objects), facts=set(play.state.facts)
    )
    return world.domain_without_costs, everything.problem(play.goal)

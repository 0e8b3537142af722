"""The loop of PDDLego (Zhang et al., "PDDLEGO", §2 to §4), and its steps without PDDL.

In CookingWorld, a separate small call lists closed containers and things in sight. The
method opens the containers and picks up what the recipe needs without planning. When
the ingredients are ready, it prepares and eats the meal.
"""

from abc import abstractmethod

from pddlego_local.core.nouns import Turns
from pddlego_local.core.protocols import Gathering
from pddlego_local.decoding.forms import SEEN
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import Execution
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, Player, prompting, settings

OPEN, TAKE = "open {}", "take {}"
MAX_OPENED = 15  # per room: a model may keep naming containers that are not there


@settings
class PddlegoLoop(Player):
    """The loop that the methods of PDDLego share; each of them implements `formalize`.

    An answer without a plan is sampled again, and the model is not shown the error.
    """

    max_retries: AtLeast0 = 5

    prompts = "pddlego"

    @abstractmethod
    def formalize(
        self, episode: Episode, news: Turns, problem: str, *, step: int, retry: int
    ) -> Formalization:
        """Asks for one answer, from the new turns and the last problem file ("" if
        there is none).

        Plans for the end goal or, if that has no plan, for the next sub-goal that has
        one.
        """

    def play(self, episode: Episode) -> str:
        """Formalizes what is new, plans and acts, until the game is over. Returns
        success, success_at_start, no_plan, game_lost or step_limit.
        """
        shown_until, problem = 0, ""
        for step in episode.steps():
            if ended := gather(episode, step):
                return ended
            if episode.spent:
                break
            news = episode.memory[shown_until:]
            shown_until = len(episode.memory)
            for retry in range(self.max_retries + 1):
                planned = self.formalize(episode, news, problem, step=step, retry=retry)
                if planned.to_do:
                    break
            else:
                return "no_plan"
            problem = planned.problem
            execution = carry_out(episode, planned)
            if execution.ended:
                return execution.ended
        return "step_limit"


def gather(episode: Episode, step: int) -> str:
    """Opens containers and picks up things until nothing wanted is in sight, and
    remembers the turns. Returns how the game ended, or "" if it goes on.
    """
    environment = episode.environment
    if not isinstance(environment, Gathering):
        return ""
    since = len(episode.memory) - 1
    tried: set[str] = set()
    for _ in range(MAX_OPENED):
        to_take = environment.wanted(episode.memory)
        if episode.spent or not to_take:
            return ""
        package, news = episode.environment.package, episode.memory[since:]
        shown = prompting.render("pddlego/seen", package, observations=news)
        seen = episode.ask(episode.question(SEEN, shown), step=step).value
        if not seen:
            return ""
        take_commands = [TAKE.format(item) for item in seen.items if item in to_take]
        open_commands = [OPEN.format(container) for container in seen.closed]
        for command in [*take_commands, *open_commands]:
            if episode.spent:
                return ""
            if command not in tried:
                tried.add(command)
                if ended := _act(episode, command).ended:
                    return ended
                if command in open_commands:
                    break
        else:
            return ""
    return ""


def carry_out(episode: Episode, planned: Formalization) -> Execution:
    """Plays the plan, including refused actions, and then the commands that belong to
    its goal.
    """
    execution = episode.execute(planned.plan, stop_at_refusal=False)
    episode.remember(execution.turns)
    for command in planned.goal.then if planned.goal else ():
        if execution.ended or episode.spent:
            break
        execution = _act(episode, command)
    return execution


def _act(episode: Episode, command: str) -> Execution:
    execution = episode.act(command)
    episode.remember(execution.turns)
    return execution

"""The loop of PDDLego (Zhang et al., "PDDLEGO", §2 to §4), and what it does without PDDL.

In CookingWorld a small call of its own lists closed containers and things in sight; containers are
opened and what the recipe needs is picked up without planning. When the ingredients are ready the
meal is prepared and eaten.
"""

from abc import abstractmethod
from collections.abc import Sequence

from pddlego_local.core.nouns import Budget, Turn
from pddlego_local.core.protocols import Gathering
from pddlego_local.decoding.forms import SEEN
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import Execution
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, Player, prompting, settings

OPEN, TAKE = "open {}", "take {}"
MAX_OPENED = 15  # per room: a model may go on naming containers that are not there


@settings
class PddlegoLoop(Player):
    """A method of PDDLego says how it formalizes; an answer without a plan is sampled again, and no
    error is shown."""

    max_retries: AtLeast0 = 5

    prompts = "pddlego"

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """Each step looks around for things to pick up, and formalizes."""
        return budget.limit * (MAX_OPENED + (1 + self.max_retries) * best_of)

    @abstractmethod
    def formalize(
        self, episode: Episode, news: Sequence[Turn], problem: str, *, step: int, retry: int
    ) -> Formalization:
        """One answer of the model, from the news and the problem file until now ("": none). Plans
        for the end goal or, failing that, for the next sub-goal that has a plan."""

    def play(self, episode: Episode) -> str:
        """Formalizes what is new, plans, carries out, until the game is over. Returns success,
        success_at_start, no_plan, game_lost or step_limit."""
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
    """Opens and picks up until nothing wanted is left in sight, and remembers the turns. Returns
    how the game ended, "" if it goes on."""
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
    """Plays the plan, refused actions included, and what its goal has the method do after it."""
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

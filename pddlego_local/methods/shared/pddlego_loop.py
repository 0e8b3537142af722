"""The loop of PDDLego (Zhang et al., "PDDLEGO", §2 to §4), and its steps without PDDL.

In CookingWorld, a separate small call lists closed containers and things in sight. The
method opens the containers and picks up what the recipe needs without planning. When
the ingredients are ready, it prepares and eats the meal.
"""

from abc import abstractmethod
from typing import ClassVar

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Turns
from pddlego_local.core.protocols import Gathering
from pddlego_local.decoding.forms import SEEN
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import Execution
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, Player, added, prompting, settings

OPEN = "open {}"
TAKE = "take {}"
MAX_OPENED = 15  # per room: a model may keep naming containers that are not there


@settings
class PddlegoLoop(Player):
    """The loop that the methods of PDDLego share; each of them implements `formalize`.

    An answer without a plan is sampled again, and the model is not shown the error. If
    there are `rounds` instead, it is shown its answer and the error.
    """

    max_retries: AtLeast0 = 5
    rounds: AtLeast0 = added(0)

    prompts = "pddlego"
    asks_for: ClassVar[str]

    def __post_init__(self) -> None:
        """Raises ConfigError if answers are asked for again in both ways."""
        if self.rounds and self.max_retries:
            raise ConfigError(
                f"method.rounds={self.rounds} shows the error before the next answer,"
                f" and method.max_retries={self.max_retries} shows none; choose"
                " method.max_retries=0."
            )

    @property
    def templates(self) -> tuple[str, ...]:
        again = (f"{self.asks_for}_again",) if self.rounds else ()
        return (self.asks_for, *again, "seen")

    def template(self, previous: Formalization | None) -> str:
        """Returns the template of a question, which shows the previous answer if there
        are rounds.
        """
        shows_previous = self.rounds and previous
        return f"pddlego/{self.asks_for}{'_again' if shows_previous else ''}"

    @abstractmethod
    def formalize(
        self,
        episode: Episode,
        news: Turns,
        problem: str,
        previous: Formalization | None,
        *,
        step: int,
        retry: int,
    ) -> Formalization:
        """Asks for one answer, from the new turns and the last problem file ("" if
        there is none). `previous` is the answer without a plan, if there was one.

        Plans for the end goal or, if that has no plan, for the next sub-goal that has
        one.
        """

    def play(self, episode: Episode) -> str:
        """Formalizes what is new, plans and acts, until the game is over. Returns
        success, success_at_start, no_plan, game_lost or step_limit.
        """
        shown_until = 0
        problem = ""
        for step in episode.steps():
            if ended := gather(episode, step):
                return ended
            if episode.spent:
                break
            news = episode.memory[shown_until:]
            shown_until = len(episode.memory)
            planned = None
            for retry in range(max(self.max_retries, self.rounds) + 1):
                planned = self.formalize(
                    episode, news, problem, planned, step=step, retry=retry
                )
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
        package = episode.environment.package
        news = episode.memory[since:]
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

"""The loop of PDDLego (Zhang et al., "PDDLEGO", §2 to §4), and what it does without PDDL.

In CookingWorld a small call of its own lists closed containers and things in sight; containers are
opened and what the recipe needs is picked up without planning. When the ingredients are ready the
meal is prepared and eaten.
"""

from collections.abc import Callable, Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.forms import SEEN, Seen
from pddlego_local.decoding.question import Question
from pddlego_local.episode.acting import Execution
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import prompts

OPEN, TAKE = "open {}", "take {}"
MAX_OPENED = 15  # per room: a model may go on naming containers that are not there

Formalize = Callable[[Episode, int, Sequence[Turn], str], Formalization]
"""From the step's number, the news and the problem file until now."""


def explore(episode: Episode, formalize: Formalize, problem: str = "") -> str:
    """Formalizes what is new, plans, carries out, until the game is over. Returns
    success, success_at_start, no_plan, game_lost or step_limit.
    """
    if episode.start().success:
        return "success_at_start"
    shown_until = 0
    for step in episode.steps():
        if ended := gather(episode, step):
            return ended
        if episode.spent:
            break
        news = episode.memory[shown_until:]
        shown_until = len(episode.memory)
        planned = formalize(episode, step, news, problem)
        if not planned.to_do:
            return "no_plan"
        problem = planned.problem
        execution = carry_out(episode, planned)
        if execution.ended:
            return execution.ended
    return "step_limit"


def gather(episode: Episode, step: int) -> str:
    """Opens and picks up until nothing wanted is left in sight, and remembers the turns.

    Returns how the game ended, "" if it goes on.
    """
    since = len(episode.memory) - 1
    tried: set[str] = set()
    for _ in range(MAX_OPENED):
        to_take = episode.environment.wanted(episode.memory)
        if episode.spent or not to_take:
            return ""
        seen = episode.ask(_what_is_seen(episode, episode.memory[since:]), step=step).value
        if not seen:
            return ""
        take_commands = [TAKE.format(item) for item in seen.items if item in to_take]
        open_commands = [OPEN.format(container) for container in seen.closed]
        for command in [*take_commands, *open_commands]:
            if command not in tried:
                tried.add(command)
                if ended := _play(episode, command):
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
        execution = episode.act(command)
        episode.remember(execution.turns)
    return execution


def _play(episode: Episode, command: str) -> str:
    if episode.spent:
        return ""
    execution = episode.act(command)
    episode.remember(execution.turns)
    return execution.ended


def _what_is_seen(episode: Episode, turns: tuple[Turn, ...]) -> Question[Seen]:
    shown = prompts.render("pddlego/seen", episode.environment.package, observations=turns)
    return episode.question(SEEN, shown)

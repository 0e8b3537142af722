"""The selector of DEPS (Wang et al., "Describe, Explain, Plan and Select", §3.3): which
of several sub-goals that may come in any order is next.

    none       the plan is a sequence, and is carried out as it is
    random     any of them; the seed is that of the episode and of the choice's number
    horizon    the one to which the fewest actions are predicted (`horizon`)
    model      the one that the language model calls the nearest

Equals come in the order of the plan, and so do those of which a model says nothing
usable.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Literal

from pddlego_local.core.protocols import Charted, Environment
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import choice
from pddlego_local.methods import prompting
from pddlego_local.methods.shared.dialogue import Dialogue
from pddlego_local.methods.shared.horizon import predicted
from pddlego_local.methods.shared.subgoals import Controller, Situation

Kind = Literal["none", "random", "horizon", "model"]
ALSO = "also "


def unfit(kind: Kind, environment: Environment) -> str:
    """Returns why an environment cannot be played with this selector, "" if it can."""
    if kind != "horizon" or isinstance(environment, Charted):
        return ""
    return (
        f"method.selector=horizon needs to know where things were seen, and"
        f" environment={environment.name} does not tell (it has no `chart`); choose"
        " method.selector=none, random or model."
    )


class Selector:
    """Selects sub-goals in one episode, whose record says how many choices there were,
    and how many of them changed the order of the plan.
    """

    def __init__(self, kind: Kind, controller: Controller) -> None:
        self._kind = kind
        self._controller = controller
        self._episode = controller.episode
        self._choices = 0
        self._changes = 0

    def order(self, goals: Sequence[str]) -> Iterator[str]:
        """Yields the sub-goals of a plan, each of them chosen when the last one has
        ended.
        """
        if self._kind == "none":
            yield from goals
            return
        for group in in_groups(goals):
            while group:
                yield group.pop(self._chosen(group) if len(group) > 1 else 0)

    def _chosen(self, goals: Sequence[str]) -> int:
        """Returns the position of the chosen sub-goal."""
        self._choices += 1
        match self._kind:
            case "random":
                seed = derive_seed(self._episode.seed, "selector", self._choices)
                chosen = random.Random(seed).randrange(len(goals))
            case "horizon":
                episode = self._episode
                actions = predicted(episode.environment, episode.memory, goals)
                chosen = actions.index(min(actions))
            case _:
                chosen = self._answered(goals)
        self._changes += chosen > 0
        self._episode.note(selected={"of": self._choices, "moved": self._changes})
        return chosen

    def _answered(self, goals: Sequence[str]) -> int:
        memory = self._episode.memory
        question = prompting.render(
            "deps/selector",
            self._episode.environment.package,
            situation=Situation(memory),
            memory=memory,
            goals=goals,
        )
        answer = Dialogue(self._episode, self._controller.max_retries).ask(
            question.text,
            choice(len(goals) - 1),
            step=self._controller.step,
            commands=goals,
        )
        return answer.number if answer else 0


def in_groups(goals: Sequence[str]) -> list[list[str]]:
    """Returns a plan as groups of sub-goals that may come in any order."""
    groups: list[list[str]] = []
    for goal in goals:
        words = goal.removeprefix(ALSO).lstrip()
        if words != goal and groups:
            groups[-1].append(words)
        else:
            groups.append([words])
    return groups

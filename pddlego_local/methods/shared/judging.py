"""Worlds that are described in words: their two texts, and whether a plan holds in their gold
files, as VAL would judge."""

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.protocols import Environment, InWords
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization


def in_words(environment: Environment) -> tuple[str, str]:
    """The texts of domain and problem. Raises ConfigError for an environment that does not tell all
    at once."""
    if not isinstance(environment, InWords):
        raise ConfigError(
            f"environment={environment.name} does not tell its whole world in words, which this "
            "method formalizes at once; choose environment=described or method=pddlego_plus."
        )
    return environment.texts


def judge(episode: Episode, pddl: Formalization) -> str:
    """Plays the plan. Returns success, valid_but_wrong or step_limit; "" if there is no plan."""
    if pddl.cause not in PLANNED:
        return ""
    done = episode.execute(pddl.plan, to_its_end=True)
    if done.ended == "success":
        return "success"
    if done.error:
        episode.note(gold_says=done.error)
    elif len(done.turns) < len(pddl.plan):
        return "step_limit"
    else:
        episode.note(gold_says="The plan ends where the goal is not reached.")
    return "valid_but_wrong"

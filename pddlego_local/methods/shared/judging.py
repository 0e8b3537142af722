"""What a plan is worth in the world that was told: the gold files decide, as VAL would."""

from pddlego_local.core.outcomes import PLANNED
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization


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

"""What a model reads about files without a plan, in the checker's words instead of the planner's.

The planner names the first thing that it stumbles over, without a line. Here the faults come with
their places and remedies, the decisive ones first. Files without faults that have no plan, or an
empty one, come with the reason why.
"""

from collections.abc import Iterable

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.check import Check, check

MOST_FAULTS = 5
MOST_CHARACTERS = 2000  # of the whole explanation
MOST_OF_PLANNER = 300  # characters of the planner's own words beside the checker's


def explain(domain: str, problem: str, result: PlanResult) -> str:
    """At most five findings, each on a line "domain line 12, column 7: …".

    Refused files: the faults, errors before anything else; where the structure is broken, the
    planner's own words too. No plan or an empty one: the planner's verdict, then why. Else, and
    where the checker finds nothing, the planner's message. Never longer than MOST_CHARACTERS.
    """
    lines: list[str] = []
    if result.outcome == "translate_error":
        lines = _of_refused(check(domain, problem), result.message)
    elif result.outcome in ("unsolvable", "goal_already_true"):
        lines = _of_fruitless(check(domain, problem), result.message)
    return _within_bounds(lines or [result.message])


def _of_refused(verdict: Check, message: str) -> list[str]:
    errors = [fault for fault in verdict.faults if fault.kind != "warning"]
    lines = [str(fault) for fault in (errors or verdict.faults)[:MOST_FAULTS]]
    if lines and not verdict.syntax and lines[0] not in message:
        lines.append(f"The planner says: {_cut(' '.join(message.split()), MOST_OF_PLANNER)}")
    return lines


def _of_fruitless(verdict: Check, message: str) -> list[str]:
    """The reasons; only where there are none, what else is odd about the files."""
    warnings = verdict.no_plan or verdict.faults
    reasons = [str(fault) for fault in warnings[:MOST_FAULTS]]
    return [message.split("\n", 1)[0], *reasons] if reasons else []


def _within_bounds(lines: Iterable[str]) -> str:
    """Whole lines as far as they fit; of the first at least its beginning."""
    first, *others = lines
    text = _cut(first, MOST_CHARACTERS)
    for line in others:
        if len(text) + 1 + len(line) > MOST_CHARACTERS:
            break
        text += f"\n{line}"
    return text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"

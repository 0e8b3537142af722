"""Interprets a worker's reply: the outcome, the plan in the spelling of the PDDL, and
the message.

The exit codes are those of Fast Downward's documentation (exit-codes). worker.py makes
the reply, and warm.py adds the signal of a crash; ends from outside do not come here.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import PlanOutcome
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Word, read

MESSAGE_CHARACTERS = 1500

UNSOLVABLE = {10, 11, 12, 13}
OUT_OF_MEMORY = {20, 22, 24}
SEARCH_INPUT_ERROR = 33
TASK_REFUSED = "Error reading task"  # the search cannot read the translated task
SEARCH_REFUSED = (  # source folder where the search crashes on some configurations
    "/search/parser/"
)
BANNER = (
    r"Peak memory:|Usage error occurred|Remove intermediate|Tried to use|caught"
    r" signal|\[t="
)
LIMIT_NAMES = {"wall": "wall-clock", "cpu": "CPU"}


class Judgement(NamedTuple):
    """The outcome of a task, its plan (empty without one), and a message."""

    outcome: PlanOutcome
    plan: tuple[str, ...]
    message: str


def judge(reply: dict[str, Any], domain: str, problem: str) -> Judgement:
    """Interprets a reply. Raises ConfigError if Fast Downward refuses the search."""
    log = reply["log"]
    refused = reply["code"] == SEARCH_INPUT_ERROR or SEARCH_REFUSED in log
    if refused and TASK_REFUSED not in log:
        raise ConfigError(
            f"Fast Downward does not understand the search: {_last_line(log)}"
            " Write lama_first, or a search of Fast Downward's such as astar(lmcut()),"
            " for planner.search and planner.fallback, or for --search."
        )
    outcome, message = _verdict(reply)
    if outcome != "solved":
        return Judgement(outcome, (), _clean(message))
    steps = _steps(reply["plan"])
    if not steps:
        message = "The goal is already true in the initial state, so the plan is empty."
        return Judgement("goal_already_true", (), message)
    actions = "1 action" if len(steps) == 1 else f"{len(steps)} actions"
    message = f"Fast Downward found a plan of {actions}."
    return Judgement("solved", in_spelling_of(domain, problem, steps), message)


def _steps(plan: str) -> tuple[str, ...]:
    """The actions of Fast Downward's plan file, without its comments."""
    steps = []
    for line in plan.splitlines():
        if line.startswith("("):
            words = line.strip("()").split()
            steps.append(f"({' '.join(words)})")
    return tuple(steps)


def _verdict(reply: dict[str, Any]) -> tuple[PlanOutcome, str]:
    """The outcome and, without a plan, a message in Fast Downward's own words.

    `pddl.check.explain` gives the words of the static check.
    """
    error = reply.get("error")
    code = reply["code"]
    last_line = _last_line(reply["log"])
    if reply["stopped"]:
        limit = LIMIT_NAMES[reply["stopped"]]
        return "timeout", f"Fast Downward reached its {limit} time limit."
    if error == "MemoryError" or code in OUT_OF_MEMORY:
        return "out_of_memory", "Fast Downward reached its memory limit."
    if reply["signal"]:
        part = "translator" if error is None else "search"
        crash = f"Fast Downward's {part} crashed twice ({reply['signal']})."
        return "planner_fault", crash
    if error:
        return "translate_error", _refusal(error, reply["message"])
    if reply["plan"]:
        return "solved", ""
    if code == SEARCH_INPUT_ERROR:  # `judge` has ruled out that the search is refused
        return "translate_error", f"Fast Downward refuses the task: {last_line}"
    if code in UNSOLVABLE:
        return "unsolvable", _why_unsolvable(reply)
    return "planner_fault", f"Fast Downward failed (exit code {code}): {last_line}"


def _refusal(error: str, message: str) -> str:
    if error in ("ParseError", "SystemExit"):
        return message
    if error == "RecursionError":
        return "Fast Downward's translator gave up: the PDDL is nested too deeply."
    return f"Fast Downward's translator crashed ({error}: {message or 'no message'})."


def _why_unsolvable(reply: dict[str, Any]) -> str:
    """Returns the translator's reason if there is one, otherwise the search's, and then
    the translator's warnings.
    """
    warnings = []
    reasons = []
    for note in reply["notes"]:
        if note.startswith("Warning"):
            warnings.append(note)
        else:
            reason, _, _ = note.partition("!")
            reasons.append(f"{reason}.")
    for line in reply["log"].splitlines():
        said = re.sub(r"^\[t=[^]]*\] ", "", line)  # without the time
        if re.search("no solution|no plan exists|without", said):
            reasons.append(said)
    first = reasons[0] if reasons else "the search ended without one."
    return "\n".join([f"Fast Downward found no plan: {first}", *warnings])


def _last_line(log: str) -> str:
    """The last line that is not part of Fast Downward's closing banner."""
    for line in reversed(log.splitlines()):
        if line.strip() and not re.match(BANNER, line):
            return line.strip()
    return "it said nothing."


def _clean(message: str) -> str:
    """Makes the message printable and bounds its length. A cut is marked."""
    encodable = message.encode("utf-8", "replace").decode()
    text = encodable.replace("\t", "  ").strip()
    for character in set(text):
        if not character.isprintable() and character != "\n":
            text = text.replace(character, "?")
    if len(text) <= MESSAGE_CHARACTERS:
        return text
    return text[: MESSAGE_CHARACTERS - 2] + " …"


def in_spelling_of(
    domain: str, problem: str, steps: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns `steps`, such as "(move kitchen hall)", with names spelled as they are
    declared.

    Fast Downward answers in lower case. PDDL is case-insensitive, so a name may be
    written in several ways; the spelling of its first declaration is used. Expects PDDL
    that Fast Downward accepted.
    """
    if domain.islower() and problem.islower():  # saves reading both files
        return steps
    domain_file = read_domain(read(domain))
    problem_file = read_problem(read(problem))
    declared = (*domain_file.constants, *problem_file.objects)
    spelled_actions = _first_spellings([action.word for action in domain_file.actions])
    spelled_objects = _first_spellings([entry.word for entry in declared])
    respelled = []
    for step in steps:
        action, *arguments = step.strip("()").split()
        words = [spelled_actions.get(action, action)]
        words += [spelled_objects.get(name, name) for name in arguments]
        respelled.append(f"({' '.join(words)})")
    return tuple(respelled)


def _first_spellings(words: Sequence[Word]) -> dict[str, str]:
    return {word.name: word.text for word in reversed(words)}

"""`pddlego score`: judges answers that were generated elsewhere, as a run would judge
them.

Each input line is a JSON object. "answer" is required. "prompt" is optional. "domain"
is given if the model was asked only for the problem. "gold" is an object with "domain"
and "problem"; the plan is validated against these two files.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic

from pddlego_local.commands.shared import pairs
from pddlego_local.commands.shared.options import count, path
from pddlego_local.commands.validate import not_judged, why_invalid
from pddlego_local.core.confined import ConfinedPool, Exceeded
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Message, PlanResult
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.decoding.forms import PDDL, PROBLEM, Fields, Form
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.membership import actions_in, why_outside
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.reading.answer import Answer, read_free
from pddlego_local.planner import FastDownward


class Gold(pydantic.BaseModel):
    domain: str
    problem: str


class Named(pydantic.BaseModel):
    id: Any = None


class Given(Named):
    """One input line; other keys are ignored."""

    answer: str
    prompt: str = ""
    domain: str = ""
    gold: Gold | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "file",
        help='JSON lines {"id", "answer", "prompt", "domain", "gold"}; - is stdin',
    )
    add(
        "--workers",
        type=count(1024),
        default=1,
        metavar="N",
        help="judge N lines at a time",
    )
    add("--out", type=path, metavar="FILE", help="write JSON lines to FILE")


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes a verdict for each line, and totals to standard error. Returns 0, or 2 if
    a line held no answer, or gold files that cannot be read.
    """
    counts = Counter(_reached({}))

    def counted(results: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for result in results:
            counts.update(_reached(result))
            yield result

    opened = pairs.lines_of(arguments.file, arguments.out)
    planner, judges = (
        FastDownward(workers=arguments.workers),
        ConfinedPool([why_invalid.__module__]),
    )
    with opened as lines, planner, judges:
        numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
        verdicts = pairs.in_order(
            lambda one: _verdict(planner, judges, *one), numbered, arguments.workers
        )
        code = pairs.write_lines(counted(verdicts), arguments.out)
    totals = ", ".join(f"{name} {reached:d}" for name, reached in counts.items())
    print(f"pddlego: {totals}", file=sys.stderr)
    return code


def _verdict(
    planner: FastDownward, judges: ConfinedPool, number: int, line: str
) -> dict[str, Any]:
    named = Named()
    try:
        named = Named.model_validate_json(line)
        return _judged(planner, judges, Given.model_validate_json(line))
    except pydantic.ValidationError as error:
        place, said = error.errors()[0]["loc"], error.errors()[0]["msg"]
        why = f"has no answer that can be judged: {': '.join([*map(str, place), said])}"
    except ConfigError as error:
        why = f"has gold files against which no plan can be judged: {error}"
    return {"id": named.id, "line": number, pairs.FAULT: why}


def _judged(
    planner: FastDownward, judges: ConfinedPool, given: Given
) -> dict[str, Any]:
    """Raises ConfigError for gold files that cannot be read."""
    form: Form[Fields] = PROBLEM if given.domain else PDDL
    prompt = (Message("user", given.prompt),) if given.prompt else ()
    answer = read_free(Completion(given.answer, "stop", 0, 0, 0.0), form, prompt=prompt)
    value = answer.value
    files = {"df": given.domain, **value.model_dump()} if value else {}
    context = GrammarContext(
        domain=given.domain, actions=actions_in(files.get("df", ""))
    )
    outside = _outside(given.answer, answer, Question(form, prompt, context))
    rungs = [rung for rung, why in outside.items() if not why]
    verdict: dict[str, Any] = {"id": given.id, "fault": answer.fault, "rungs": rungs}
    verdict["outside"] = {rung: why for rung, why in outside.items() if why}
    if not value:
        return verdict
    result = planner.plan(files["df"], files["pf"])
    verdict |= files | {
        "outcome": result.outcome,
        "plan": result.plan,
        "message": result.message,
    }
    if given.gold:
        verdict["why_not_in_gold"] = _in_gold(given.gold, planner, judges, result)
    return verdict


def _outside(
    text: str, answer: Answer[Fields], question: AnyQuestion
) -> dict[str, str]:
    """Returns where the answer leaves the language of each rung, in words; "" if it is
    in the language. "syntax" is judged on the answer's text, "typed" on the files that
    were read from it. Without an environment, the actions are those of the domain.
    """
    syntax = constraint_for(
        Decoding(rung="syntax", layout="any"), question.form, question.context
    )
    value, fault = answer.value, f"no files could be read: {answer.fault}"
    return {
        "syntax": place_of_departure(syntax, text.strip()),
        "typed": why_outside(value, question, "typed") if value else fault,
    }


def _in_gold(
    gold: Gold, planner: FastDownward, judges: ConfinedPool, result: PlanResult
) -> str:
    """Returns why the plan does not reach the goal of the gold files, "" if it does. If
    the planner's limits end the judging, it says so.
    """
    if result.outcome not in PLANNED:
        return "There is no plan."
    actions, limits = [action[1:-1] for action in result.plan], planner.limits.in_full
    try:
        return judges.ask(why_invalid, gold.domain, gold.problem, actions, **limits)
    except Exceeded as limit:
        return not_judged(limit)


def _reached(result: Mapping[str, Any]) -> dict[str, int]:
    return {
        "answers": "fault" in result,
        "read": result.get("fault") == "",
        "planned": bool(result.get("plan")),
        "valid in gold": result.get("why_not_in_gold") == "",
    }

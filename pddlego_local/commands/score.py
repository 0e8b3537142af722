"""`pddlego score`: judges answers that were generated elsewhere, as a run would judge
them.

Each input line is a JSON object. "answer" is required. "prompt" is optional. "domain"
is given if the model was asked only for the problem. "gold" is an object with "domain"
and "problem"; the plan is validated against these two files. "group" names a group of
answers, for which --schema and --grammar count apart.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic

from pddlego_local.commands.shared import pairs
from pddlego_local.commands.shared.language import Conformance, of_grammar, of_schema
from pddlego_local.commands.shared.options import count, path
from pddlego_local.commands.validate import not_judged, why_invalid
from pddlego_local.core.confined import ConfinedPool, Exceeded
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Message, PlanResult
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.visible import visible
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
    group: str | int | None = None


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
    language = parser.add_mutually_exclusive_group()
    language.add_argument(
        "--schema",
        type=path,
        metavar="FILE",
        help="also count which answers conform to this JSON schema",
    )
    language.add_argument(
        "--grammar",
        type=path,
        metavar="FILE",
        help="also count which answers are in the language of this Lark grammar",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes a verdict for each line, and totals to standard error. Returns 0, or 2 if
    a line held no answer, or gold files that cannot be read.
    """
    totals = Counter(dict.fromkeys(_reached({}), 0))
    conformance: Conformance | None = None
    if arguments.schema:
        conformance = of_schema(arguments.schema)
    elif arguments.grammar:
        conformance = of_grammar(arguments.grammar)

    def counted(verdicts: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for verdict in verdicts:
            totals.update(_reached(verdict))
            if conformance and "conforms" in verdict:
                conformance.count(verdict.get("group"), verdict["conforms"])
            yield verdict

    with (
        pairs.lines_of(arguments.file, arguments.out) as lines,
        FastDownward(workers=arguments.workers) as planner,
        ConfinedPool([why_invalid.__module__]) as processes,
    ):
        judge = Judge(planner, processes, conformance)
        numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
        verdicts = pairs.in_order(judge.verdict, numbered, arguments.workers)
        code = pairs.write_lines(counted(verdicts), arguments.out)
    words = ", ".join(f"{name} {number}" for name, number in totals.items())
    print(f"pddlego: {words}", file=sys.stderr)
    for line in conformance.lines() if conformance else []:
        print(visible(f"pddlego: {line}"), file=sys.stderr)
    return code


@dataclass(frozen=True)
class Judge:
    """Reads an answer, plans with it, and validates the plan against the gold files."""

    planner: FastDownward
    processes: ConfinedPool
    conformance: Conformance | None = None

    def verdict(self, numbered: tuple[int, str]) -> dict[str, Any]:
        """Returns the output line for an input line and its number."""
        number, line = numbered
        named = Named()
        try:
            named = Named.model_validate_json(line)
            return self._judged(Given.model_validate_json(line))
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            said = ": ".join([*map(str, first["loc"]), first["msg"]])
            why = f"has no answer that can be judged: {said}"
        except ConfigError as error:
            why = f"has gold files against which no plan can be judged: {error}"
        return {"id": named.id, "line": number, pairs.UNREADABLE: why}

    def _judged(self, given: Given) -> dict[str, Any]:
        """Raises ConfigError for gold files that cannot be read."""
        form: Form[Fields] = PROBLEM if given.domain else PDDL
        prompt = (Message("user", given.prompt),) if given.prompt else ()
        completion = Completion(given.answer, "stop", 0, 0, 0.0)
        answer = read_free(completion, form, prompt=prompt)
        files = {"df": given.domain}
        if answer.value:
            files |= answer.value.model_dump()
        context = GrammarContext(domain=given.domain, actions=actions_in(files["df"]))
        outside = _outside(given.answer, answer, Question(form, prompt, context))
        rungs = [rung for rung, why in outside.items() if not why]
        verdict: dict[str, Any] = {
            "id": given.id,
            "fault": answer.fault,
            "rungs": rungs,
        }
        verdict["outside"] = {rung: why for rung, why in outside.items() if why}
        if given.group is not None:
            verdict["group"] = given.group
        if self.conformance:
            why = self.conformance.why_outside(given.answer)
            verdict |= {"conforms": not why, "why_not_conforming": why}
        if not answer.value:
            return verdict
        result = self.planner.plan(files["df"], files["pf"])
        verdict |= files
        for key in ("outcome", "plan", "message"):
            verdict[key] = getattr(result, key)
        if given.gold:
            verdict["why_not_in_gold"] = self._why_not_in(given.gold, result)
        return verdict

    def _why_not_in(self, gold: Gold, result: PlanResult) -> str:
        """Returns why the plan does not reach the goal of the gold files, "" if it
        does. If the planner's limits end the judging, it says so.
        """
        if result.outcome not in PLANNED:
            return "There is no plan."
        actions = [action[1:-1] for action in result.plan]
        limits = self.planner.limits.in_full
        try:
            return self.processes.ask(
                why_invalid, gold.domain, gold.problem, actions, **limits
            )
        except Exceeded as limit:
            return not_judged(limit)


def _outside(
    text: str, answer: Answer[Fields], question: AnyQuestion
) -> dict[str, str]:
    """Returns where the answer leaves the language of each rung, in words; "" if it is
    in the language. "syntax" is judged on the answer's text, "typed" on the files that
    were read from it. Without an environment, the actions are those of the domain.
    """
    decoding = Decoding(rung="syntax", layout="any")
    syntax = constraint_for(decoding, question.form, question.context)
    if answer.value:
        outside_typed = why_outside(answer.value, question, "typed")
    else:
        outside_typed = f"no files could be read: {answer.fault}"
    return {
        "syntax": place_of_departure(syntax, text.strip()),
        "typed": outside_typed,
    }


def _reached(verdict: Mapping[str, Any]) -> dict[str, int]:
    """Returns which of the totals this output line belongs to."""
    return {
        "answers": "fault" in verdict,
        "read": verdict.get("fault") == "",
        "planned": bool(verdict.get("plan")),
        "valid in gold": verdict.get("why_not_in_gold") == "",
    }

"""Finds out whether a free answer is in the language of "typed" or "grounded", and where it is not.

The answer is judged as the rung would have written it: in the layout "line" (`Printer.tight`) and
in lower case; an edit has one name or fact in each string. Redundant entries are no fault.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from pddlego_local.decoding.forms import EDIT, Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import AnyQuestion, GrammarContext
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import as_typed

_ACTION = re.compile(r"\(\s*:action\s+([^\s()]+)")
_PROBLEM = "(define (problem p) (:domain d) (:init) (:goal (and)))"


def why_outside(value: Fields, question: AnyQuestion, rung: str) -> str:
    """Returns where the answer leaves the language of the rung, in words; "" if it is in the
    language. The names in the context of the question must be those that its prompt shows."""
    form, values = question.form, value.model_dump()
    context = replace(question.context, lists="free", goal=RUNGS[rung].goal, rollback=True)
    files = {key: values[key].lower() for key in values.keys() & {"df", "pf"}}
    if form is EDIT or files:
        context = _in_lower_case(context)
    if form is EDIT:
        text = json.dumps(as_typed(values), ensure_ascii=False).lower()
    elif files:
        if fault := _broken(files, context):
            return fault
        # An answer need not declare the types of actions that it does not write.
        written = _ACTION.findall(files.get("df", ""))
        used = tuple(action for action in context.actions if action.name in written)
        context = replace(context, actions=used or context.actions)
        try:
            text = Printer("line", context.actions, tight=True).answer(values | files)
        except RecursionError:
            return "lists are nested too deeply"
    else:
        text = json.dumps(values, ensure_ascii=False)
    return place_of_departure(constraint_for(rung, form, context, "line"), text)


def _broken(files: Mapping[str, str], context: GrammarContext) -> str:
    """Returns the first syntax fault. It may be in the requirements, which the printer omits."""
    found = check(files.get("df", context.domain), files.get("pf", _PROBLEM))
    return "" if found.syntax else str(next(one for one in found.faults if one.kind == "syntax"))


def _in_lower_case(context: GrammarContext) -> GrammarContext:
    """Returns the context in lower case: PDDL ignores the case of names, but grammars do not."""
    actions = (
        replace(action, name=action.name.lower(), parameters=action.parameters.lower())
        for action in context.actions
    )
    names = replace(context.names, objects=tuple(name.lower() for name in context.names.objects))
    domain, problem = context.domain.lower(), context.problem.lower()
    return replace(context, actions=tuple(actions), names=names, domain=domain, problem=problem)

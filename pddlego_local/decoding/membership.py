"""Finds out whether a free answer is in the language of "typed" or "grounded", and
where it is not.

The answer is judged as the rung would have written it: in the layout "line"
(`Printer.as_staged`) and in lower case; an edit has one name or fact in each string.
Redundant entries are no fault, except for an object that is declared twice, because the
planner refuses it: whoever drops such an entry (`pddl.sections`) drops it before the
answer is judged.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.forms import EDIT, Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer, line_of
from pddlego_local.decoding.question import AnyQuestion, GrammarContext
from pddlego_local.decoding.rungs import RungName
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.pddl.check import Fault, check
from pddlego_local.pddl.edit import as_typed
from pddlego_local.pddl.reader import Block, Word

_ACTION = re.compile(r"\(\s*:action\s+([^\s()]+)")
_SPELLED = re.compile(r"[a-zA-Z][\w-]* \([\w\s?-]*\)", re.ASCII)
_PROBLEM = "(define (problem p) (:domain d) (:init) (:goal (and)))"
_KEYS = {"df": "domain", "pf": "problem"}


def why_outside(value: Fields, question: AnyQuestion, rung: RungName) -> str:
    """Returns where the answer leaves the language of the rung, in words; "" if it is
    in the language. The names in the context of the question must be those that its
    prompt shows.
    """
    form = question.form
    values = value.model_dump()
    context = question.context
    files = {}
    for key in values.keys() & _KEYS.keys():
        files[key] = values[key].lower()
    faults: list[Fault] = []
    if form is EDIT or files:
        context = _in_lower_case(context)
    contexts = [context]
    if form is EDIT:
        text = json.dumps(as_typed(values), ensure_ascii=False).lower()
    elif files:
        faults = _faults(files, context)
        if syntax := [fault for fault in faults if fault.kind == "syntax"]:
            return str(syntax[0])
        # An answer need not declare the types of actions that it does not write.
        written = _ACTION.findall(files.get("df", ""))
        used = tuple(action for action in context.actions if action.name in written)
        if used:
            contexts.insert(0, replace(context, actions=used))
        try:
            text = Printer("line", context.actions, as_staged=True).answer(
                values | files
            )
        except RecursionError:
            return "lists are nested too deeply"
    else:
        text = json.dumps(values, ensure_ascii=False)
    decoding = Decoding(rung=rung, layout="line")
    departures = []
    for situation in contexts:
        constraint = constraint_for(decoding, form, situation)
        departures.append(place_of_departure(constraint, text))
    if all(departures):
        return departures[0]
    return str(faults[0]) if faults else ""


def actions_in(domain: str) -> tuple[Action, ...]:
    """Returns the actions of a domain, without words for a game. It leaves out an
    action that is in no language, because its name or its parameters are not spelled as
    a rung spells them.
    """
    found = []
    for block in domain_of(domain).block.blocks:
        if block.head != ":action":
            continue
        match block.items[1:4]:
            case [Word() as name, Word(name=":parameters"), Block() as listed]:
                parameters = line_of(listed)
            case [Word() as name, *_]:
                parameters = "()"
            case _:
                continue
        if _SPELLED.fullmatch(f"{name.text} {parameters}"):
            found.append(Action(name.text, parameters, name.text))
    return tuple(found)


def _faults(files: Mapping[str, str], context: GrammarContext) -> list[Fault]:
    """Returns the faults for which the planner refuses the files: every syntax fault
    (it may be in the requirements, which the printer omits), and the faults in the
    names of the files that were answered.
    """
    domain = files.get("df", context.domain)
    problem = files.get("pf", _PROBLEM)
    answered = {_KEYS[key] for key in files}
    faults = []
    for fault in check(domain, problem).faults:
        is_wrong_name = fault.kind == "symbol" and fault.file in answered
        if fault.kind == "syntax" or is_wrong_name:
            faults.append(fault)
    return faults


def _in_lower_case(context: GrammarContext) -> GrammarContext:
    """Returns the context in lower case: PDDL ignores the case of names, but grammars
    do not.
    """
    actions = []
    for action in context.actions:
        name = action.name.lower()
        parameters = action.parameters.lower()
        actions.append(replace(action, name=name, parameters=parameters))
    objects = tuple(name.lower() for name in context.names.objects)
    return replace(
        context,
        actions=tuple(actions),
        names=replace(context.names, objects=objects),
        domain=context.domain.lower(),
        problem=context.problem.lower(),
    )

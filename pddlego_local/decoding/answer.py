"""From what a model wrote to the value that its form asks for, or to the named reason for none.

What the strings hold is never touched: what is wrong inside PDDL is for the planner to say. An
answer that could not have been drawn under its grammar is our fault and raised, not the model's.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pydantic

from pddlego_local.core import Completion, Grammar
from pddlego_local.decoding.forms import PDDL, PROBLEM, Fault, Form, Keys, T_co
from pddlego_local.decoding.grammars.lark_text import accepts, decoder_verdict
from pddlego_local.decoding.stages import Constraint, StagedGrammar
from pddlego_local.errors import GrammarIgnored, ModelFault

T = TypeVar("T", bound=Keys)

_OPENING = re.compile(r"\{\s*[\"}]")
_MAX_OPENINGS = 1000  # each may be tried to the end of the text: hostile answers have more
_FENCE_OPENS = re.compile(r"^[ \t]*```[^\n`]*\n", re.MULTILINE)
_FENCE_CLOSES = re.compile(r"^[ \t]*```[ \t]*$", re.MULTILINE)
_DOMAIN = re.compile(r"\(\s*domain\s", re.IGNORECASE)
_PROBLEM = re.compile(r"\(\s*problem\s", re.IGNORECASE)


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """The value that was asked for, or None and the `fault` that left none:

    - "empty": nothing but blanks, or a text that was asked for is nothing but blanks
    - "truncated": cut by a token limit; never passed on, even where it looks whole
    - "unfinished_thought": a reasoning model thought until it ran out of tokens
    - "no_json": no JSON object in it (nor, when free, fenced blocks of PDDL where PDDL is asked)
    - "wrong_keys": a JSON object, but not one of the form
    """

    value: T_co | None
    fault: Fault


def read(completion: Completion, form: Form[T], constraint: Constraint) -> Answer[T]:
    """The value of a completion drawn under `constraint`.

    Raises GrammarIgnored if a finished answer contradicts the grammar, ModelFault if it is a
    valid beginning that the decoder ended too early. Stages are looked at where they are
    drawn.
    """
    if completion.finish_reason == "unfinished_thought":
        return Answer(None, "unfinished_thought")
    if completion.finish_reason == "length":
        return Answer(None, "truncated")
    if constraint is None:
        return _extract(completion.text, form)
    return _decode(completion.text, form, constraint)


def _filled(value: T, form: Form[T]) -> Answer[T]:
    entries = value.model_dump()
    for key, text in entries.items():
        if isinstance(text, str) and not text.strip() and key not in form.may_be_blank:
            return Answer(None, "empty")
    try:
        json.dumps(entries, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character, as "\ud800": no text that a file could hold
        return Answer(None, "no_json")
    return Answer(value, "")


def _decode(text: str, form: Form[T], constraint: Grammar | StagedGrammar) -> Answer[T]:
    """Strictly: exactly what the grammar lets a decoder write."""
    written: list[tuple[str, Any]] = []

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal written
        written = pairs  # the outermost object comes last
        return dict(pairs)

    try:
        entries = json.loads(text, object_pairs_hook=as_object)
        in_order = [key for key, _ in written] == list(form.keys.model_fields)
        value = form.keys.model_validate(entries, strict=True) if in_order else None
    except (ValueError, RecursionError):
        value = None
    if value is None or not _in_language(constraint, text):
        raise _not_drawn_under(constraint, text)
    return _filled(value, form)


def _in_language(constraint: Grammar | StagedGrammar, text: str) -> bool:
    if isinstance(constraint, StagedGrammar):
        return True  # its stages are looked at as they are drawn
    if constraint.kind == "lark":
        return accepts(constraint, text)
    return decoder_verdict(constraint, text) == "accepted"


def _not_drawn_under(constraint: Grammar | StagedGrammar, text: str) -> ModelFault:
    if isinstance(constraint, Grammar) and decoder_verdict(constraint, text) == "unfinished":
        return ModelFault(
            f"The decoder ended an answer after {len(text)} characters, before the grammar "
            f"{constraint.name!r} was satisfied; the request can be repeated."
        )
    return GrammarIgnored(
        f"A finished answer is outside the grammar {constraint.name!r}: the model's backend does "
        "not obey grammars; start the server with the guidance backend, or choose decoding=free."
    )


def _extract(text: str, form: Form[T]) -> Answer[T]:
    """Freely: prose, fences and raw newlines may surround the answer; the last complete one counts.

    A JSON object of the form comes first, other keys in it are passed over; where PDDL is asked and
    there is none, the last fenced blocks with `(domain` and with `(problem`, in different blocks.
    """
    if not text.strip():
        return Answer(None, "empty")
    fault: Fault = "no_json"
    value: T | None = None
    keys = form.keys.model_fields
    for candidate in _objects(text, tuple(keys)):
        try:
            value = form.keys.model_validate({k: v for k, v in candidate.items() if k in keys})
        except pydantic.ValidationError:
            fault = "wrong_keys"
    if value is None:
        value = _fenced(text, form)
    return Answer(None, fault) if value is None else _filled(value, form)


def _fenced(text: str, form: Form[T]) -> T | None:
    domain = problem = ""
    for block in _blocks(text):
        holds_domain, holds_problem = bool(_DOMAIN.search(block)), bool(_PROBLEM.search(block))
        if holds_domain and not holds_problem:
            domain = block
        elif holds_problem and not holds_domain:
            problem = block
    if form is PDDL and domain and problem:
        return form.keys.model_validate({"df": domain, "pf": problem})
    if form is PROBLEM and problem:
        return form.keys.model_validate({"pf": problem})
    return None


def _blocks(text: str) -> Iterator[str]:
    """What stands between fences, from left to right; behind a fence that none closes, nothing."""
    at = 0
    while (opens := _FENCE_OPENS.search(text, at)) and (
        closes := _FENCE_CLOSES.search(text, opens.end())
    ):
        yield text[opens.end() : closes.start()]
        at = closes.end()


def _objects(text: str, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text, from left to right; newlines inside strings may be raw.

    Inside an object that is an answer nothing more is looked for; inside any other, its parts are.
    """
    decoder = json.JSONDecoder(strict=False)
    openings = [match.start() for match in _OPENING.finditer(text)][-_MAX_OPENINGS:]
    begin = min(openings, default=0)
    text = text[begin:]  # what is wrong in it is sought from its beginning, each time
    end = 0
    for opening in (place - begin for place in openings):
        if opening < end:
            continue
        try:
            candidate, stop = decoder.raw_decode(text, opening)
        except (ValueError, RecursionError):
            continue
        yield candidate
        if all(key in candidate for key in keys):
            end = stop

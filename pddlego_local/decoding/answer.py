"""From what a model wrote to a domain and a problem, or to the named reason why there is none.

The PDDL itself is never touched: what is wrong inside it is for the planner to say. An answer that
could not have been drawn under its grammar is our fault and raised, not the model's.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pddlego_local.core import Completion, Grammar
from pddlego_local.decoding.grammar import accepts, decoder_verdict
from pddlego_local.decoding.rungs import KEYS, grammar_for
from pddlego_local.errors import GrammarIgnored, ModelFault

Fault = Literal["", "empty", "truncated", "unfinished_thought", "no_json", "wrong_keys"]

_OPENING = re.compile(r"\{\s*[\"}]")
_MAX_OPENINGS = 1000  # each may be tried to the end of the text: hostile answers have more
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_DOMAIN = re.compile(r"\(\s*domain\s", re.IGNORECASE)
_PROBLEM = re.compile(r"\(\s*problem\s", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """A domain and a problem, or, with both empty, the `fault` that left none:

    - "empty": nothing but blanks, or one of the two texts is nothing but blanks
    - "truncated": cut by a token limit; never passed on, even where it looks whole
    - "unfinished_thought": a reasoning model thought until it ran out of tokens
    - "no_json": no JSON object in it (nor, when free, a pair of fenced blocks)
    - "wrong_keys": a JSON object, but without two strings df and pf
    """

    domain: str
    problem: str
    fault: Fault


def read_pddl(completion: Completion, rung: str) -> Answer:
    """The PDDL of a completion drawn on `rung`.

    Raises GrammarIgnored if a finished answer contradicts the rung's grammar, ModelFault if it is a
    valid beginning that the decoder ended too early.
    """
    if completion.finish_reason == "unfinished_thought":
        return _without("unfinished_thought")
    if completion.finish_reason == "length":
        return _without("truncated")
    grammar = grammar_for(rung)
    if grammar is None:
        return _extract(completion.text)
    return _decode(completion.text, grammar)


def _without(fault: Fault) -> Answer:
    return Answer("", "", fault)


def _pair(domain: str, problem: str) -> Answer:
    if not domain.strip() or not problem.strip():
        return _without("empty")
    try:
        (domain + problem).encode()
    except UnicodeEncodeError:  # half a character, as "\ud800": no text that a file could hold
        return _without("no_json")
    return Answer(domain, problem, "")


def _decode(text: str, grammar: Grammar) -> Answer:
    """Strictly: exactly what the grammar lets a decoder write."""
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        pairs = None
    whole = (
        isinstance(pairs, list)
        and tuple(pair[0] for pair in pairs if isinstance(pair, tuple)) == KEYS
        and all(isinstance(pair[1], str) for pair in pairs)
    )
    if not whole or (grammar.kind == "lark" and not accepts(grammar, text)):
        raise _not_drawn_under(grammar, text)
    return _pair(pairs[0][1], pairs[1][1])


def _not_drawn_under(grammar: Grammar, text: str) -> ModelFault:
    if decoder_verdict(grammar, text) == "unfinished":
        return ModelFault(
            f"The decoder ended an answer after {len(text)} characters, before the grammar "
            f"{grammar.name!r} was satisfied; the request can be repeated."
        )
    return GrammarIgnored(
        f"A finished answer is outside the grammar {grammar.name!r}: the model's backend does not "
        "obey grammars; start the server with the guidance backend, or choose decoding=free."
    )


def _extract(text: str) -> Answer:
    """Freely: prose, fences and raw newlines may surround the answer; the last complete one counts.

    A JSON object with the strings df and pf comes first, other keys in it are passed over; without
    one, the last fenced block with `(domain` and the last with `(problem`, in different blocks.
    """
    if not text.strip():
        return _without("empty")
    fault: Fault = "no_json"
    found: dict[str, Any] | None = None
    for candidate in _objects(text):
        if all(isinstance(candidate.get(key), str) for key in KEYS):
            found = candidate
        else:
            fault = "wrong_keys"
    if found is not None:
        return _pair(found["df"], found["pf"])
    domain = problem = ""
    for block in _FENCE.findall(text):
        holds_domain, holds_problem = bool(_DOMAIN.search(block)), bool(_PROBLEM.search(block))
        if holds_domain and not holds_problem:
            domain = block
        elif holds_problem and not holds_domain:
            problem = block
    return _pair(domain, problem) if domain and problem else _without(fault)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text, from left to right; newlines inside strings may be raw.

    Inside an object that is an answer nothing more is looked for; inside any other, its parts are.
    """
    decoder = json.JSONDecoder(strict=False)
    end = 0
    for opening in [match.start() for match in _OPENING.finditer(text)][-_MAX_OPENINGS:]:
        if opening < end:
            continue
        try:
            candidate, stop = decoder.raw_decode(text, opening)
        except (ValueError, RecursionError):
            continue
        yield candidate
        if all(key in candidate for key in KEYS):
            end = stop

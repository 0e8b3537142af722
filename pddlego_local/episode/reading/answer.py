"""From what a model wrote to the value that its form asks for, or to the named reason for none.

What the strings hold is never touched: what is wrong inside PDDL is for the planner to say. An
answer that could not have been drawn under its grammar is our fault and raised, not the model's.
"""

import json
from typing import Any, TypeVar

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages
from pddlego_local.decoding import Reading
from pddlego_local.decoding.forms import Form, Keys
from pddlego_local.decoding.grammars.lark_text import accepts, decoder_verdict
from pddlego_local.decoding.stages import Constraint, StagedGrammar
from pddlego_local.episode.reading.lenient import lenient
from pddlego_local.episode.reading.strict import strict
from pddlego_local.episode.reading.value import Answer, filled

__all__ = ["Answer", "read"]

T = TypeVar("T", bound=Keys)


def read(
    completion: Completion,
    form: Form[T],
    constraint: Constraint,
    *,
    reading: Reading = "lenient",
    prompt: Messages = (),
) -> Answer[T]:
    """The value of a completion drawn under `constraint`; without one, it is read as `reading` has
    it, and `prompt` is what was asked.

    Raises GrammarIgnored if a finished answer contradicts the grammar, ModelFault if it is a
    valid beginning that the decoder ended too early. Stages are looked at where they are
    drawn.
    """
    if completion.finish_reason == "unfinished_thought":
        return Answer(None, "unfinished_thought")
    cut = completion.finish_reason == "length"
    if constraint is None and reading == "lenient":
        return lenient(completion.text, form, cut=cut, prompt=prompt).answer
    if cut:
        return Answer(None, "truncated")
    if constraint is None:
        return strict(completion.text, form)
    return _decode(completion.text, form, constraint)


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
    return filled(value, form)


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

"""From a model's text to the value that its form asks for, or to the fault that
explains its absence. If an answer could not have been drawn under its grammar, this is
not the model's fault but an error of the infrastructure, which is raised.
"""

import json
import re
from dataclasses import dataclass
from typing import Generic, TypeVar

import pydantic

from pddlego_local.core.errors import GrammarIgnored
from pddlego_local.core.nouns import Completion, Messages
from pddlego_local.core.protocols import Thinks
from pddlego_local.decoding.forms import (
    DOMAIN,
    PDDL,
    PROBLEM,
    Fault,
    Fields,
    Form,
    T_co,
)
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding, Reading
from pddlego_local.episode.reading.lenient import lenient
from pddlego_local.episode.reading.objects import objects
from pddlego_local.episode.reading.thoughts import Markers
from pddlego_local.pddl.sections import (
    domain_without_repetition,
    problem_without_repetition,
)

T = TypeVar("T", bound=Fields)

_FENCED = re.compile(  # a fence that is never closed has no content
    r"^[ \t]*```[^\n`]*\n(?:(.*?)^[ \t]*```[ \t]*$|.*)", re.MULTILINE | re.DOTALL
)
_KIND = re.compile(r"\(\s*(domain|problem)\s", re.IGNORECASE)
_KEYS = {"domain": "df", "problem": "pf"}


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """The value that was asked for, or None and the `fault` that explains its absence:

    - "empty": the answer is blank, or a required text in it is blank
    - "truncated": a token limit cut the answer before it was complete
    - "unfinished_thought": a reasoning model ran out of tokens while it was thinking
    - "server_failed": the server cannot answer the request
    - "no_json": there is no JSON object (nor, in a free answer, another form that can
      be read)
    - "wrong_keys": there is a JSON object, but not one of the form
    - "placeholder": there is only a stand-in for an answer, such as "..." or "<domain
      file>"

    `redundant` lists what was removed from the value because it was stated twice.
    """

    value: T_co | None
    fault: Fault
    redundant: tuple[str, ...] = ()


def read_answer(
    drawn: Drawn,
    question: Question[T],
    constraint: Constraint,
    decoding: Decoding,
    model: Model,
) -> Answer[T]:
    """Reads the value of an answer as its constraint and `decoding.reading` require.

    What is stated twice is removed from a constrained answer, and from a free one that
    a rejection sampling accepted as an answer of its rung.
    """
    if not constraint.free:
        answer = read_constrained(drawn.completion, question.form)
        removes_repetition = decoding.excludes.typed
    else:
        answer = read_as_asked(drawn.completion, question, decoding, model)
        reject = decoding.reject if model.decodes else None
        removes_repetition = reject is not None and len(drawn.stages) < reject.tries
    return without_repetition(answer, question) if removes_repetition else answer


def read_as_asked(
    completion: Completion, question: Question[T], decoding: Decoding, model: Model
) -> Answer[T]:
    """Reads a free answer of a model to a question."""
    return read_free(
        completion,
        question.form,
        reading=decoding.reading,
        prompt=question.messages,
        markers=model.thought_markers if isinstance(model, Thinks) else None,
        problem=question.context.problem,
    )


def without_repetition(answer: Answer[T], question: Question[T]) -> Answer[T]:
    """Removes what the answer's PDDL files state twice. In an edit, this happens later,
    when it is applied.
    """
    if answer.value is None:
        return answer
    files = answer.value.model_dump()
    removed: list[str] = []
    if "df" in files:
        files["df"], from_domain = domain_without_repetition(files["df"])
        removed += from_domain
    if "pf" in files:
        domain = files.get("df", question.context.domain)
        files["pf"], from_problem = problem_without_repetition(files["pf"], domain)
        removed += from_problem
    if not removed:
        return answer
    value = question.form.keys.model_validate(files)
    return Answer(value, answer.fault, tuple(removed))


def read_free(
    completion: Completion,
    form: Form[T],
    *,
    reading: Reading = "lenient",
    prompt: Messages = (),
    markers: Markers | None = None,
    problem: str = "",
) -> Answer[T]:
    """Reads the value of a free answer, leniently or strictly as `reading` says.

    `prompt` holds the messages of the request. `markers` surround the model's thoughts.
    `problem` is the file that an edit changes.
    """
    if completion.finish_reason in ("unfinished_thought", "server_failed"):
        return Answer(None, completion.finish_reason)
    cut = completion.finish_reason == "length"
    if reading == "lenient":
        found = lenient(
            completion.text,
            form,
            cut=cut,
            prompt=prompt,
            markers=markers,
            problem=problem,
        )
        return as_answer(found.taken.value if found.taken else None, found.fault, form)
    return Answer(None, "truncated") if cut else strict(completion.text, form)


def read_constrained(completion: Completion, form: Form[T]) -> Answer[T]:
    """Reads the value of an answer that was drawn under a grammar.

    Raises GrammarIgnored if a finished answer does not have the form exactly. The
    session checks during the draw whether the answer is in the grammar's language.
    """
    if completion.finish_reason in ("unfinished_thought", "server_failed"):
        return Answer(None, completion.finish_reason)
    if completion.finish_reason != "stop":
        return Answer(None, "truncated")
    try:
        value = form.keys.model_validate(json.loads(completion.text), strict=True)
        keys = [key for key, _ in json.loads(completion.text, object_pairs_hook=list)]
    except (ValueError, RecursionError):
        keys = []
    if keys != list(form.keys.model_fields):
        raise GrammarIgnored(
            f"A finished answer is not the {form.name!r} that its grammar requires: the"
            " model's backend does not obey grammars; start the server with the"
            " guidance backend, or choose decoding=free."
        )
    return as_answer(value, "", form)


def as_answer(value: T | None, fault: Fault, form: Form[T]) -> Answer[T]:
    """Returns the value, unless a required text is blank or a text cannot be
    encoded.
    """
    if value is None:
        return Answer(None, fault)
    entries = value.model_dump()
    for key, text in entries.items():
        is_blank = isinstance(text, str) and not text.strip()
        if is_blank and key not in form.may_be_blank:
            return Answer(None, "empty")
    try:
        json.dumps(entries, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, such as "\ud800"
        return Answer(None, "no_json")
    return Answer(value, "")


def strict(text: str, form: Form[T]) -> Answer[T]:
    """Reads strict JSON, or one fenced block for each of the two files.

    This is the arm `decoding.reading=strict`; all records before that option were read
    in this way. Prose, fences and raw newlines may surround the answer, and the last
    complete answer is taken. A JSON object of the form has priority; its other keys are
    ignored. If there is none and the form asks for PDDL, the last fenced blocks with
    `(domain` and with `(problem` are read. They must be different blocks.
    """
    if not text.strip():
        return Answer(None, "empty")
    fault: Fault = "no_json"
    value: T | None = None
    keys = form.keys.model_fields.keys()
    for found in objects(text, lambda entries: keys <= entries.keys(), exactly=True):
        entries = {key: found.entries.get(key) for key in keys}
        try:
            value = form.keys.model_validate(entries)
        except pydantic.ValidationError:
            fault = "wrong_keys"
    if value is None and form in (PDDL, DOMAIN, PROBLEM):
        blocks = _fenced_files(text)
        if keys <= blocks.keys():
            value = form.keys.model_validate({key: blocks[key] for key in keys})
    return as_answer(value, fault, form)


def _fenced_files(text: str) -> dict[str, str]:
    """Returns the last fenced block with only a domain and with only a problem."""
    blocks: dict[str, str] = {}
    for block in _FENCED.findall(text):
        kinds = {kind.lower() for kind in _KIND.findall(block)}
        if len(kinds) == 1:
            blocks[_KEYS[kinds.pop()]] = block
    return blocks

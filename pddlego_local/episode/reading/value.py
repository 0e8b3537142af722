"""What reading ends in: the value that a form asks for, or the named reason for none."""

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pddlego_local.decoding.forms import Fault, Form, Keys, T_co

T = TypeVar("T", bound=Keys)


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """The value that was asked for, or None and the `fault` that left none:

    - "empty": nothing but blanks, or a text that was asked for is nothing but blanks
    - "truncated": cut by a token limit before a whole answer stood there
    - "unfinished_thought": a reasoning model thought until it ran out of tokens
    - "no_json": no JSON object in it (nor, when free, another way of writing what is asked)
    - "wrong_keys": a JSON object, but not one of the form
    """

    value: T_co | None
    fault: Fault


def filled(value: T, form: Form[T]) -> Answer[T]:
    """The value, unless a text that was asked for is blank or could stand in no file."""
    entries = value.model_dump()
    for key, text in entries.items():
        if isinstance(text, str) and not text.strip() and key not in form.may_be_blank:
            return Answer(None, "empty")
    try:
        json.dumps(entries, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character, as "\ud800"
        return Answer(None, "no_json")
    return Answer(value, "")

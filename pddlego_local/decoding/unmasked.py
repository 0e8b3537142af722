"""Stops loops in answers whose lists no grammar writes (`decoding.stop_loops` on the
rungs "free" and "json").

A list in which an item appears for the third time is cut after its last distinct item,
its bracket is closed, and the model goes on: freely, or to the end of the JSON object.
"""

import dataclasses
import functools
import json
from collections.abc import Callable

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.repetition import LoopWatch, open_brackets
from pddlego_local.decoding.session import Constraint, Stage, Stages

_CLOSING = {"(": ")", "[": "]"}
_REST_OF_STRING = r'/([^"\\\x00-\x1f]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/'
_ANY_SPACE = r"SPACE: /[ \t\r\n]*/"  # of JSON; the exact layouts have single spaces


def with_loops_stopped(
    constraint: Constraint, rest: Callable[[str], Grammar | None]
) -> Constraint:
    """Returns a constraint of one stage with its loops stopped. `rest` returns the
    grammar of what may follow the beginning of an answer.
    """

    def stages() -> Stages:
        before = kept = ""
        watch = LoopWatch(before, names=False, in_files=True)
        stage = Stage("answer", constraint.first_grammar, watch=watch)
        while True:
            text = kept + (yield stage)
            if watch.kept is None:
                return
            kept = text[: len(before) + watch.kept]
            closing = _CLOSING[open_brackets(kept)[-1]]
            before = kept + closing
            watch = LoopWatch(before, names=False, in_files=True)
            stage = Stage(
                "rest",
                rest(before),
                rollback_chars=len(text) - len(kept),
                forced_prefix=closing,
                watch=watch,
            )

    return Constraint(constraint.name, stages)


def rest_of_strings(
    keys: type[Fields], layout: Layout
) -> Callable[[str], Grammar | None]:
    """Returns a function from the beginning of a JSON object, which ends within a
    string, to the grammar of its rest. All values of the object are strings.
    """

    def rest(before: str) -> Grammar:
        quotes = before.replace("\\\\", "").replace('\\"', "").count('"')
        ended = (quotes - 3) // 4  # a key and its value have four quotation marks
        return _rest(tuple(keys.model_fields)[ended + 1 :], layout)

    return rest


@functools.lru_cache(maxsize=100)
def _rest(keys: tuple[str, ...], layout: Layout) -> Grammar:
    colon, comma, end = '":" " "', '"," " "', ""
    if layout == "any":
        colon, comma, end = 'SPACE ":" SPACE', 'SPACE "," SPACE', "SPACE"
    parts = ["REST"]
    for key in keys:
        parts.append(f'{comma} {json.dumps(json.dumps(key))} {colon} "\\"" REST')
    lines = [f'start: {" ".join(parts)} {end} "}}"', f"REST: {_REST_OF_STRING}"]
    if layout == "any":
        lines.append(_ANY_SPACE)
    return Grammar("json_rest", "lark", "\n".join(lines) + "\n")


def without_watch(constraint: Constraint) -> Constraint:
    """Returns the constraint of an answer in stages with no loop stopped."""

    def stages() -> Stages:
        watched = constraint.stages()
        stage = next(watched)
        while True:
            text = yield dataclasses.replace(stage, watch=None)
            try:
                stage = watched.send(text)
            except StopIteration:
                return

    return dataclasses.replace(constraint, stages=stages)

"""A model's answer as a person reads it: its parts, and the stages in which it was drawn."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pddlego_local.core.record.events import Call, DrawnStage


@dataclass(frozen=True)
class Drawn:
    """One stage: `taken_back` was rolled back before it, `forced` is its head, which the model did
    not choose, and `chosen` the rest of what it added."""

    stage: DrawnStage
    taken_back: str
    forced: str
    chosen: str


def drawn_stages(call: Call) -> Iterator[Drawn]:
    """The stages of an answer in order; a draft is none."""
    so_far = ""
    for stage in call.stages:
        if stage.name != "draft":
            head = stage.head if stage.text.startswith(stage.head) else ""
            taken_back = so_far[len(stage.before) :] if stage.drop else ""
            yield Drawn(stage, taken_back, head, stage.text[len(head) :])
            so_far = stage.before + stage.text


def parts_of(text: str) -> list[tuple[str, str]]:
    """(key, value) of an answer that is a JSON object, else the text under no key."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return [("", text)]
    if not isinstance(answer, dict):
        return [("", text)]
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in answer.items()
    ]

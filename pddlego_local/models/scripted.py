"""Answers given in advance, one after the other: not a language model.

For testing a method's loops through the real environment and the real planner.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.question import Drawn, Question, WholeAnswerModel


class Scripted(WholeAnswerModel):
    """`asked` keeps the questions. For one episode at a time."""

    decodes: ClassVar[Literal[False]] = False

    def __init__(self, answers: Iterable[str | Completion | Exception]) -> None:
        """A string is an answer in full; a Completion is given as it is; an exception is raised."""
        self._answers = iter(answers)
        self.asked: list[Question[Fields]] = []

    def identity(self) -> dict[str, str]:
        return {"backend": "scripted", "note": "answers given in advance, not a language model"}

    def answer(
        self, question: Question[Fields], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        """The next answer. Raises ModelFault when none is left."""
        self.asked.append(question)
        answer = next(self._answers, ModelFault("the script is over"))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = Completion(answer, "stop", 0, 0, 0.0)
        return Drawn(answer)

"""A stand-in for a language model that returns given answers, one after the other.

It tests a method's loops with the real environment and the real planner.
"""

from collections.abc import Iterable

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.decoding.question import AnyQuestion, Drawn, WholeAnswerModel


class Scripted(WholeAnswerModel):
    """Returns given answers, for one episode at a time. `asked` keeps the questions."""

    def __init__(self, answers: Iterable[str | Completion | Exception]) -> None:
        """Takes the answers in order.

        A string becomes a complete answer, a Completion is returned unchanged, and an
        exception is raised.
        """
        self._answers = iter(answers)
        self.asked: list[AnyQuestion] = []

    def identity(self) -> dict[str, str]:
        return {
            "backend": "scripted",
            "note": "answers given in advance, not a language model",
        }

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        """Returns the next answer. Raises ModelFault if none is left."""
        self.asked.append(question)
        answer = next(self._answers, ModelFault("the script is over"))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = Completion(answer, "stop", 0, 0, 0.0)
        return Drawn(answer)

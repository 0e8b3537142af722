"""Answers given in advance, one after the other: not a language model.

For testing a method's loops through the real environment and the real planner.
"""

from collections.abc import Iterable

from pddlego_local.core import Completion, Grammar, Prompt, Sampling, Written
from pddlego_local.errors import ModelFault
from pddlego_local.models.continuation import one_by_one


class Scripted:
    """`asked` keeps what it was asked. For one episode at a time."""

    decodes = False

    def __init__(self, answers: Iterable[str | Completion | Exception]) -> None:
        """A string is an answer in full; a Completion is given as it is; an exception is raised."""
        self._answers = iter(answers)
        self.asked: list[Prompt] = []

    def preflight(self, *, thinking: bool = False) -> None:
        """Needs nothing."""

    def identity(self) -> dict[str, str]:
        return {"backend": "scripted", "note": "answers given in advance, not a language model"}

    def complete(
        self,
        prompt: Prompt,
        grammar: Grammar | None,
        sampling: Sampling,
        written: Written | None = None,
    ) -> Completion:
        """The next answer. Raises ModelFault when none is left."""
        self.asked.append(prompt)
        answer = next(self._answers, ModelFault("the script is over"))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = Completion(answer, "stop", 0, 0, 0.0)
        return answer

    def complete_many(
        self, prompt: Prompt, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """The next `count` answers. Raises as `complete`."""
        return one_by_one(self.complete, prompt, grammar, sampling, count)

    def close(self) -> None:
        """Holds nothing."""

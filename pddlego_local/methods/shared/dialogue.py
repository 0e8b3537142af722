"""A dialogue with the model that grows question by question, answer by answer."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pddlego_local.core import Message, Prompt
from pddlego_local.decoding.forms import Form, Keys
from pddlego_local.episode import Episode

T = TypeVar("T", bound=Keys)


class Dialogue:
    """User and assistant take turns: some chat templates know nothing else.

    An answer without a usable value is asked for again, up to `max_retries` times, and is told what
    was wrong with it; it leaves no trace in the dialogue.
    """

    def __init__(self, episode: Episode, max_retries: int) -> None:
        self._episode = episode
        self._max_retries = max_retries
        self._messages: tuple[Message, ...] = ()

    def ask(
        self,
        question: str,
        asks: str,
        form: Form[T],
        *,
        step: int,
        facts: Mapping[str, Any] | None = None,
    ) -> T | None:
        """The answer, which stays in the dialogue with its question; None if none was usable."""
        told = question
        for retry in range(self._max_retries + 1):
            prompt = Prompt(
                (*self._messages, Message("user", told)),
                asks,
                self._episode.environment.package,
                self._episode.memory,
                facts or {},
            )
            answer = self._episode.ask(prompt, form, step=step, retry=retry)
            if answer.value:
                self._messages = (
                    *self._messages,
                    Message("user", question),
                    Message("assistant", answer.value.model_dump_json()),
                )
                return answer.value
            told = f"{question}\n\n{form.message(answer.fault)}"
        return None

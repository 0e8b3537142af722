"""A dialogue with the model that grows question by question, answer by answer."""

from collections.abc import Sequence
from typing import TypeVar

from pddlego_local.core.nouns import Message, Messages
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.shown import Shown

T = TypeVar("T", bound=Fields)


class Dialogue:
    """User and assistant take turns: some chat templates know nothing else. An answer without a
    usable value is asked for again, up to `max_retries` times, and is told what was wrong with it;
    it leaves no trace in the dialogue."""

    def __init__(self, episode: Episode, max_retries: int) -> None:
        self._episode = episode
        self._max_retries = max_retries
        self._messages: Messages = ()

    def ask(
        self,
        text: str,
        form: Form[T],
        *,
        step: int,
        commands: Sequence[str] = (),
        subgoal: str = "",
    ) -> T | None:
        """The answer, which stays in the dialogue with its question; None if none was usable."""
        content = text
        for retry in range(self._max_retries + 1):
            question = self._episode.question(
                form,
                Shown(),
                (*self._messages, Message("user", content)),
                commands=commands,
                subgoal=subgoal,
            )
            answer = self._episode.ask(question, step=step, retry=retry)
            if answer.value:
                self._messages = (
                    *self._messages,
                    Message("user", text),
                    Message("assistant", answer.value.model_dump_json()),
                )
                return answer.value
            content = f"{text}\n\n{form.message(answer.fault)}"
        return None

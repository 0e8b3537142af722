"""A dialogue with the model, which grows by a question and an answer at a time."""

from collections.abc import Sequence
from typing import TypeVar

from pddlego_local.core.nouns import Message, Messages
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.shown import Shown

T = TypeVar("T", bound=Fields)


class Dialogue:
    """A dialogue in which user and assistant take turns, as some chat templates
    require.

    If an answer has no usable value, the question is asked again, up to `max_retries`
    times, with a message that says what was wrong. The unusable answer is not kept in
    the dialogue.
    """

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
        goal: str = "",
    ) -> T | None:
        """Returns the answer and keeps it in the dialogue, or returns None if none was
        usable.
        """
        content = text
        episode = self._episode
        for retry in range(self._max_retries + 1):
            messages = (*self._messages, Message("user", content))
            question = episode.question(
                form, Shown(), messages, commands=commands, subgoal=goal
            )
            answer = episode.ask(question, step=step, retry=retry)
            if answer.value:
                self._messages = (
                    *self._messages,
                    Message("user", text),
                    Message("assistant", answer.value.model_dump_json()),
                )
                return answer.value
            content = f"{text}\n\n{form.message(answer.fault)}"
        return None

"""The responses of a vLLM server: texts, thoughts, tokens. This module sends nothing.

The types below have only the fields that the package uses; other fields may contain
anything.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pddlego_local.core.errors import ConfigError, ModelFault

# Events of a stream without tokens: its beginning, its end, its counts.
_MORE_EVENTS = 64

Count = Annotated[int, Field(ge=0, le=2**40)]
Tokens = tuple[Annotated[int, Field(ge=0)], ...]


class Body(BaseModel):
    """Base of all response types. It is strict: a number in a string is an error, for
    example.
    """

    model_config = ConfigDict(strict=True, frozen=True)


class Choice(Body):
    """One of the answers.

    `token_ids` are present if they were requested. An answer that the client stopped
    (`Watch`) has the finish reason "length".
    """

    index: Count = 0
    finish_reason: Literal["stop", "length"]
    token_ids: Tokens | None = None

    @property
    def said(self) -> str:
        """Everything that the model wrote, thought included."""
        raise NotImplementedError

    @property
    def instead(self) -> str:
        """Describes what the server sent in place of a text; "" if it sent nothing
        else.
        """
        return ""

    @property
    def drawn(self) -> Tokens:
        """All tokens that were drawn: thought, answer, end of text.

        Raises ConfigError if the server does not return them.
        """
        return required("token_ids", self.token_ids)

    @property
    def spelled(self) -> Tokens:
        """The drawn tokens without the end of text, which comes last if the reason is
        "stop".

        Raises ConfigError if the server does not return the tokens.
        """
        return self.drawn[:-1] if self.finish_reason == "stop" else self.drawn


class TextChoice(Choice):
    """An answer of a plain completion."""

    text: str

    @property
    def said(self) -> str:
        return self.text


class Message(Body):
    """The message of a chat completion.

    vLLM returns a thought as `reasoning`, other servers as `reasoning_content`. A
    gateway may send a `refusal` or `tool_calls` in place of the content.
    """

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: Any = None
    function_call: Any = None

    @property
    def thought(self) -> str:
        return self.reasoning or self.reasoning_content or ""


class ChatChoice(Choice):
    """An answer of a chat completion."""

    message: Message

    @property
    def said(self) -> str:
        return self.message.thought + (self.message.content or "")

    @property
    def instead(self) -> str:
        message = self.message
        if message.content:
            return ""
        if message.refusal:
            return f"a refusal ({message.refusal!r})"
        return "a call of a tool" if message.tool_calls or message.function_call else ""

    @property
    def is_thought(self) -> bool:
        """Whether the message has a thought and no text after it."""
        return bool(self.message.thought) and not self.message.content

    def text(self, *, thinking: bool, constrained: bool) -> str:
        """Returns the answer after its thought; "" if it was cut off before it began.

        A model may think even if no thought was requested; gpt-oss always does. Raises
        ConfigError if the server uses a reasoning parser that `model.thinking` does not
        mention. The sign is a response with nothing but an unrequested thought, if it
        is complete or if a grammar should have applied to it (`constrained`).
        """
        unasked = self.is_thought and not thinking
        if unasked and (constrained or self.finish_reason == "stop"):
            raise ConfigError(
                "The server treated the answer as a thought, so no grammar applied to"
                " it: it runs with a reasoning parser that model.thinking does not"
                " mention; set model.thinking, or start the server without"
                " --reasoning-parser."
            )
        return self.message.content or ""


T = TypeVar("T")
C = TypeVar("C", ChatChoice, TextChoice)


class Usage(Body):
    """The numbers of tokens in a response."""

    prompt_tokens: Count
    completion_tokens: Count


class Answers(Body, Generic[C]):
    """A response with one or more answers."""

    choices: Annotated[tuple[C, ...], Field(min_length=1)]
    usage: Usage
    model: str | None = None
    prompt_token_ids: Tokens | None = None


class _Part(Body):
    text: str
    token_ids: Tokens
    finish_reason: Literal["stop", "length"] | None = None


class _Piece(Body):
    """One event of a streamed response; the last one contains no text."""

    choices: Annotated[tuple[_Part, ...], Field(max_length=1)]
    usage: Usage
    model: str | None = None


class Watch:
    """Decides from the text of an answer so far whether to stop it, and remembers its
    decision.
    """

    def __init__(self, watch: Callable[[str], bool]) -> None:
        self._watch = watch
        self.stopped = False

    def __call__(self, text: str) -> bool:
        self.stopped = self._watch(text)
        return self.stopped


class Streamed:
    """Collects a streamed response, one event per line, until `watch` returns True for
    its text.

    `joined` is the same response as JSON in one piece. If the stream ended too early,
    `joined` has no finish reason and is not a valid answer. A stream may have
    `max_tokens` tokens, and hardly more events.
    """

    def __init__(self, watch: Callable[[str], bool], max_tokens: int) -> None:
        self._watch, self._max_tokens = watch, max_tokens
        self._text, self._tokens = "", list[int]()
        self._finished: str | None = None
        self._events = 0
        self._counts: dict[str, Any] = {}

    def __call__(self, line: bytes) -> bool:
        """Reads one line and returns whether to stop the response.

        Raises ValidationError if the line is not a valid event, and ModelFault if the
        stream goes on after its end or after its last token.
        """
        if not line.startswith(b"data: {"):  # an empty line, or the end marker
            return False
        piece = _Piece.model_validate_json(line.removeprefix(b"data: "))
        self._counts = piece.model_dump(include={"usage", "model"})
        self._events += 1
        for part in piece.choices:
            self._add(part)
        if self._events > self._max_tokens + _MORE_EVENTS:
            raise ModelFault(
                f"The server sends more than {self._max_tokens} pieces of an answer."
            )
        if self._finished or not (piece.choices and self._watch(self._text)):
            return False
        self._finished = "length"
        return True

    def _add(self, part: _Part) -> None:
        if self._finished:
            raise ModelFault(
                "The server goes on with an answer after the end of the answer."
            )
        self._text += part.text
        self._tokens += part.token_ids
        self._finished = part.finish_reason
        if len(self._tokens) > self._max_tokens:
            raise ModelFault(
                f"The server goes on after the {self._max_tokens} tokens asked for."
            )

    @property
    def joined(self) -> bytes:
        """The JSON of the response, as if it had come in one piece."""
        choice = {
            "text": self._text,
            "token_ids": self._tokens,
            "finish_reason": self._finished,
        }
        return json.dumps({"choices": [choice], **self._counts}).encode()


class Tokenized(Body):
    """The response of /tokenize: the tokens, and the size of the model's context in
    tokens.
    """

    tokens: Tokens
    count: Count
    max_model_len: Count


class Detokenized(Body):
    """The response of /detokenize: the text."""

    prompt: str


class Templated(Body):
    """The response of llama.cpp's /apply-template: the prompt."""

    prompt: str


class Version(Body):
    """The response of /version."""

    version: Annotated[str, Field(pattern=r"^[\w.+!-]{1,80}$")]


def required(name: str, what: T | None) -> T:
    """Returns a field of a response. Raises ConfigError if the server did not return
    it.
    """
    if what is None:
        raise ConfigError(
            f"The server does not return the {name} of an answer, which answers in"
            " stages and several samples in one request need; it is too old, or a"
            " gateway removes them. Point model.server.url at vLLM >= 0.12 itself, or"
            " choose decoding=syntax and one sample."
        )
    return what

"""What a vLLM server's responses say: texts, thoughts, tokens. Sends nothing.

The types below are what is relied on of a response; what they leave out may be anything.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from pddlego_local.core.errors import ConfigError

Count = Annotated[int, Field(ge=0, le=2**40)]
Tokens = tuple[Annotated[int, Field(ge=0)], ...]


class Body(BaseModel):
    """Numbers are numbers and texts are texts: nothing is converted."""

    model_config = ConfigDict(strict=True, frozen=True)


class Choice(Body):
    """One of the answers; `token_ids` where they were asked for. A "circle" is one that we broke
    off."""

    index: Count = 0
    finish_reason: Literal["stop", "length", "circle"]
    token_ids: Tokens | None = None

    @property
    def drawn(self) -> Tokens:
        """All tokens that were drawn: thought, answer, end-of-text.

        Raises ConfigError if the server does not tell them.
        """
        return required("token_ids", self.token_ids)

    @property
    def spelled(self) -> Tokens:
        """The tokens of the text: a "stop" is an end-of-text, drawn last. Raises as `drawn`."""
        return self.drawn[:-1] if self.finish_reason == "stop" else self.drawn


class TextChoice(Choice):
    text: str


class Message(Body):
    """A thought is the `reasoning` of vLLM, the `reasoning_content` of other servers."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def thought(self) -> str:
        return self.reasoning or self.reasoning_content or ""


class ChatChoice(Choice):
    message: Message

    @property
    def is_thought(self) -> bool:
        """Whether it is a thought and nothing behind it."""
        return bool(self.message.thought) and not self.message.content

    def text(self, *, thinking: bool, constrained: bool) -> str:
        """The answer behind its thought; "" if it was cut before it began.

        A model that was asked for no thought may still think, as gpt-oss always does. Raises
        ConfigError if the server runs with a reasoning parser that we do not know of: a thought
        ended the answer, or stands where a grammar should have been obeyed (`constrained`).
        """
        unasked = self.is_thought and not thinking
        if unasked and (constrained or self.finish_reason == "stop"):
            raise ConfigError(
                "The server took the answer for a thought, and no grammar applied to it: it runs "
                "with a reasoning parser that model.thinking does not tell of; set model.thinking, "
                "or start the server without --reasoning-parser."
            )
        return self.message.content or ""


T = TypeVar("T")
C = TypeVar("C", ChatChoice, TextChoice)


class Usage(Body):
    prompt_tokens: Count
    completion_tokens: Count


class Answers(Body, Generic[C]):
    """`forced_tokens` are those of an answer that the server wrote without sampling them; 0 where
    it does not tell: it drafts none, or there are several answers in the response."""

    choices: Annotated[tuple[C, ...], Field(min_length=1)]
    usage: Usage
    prompt_token_ids: Tokens | None = None
    forced_tokens: Count = Field(
        default=0,
        validation_alias=AliasPath("metrics", "speculative_decoding", "num_accepted_draft_tokens"),
    )


class _Part(Body):
    text: str
    token_ids: Tokens
    finish_reason: Literal["stop", "length"] | None = None


class _Piece(Body):
    """Of a response that is streamed; the last one has no part of the text."""

    choices: Annotated[tuple[_Part, ...], Field(max_length=1)]
    usage: Usage
    metrics: Any = None


class Streamed:
    """A response that comes in pieces, one a line, until the `watch` on its text says that it is
    enough; `joined` is then the JSON of a response that came at once. One that ended by itself
    without its end has no finish reason there, and is no answer."""

    def __init__(self, watch: Callable[[str], bool]) -> None:
        self._watch = watch
        self._text, self._tokens = "", list[int]()
        self._finish_reason: str | None = None
        self._counts: dict[str, Any] = {}

    def __call__(self, line: bytes) -> bool:
        """Whether the response is to be broken off. Raises ValidationError for what is no piece."""
        if not line.startswith(b"data: {"):  # blank, or the mark of the end
            return False
        piece = _Piece.model_validate_json(line.removeprefix(b"data: "))
        self._counts = piece.model_dump(include={"usage", "metrics"})
        for part in piece.choices:
            self._text += part.text
            self._tokens += part.token_ids
            self._finish_reason = part.finish_reason
        if self._finish_reason or not self._watch(self._text):
            return False
        self._finish_reason = "circle"
        return True

    @property
    def joined(self) -> bytes:
        choice = {
            "text": self._text,
            "token_ids": self._tokens,
            "finish_reason": self._finish_reason,
        }
        return json.dumps({"choices": [choice], **self._counts}).encode()


class Tokenized(Body):
    """Of a prompt, with the size of the model's context."""

    tokens: Tokens
    count: Count
    max_model_len: Count


class Detokenized(Body):
    prompt: str


class Version(Body):
    version: Annotated[str, Field(pattern=r"^[\w.+!-]{1,80}$")]


def required(name: str, what: T | None) -> T:
    """Raises ConfigError if the server does not tell it."""
    if what is None:
        raise ConfigError(
            f"The server does not tell the {name} of an answer, which answers in stages and "
            "several samples in one request need: it is too old, or a gateway drops them. Point "
            "model.server.url at vLLM >= 0.12 itself, or choose decoding=syntax and one sample."
        )
    return what

"""What a vLLM server's responses say: texts, thoughts, tokens. Sends nothing.

The types below are what is relied on of a response; what they leave out may be anything.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Completion, Prefix

Count = Annotated[int, Field(ge=0, le=2**40)]
Tokens = tuple[Annotated[int, Field(ge=0)], ...]


class Body(BaseModel):
    """Numbers are numbers and texts are texts: nothing is converted."""

    model_config = ConfigDict(strict=True, frozen=True)


class Usage(Body):
    prompt_tokens: Count
    completion_tokens: Count


class Message(Body):
    content: str | None = None
    reasoning: str | None = None


class Choice(Body):
    """One of the answers; `token_ids` where they were asked for."""

    index: Count = 0
    finish_reason: str | None = None
    token_ids: Tokens | None = None


class ChatChoice(Choice):
    message: Message


class TextChoice(Choice):
    text: str


class Drafts(Body):
    num_accepted_draft_tokens: Count = 0


class Metrics(Body):
    speculative_decoding: Drafts | None = None


class Answers(Body):
    usage: Usage
    prompt_token_ids: Tokens | None = None
    metrics: Metrics | None = None

    @property
    def forced_tokens(self) -> int:
        """How many tokens of an answer the server wrote without sampling them.

        0 where it does not tell: it drafts none, or there are several answers in the response.
        """
        drafts = self.metrics and self.metrics.speculative_decoding
        return drafts.num_accepted_draft_tokens if drafts else 0


class ChatAnswers(Answers):
    choices: Annotated[tuple[ChatChoice, ...], Field(min_length=1)]


class TextAnswers(Answers):
    choices: Annotated[tuple[TextChoice, ...], Field(min_length=1)]


class Tokenized(Body):
    """Of a prompt, with the size of the model's context."""

    tokens: Tokens
    count: Count
    max_model_len: Count


class Detokenized(Body):
    prompt: str


class Version(Body):
    version: Annotated[str, Field(pattern=r"^[\w.+!-]{1,80}$")]


def whole(
    choice: ChatChoice,
    *,
    thinking: bool,
    prompt_tokens: int,
    completion_tokens: int,
    latency_s: float,
    forced_tokens: int = 0,
) -> Completion:
    """A choice of a chat completion: a whole answer, or the first part of one in stages.

    Raises ConfigError if the server runs with a reasoning parser that we do not know of.
    """
    thought = choice.message.reasoning or ""
    text = choice.message.content or ""
    if thought and not text and not thinking:
        raise ConfigError(
            "The server took the answer for a thought, and no grammar applied to it: it runs with "
            "a reasoning parser that model.thinking does not tell of; set model.thinking, or start "
            "the server without --reasoning-parser."
        )
    ended = ending(choice)
    return Completion(
        text=text,
        finish_reason="unfinished_thought" if thinking and not text else ended,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        latency_s=latency_s,
        thought=thought,
        forced_tokens=forced_tokens,
    )


def ending(choice: Choice) -> Literal["stop", "length"]:
    """The finish reason; raises ModelFault for an unknown one."""
    if choice.finish_reason == "stop":
        return "stop"
    if choice.finish_reason == "length":
        return "length"
    raise ModelFault(f"vLLM ended an answer with the unknown reason {choice.finish_reason!r:.80}.")


def begun(completion: Completion, response: ChatAnswers, end_of_thought: int | None) -> Prefix:
    """What the first part of an answer is continued from.

    The answer begins behind the first token `end_of_thought`; None where nothing was thought.
    Raises as `drawn_tokens`.
    """
    tokens = without_end(response.choices[0])
    begin = tokens.index(end_of_thought) + 1 if end_of_thought in tokens else 0
    if completion.finish_reason == "unfinished_thought":
        begin = len(tokens)
    opening = _required("prompt_token_ids", response.prompt_token_ids) + tokens[:begin]
    return Prefix(completion.text, opening, tokens[begin:])


def without_end(choice: Choice) -> tuple[int, ...]:
    """The tokens of a choice's text: a "stop" is an end-of-text, drawn last.

    Raises as `drawn_tokens`.
    """
    tokens = drawn_tokens(choice)
    return tokens[:-1] if choice.finish_reason == "stop" else tokens


def drawn_tokens(choice: Choice) -> tuple[int, ...]:
    """All tokens that were drawn for a choice: thought, answer, end-of-text.

    Raises ConfigError if the server does not tell them.
    """
    return _required("token_ids", choice.token_ids)


def _required(name: str, tokens: tuple[int, ...] | None) -> tuple[int, ...]:
    if tokens is None:
        raise ConfigError(
            f"The server does not tell the {name} of an answer, which answers in stages and "
            "several samples in one request need: it is too old, or a gateway drops them. Point "
            "model.server.url at vLLM >= 0.12 itself, or choose decoding=syntax and one sample."
        )
    return tokens

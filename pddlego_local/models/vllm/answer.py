"""What a vLLM server's responses say: texts, thoughts, tokens. Sends nothing."""

from typing import Any

from pddlego_local.core import Completion, Prefix
from pddlego_local.errors import ConfigError, ModelFault


def whole(
    choice: Any,
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
    thought = getattr(choice.message, "reasoning", None) or ""
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


def ending(choice: Any) -> Any:
    """The finish reason, "stop" or "length"; raises ModelFault for any other."""
    if choice.finish_reason not in ("stop", "length"):
        raise ModelFault(f"vLLM ended an answer with the unknown reason {choice.finish_reason!r}.")
    return choice.finish_reason


def begun(completion: Completion, response: Any, end_of_thought: int | None) -> Prefix:
    """What the first part of an answer is continued from.

    The answer begins behind the first token `end_of_thought`; None where nothing was thought.
    Raises as `drawn_tokens`.
    """
    tokens = without_end(response.choices[0])
    begin = tokens.index(end_of_thought) + 1 if end_of_thought in tokens else 0
    if completion.finish_reason == "unfinished_thought":
        begin = len(tokens)
    opening = _told(response, "prompt_token_ids") + tokens[:begin]
    return Prefix(completion.text, opening, tokens[begin:])


def without_end(choice: Any) -> tuple[int, ...]:
    """The tokens of a choice's text: a "stop" is an end-of-text, drawn last.

    Raises as `drawn_tokens`.
    """
    tokens = drawn_tokens(choice)
    return tokens[:-1] if choice.finish_reason == "stop" else tokens


def forced_tokens(response: Any) -> int:
    """How many tokens of an answer the server wrote without sampling them.

    0 where it does not tell: it drafts none, or there are several answers in the response.
    """
    told = (getattr(response, "metrics", None) or {}).get("speculative_decoding") or {}
    return int(told.get("num_accepted_draft_tokens", 0))


def drawn_tokens(choice: Any) -> tuple[int, ...]:
    """All tokens that were drawn for a choice: thought, answer, end-of-text.

    Raises ConfigError if the server does not tell them.
    """
    return _told(choice, "token_ids")


def _told(response: Any, name: str) -> tuple[int, ...]:
    tokens = getattr(response, name, None)
    if tokens is None:
        raise ConfigError(
            f"The server does not tell the {name} of an answer, which answers in stages and "
            "several samples in one request need: it is too old, or a gateway drops them. Point "
            "model.server.url at vLLM >= 0.12 itself, or choose decoding=syntax and one sample."
        )
    return tuple(tokens)

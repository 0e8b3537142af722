"""Whether a response can be the answer to its request. If it cannot, this is the
server's fault.

`answer` says which types a response has. This module compares the response with what
was asked for: the model, the numbers of tokens, the tokens and the text that they
spell. Without these checks, an answer that a server lost or mixed up would be scored as
the model's.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.models.vllm.answer import Answers, ChatChoice, TextChoice

_TEMPLATE_TOKENS = 65_536  # more than any chat template adds to a prompt
_CUT_CHARACTER = "\ufffd"

AnyAnswers = Answers[ChatChoice] | Answers[TextChoice]


def check_model(response: AnyAnswers, asked: str) -> None:
    """Raises ConfigError if another model than the one that was asked for has
    answered.
    """
    if response.model not in (None, asked):
        raise ConfigError(
            f"The server was asked for the model {asked!r} and answered as"
            f" {response.model!r:.200}; set model.server.name to the name that the"
            " server gives, or point model.server.url at a server of this model."
        )


def check_answers(response: AnyAnswers, request: Mapping[str, Any]) -> None:
    """Raises ModelFault if a response cannot be the answer to a request with this
    body.
    """
    most, count = request["max_tokens"], request.get("n", 1)
    choices: Sequence[ChatChoice | TextChoice] = response.choices
    if sorted(choice.index for choice in choices) != list(range(count)):
        raise _impossible(
            f"{len(choices)} answers, or answers of other numbers, in place of {count}"
        )
    _check_prompt_count(response, request)
    used = response.usage.completion_tokens
    if used > most * count:
        raise _impossible(
            f"a count of {used} tokens for answers of at most {most * count} tokens"
        )
    if choices[0].token_ids is not None:
        drawn = sum(len(choice.drawn) for choice in choices)
        if drawn != used:
            raise _impossible(f"a count of {used} tokens, and {drawn} tokens")
    for choice in choices:
        own = used if count == 1 else len(choice.drawn)
        _check_choice(choice, own, most)


def _check_prompt_count(response: AnyAnswers, request: Mapping[str, Any]) -> None:
    counted = response.usage.prompt_tokens
    tokens = request.get("prompt", response.prompt_token_ids)
    if tokens is not None:
        if counted != len(tokens):
            raise _impossible(
                f"a count of {counted} tokens for a prompt of {len(tokens)} tokens"
            )
    elif counted > _TEMPLATE_TOKENS:
        sent_bytes = len(json.dumps(request))  # a token stands for at least one byte
        if counted > sent_bytes + _TEMPLATE_TOKENS:
            raise _impossible(
                f"a count of {counted} tokens for a prompt of {sent_bytes} bytes"
            )


def _check_choice(choice: ChatChoice | TextChoice, used: int, most: int) -> None:
    """Checks one answer, for which the server used `used` of at most `most` tokens."""
    if used > most:
        raise _impossible(
            f"an answer of {used} tokens, of which at most {most} were asked for"
        )
    if used == 0 and choice.said:
        raise _impossible(
            f"a text of {len(choice.said)} characters and a count of 0 tokens"
        )
    if choice.instead:
        raise ModelFault(
            f"The server answered with {choice.instead:.300} in place of a text."
        )
    if choice.finish_reason == "length" and not choice.said and used < most:
        raise _impossible(
            f"an empty text that its limit cut after {used} of {most} tokens"
        )


def check_spelling(spelled: str, text: str) -> None:
    """Raises ModelFault if the tokens of an answer spell another text than the server
    returned.

    Tokenizers may treat spaces at the edges in their own ways, so white space is not
    compared.
    """
    if _without_space(spelled) != _without_space(text):
        raise _impossible(
            f"the text {text!r:.80}, and tokens that spell {spelled!r:.80}"
        )


def _without_space(text: str) -> str:
    return "".join(text.replace(_CUT_CHARACTER, "").split())


def _impossible(what: str) -> ModelFault:
    return ModelFault(f"The server's response cannot be right: it has {what}.")

"""Checks of a request (grammar, messages, prefix) that every backend makes before it
draws.
"""

import functools
import re
from collections.abc import Callable

from pddlego_local.core.errors import ConfigError, GrammarFault
from pddlego_local.core.nouns import Grammar, Messages, Prefix, Sampling
from pddlego_local.decoding.grammars.lark_text import decoder_fault
from pddlego_local.models.splice import Tokenizer

_LONGEST_REASON = 200  # characters: llguidance may quote the whole grammar
_MARKER = re.compile(r"<[^<>\s]{1,60}>|\[[A-Z_/]{1,40}\]")


@functools.lru_cache(maxsize=64)
def check_grammar(grammar: Grammar) -> None:
    """Raises GrammarFault with llguidance's reason if the grammar does not compile.

    The check is needed because Outlines in process returns an empty text for an invalid
    grammar, and a server may respond to an unsatisfiable grammar with HTTP 500 and no
    reason.
    """
    if fault := decoder_fault(grammar):
        reason = fault.strip().splitlines()[0][:_LONGEST_REASON]
        raise GrammarFault(
            f"The grammar {grammar.name!r} does not compile: {reason.rstrip('.')}.",
            grammar.text,
        )


def plain_text(tokenizer: Tokenizer) -> Callable[[Messages], list[dict[str, str]]]:
    """Returns a function that formats messages for a chat template and breaks up
    control tokens.

    Chat templates put messages between control tokens, and tokenizers recognize these
    tokens everywhere. If a game, a file or a model writes "<|im_end|>", it must not end
    the message. So text that would become one token gets a space after its bracket: "<
    |im_end|>". The function is thread-safe, looks up each marker once, and raises
    ModelFault if the server fails.
    """

    @functools.cache
    def defused(marker: str) -> str:
        try:
            controls = len(tokenizer.encode(marker)) == 1
        except ConfigError:  # the server does not tokenize: assume a control token
            controls = True
        return f"{marker[0]} {marker[1:]}" if controls else marker

    def chat(messages: Messages) -> list[dict[str, str]]:
        return [
            {
                "role": m.role,
                "content": _MARKER.sub(lambda found: defused(found[0]), m.content),
            }
            for m in messages
        ]

    return chat


def continues(prefix: Prefix, sampling: Sampling) -> bool:
    """Returns whether the request continues an answer; otherwise it begins a new one.

    Raises ValueError for a prefix with text but without the prompt's tokens (the caller
    lost them), and for a forced prefix before a thought.
    """
    if prefix.text and not prefix.opening:
        raise ValueError(
            "prefix.text without prefix.opening: pass on Completion.prefix"
        )
    if prefix.forced_prefix and not prefix.opening and sampling.thinking:
        raise ValueError(
            "prefix.forced_prefix before a thought: put the text in the grammar"
        )
    return bool(prefix.opening)

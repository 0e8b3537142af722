"""A request, as every backend reads it before it draws: the grammar, the messages, the prefix."""

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

    Needed because Outlines in process answers an invalid grammar with an empty text, and a server
    may answer an unsatisfiable one with a bare HTTP 500.
    """
    if fault := decoder_fault(grammar):
        reason = fault.strip().splitlines()[0][:_LONGEST_REASON]
        raise GrammarFault(
            f"The grammar {grammar.name!r} does not compile: {reason.rstrip('.')}.", grammar.text
        )


def plain_text(tokenizer: Tokenizer) -> Callable[[Messages], list[dict[str, str]]]:
    """What a game, a file or a model said stays text in a prompt: "<|im_end|>" must not end a
    message.

    Chat templates put messages between control tokens, and tokenizers read these wherever they
    stand. A text that would be read as one token gets a blank behind its bracket: "< |im_end|>".
    The function gives messages as chat templates take them. It is thread-safe, looks each marker up
    once, and raises ModelFault when the server fails.
    """

    @functools.cache
    def defused(marker: str) -> str:
        try:
            controls = len(tokenizer.encode(marker)) == 1
        except ConfigError:  # a server that tells no tokens
            controls = True
        return f"{marker[0]} {marker[1:]}" if controls else marker

    def chat(messages: Messages) -> list[dict[str, str]]:
        return [
            {"role": m.role, "content": _MARKER.sub(lambda found: defused(found[0]), m.content)}
            for m in messages
        ]

    return chat


def continues(prefix: Prefix, sampling: Sampling) -> bool:
    """Whether there are tokens to go on from; if not, the answer is begun.

    Raises ValueError for a text that stands behind no prompt, whose tokens were lost by whoever
    asks, and for a head before a thought.
    """
    if prefix.text and not prefix.opening:
        raise ValueError("prefix.text without prefix.opening: pass on Completion.prefix")
    if prefix.forced_prefix and not prefix.opening and sampling.thinking:
        raise ValueError("prefix.forced_prefix before a thought: put the head in the grammar")
    return bool(prefix.opening)

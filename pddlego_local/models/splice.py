"""Token healing: the tokens of an answer after text was inserted that the model did not
sample.

Inserted text may merge with the drawn tokens before it: ")" and " (" may be one token.
So the last two tokens before the seam are decoded and tokenized again together with the
inserted text, as the model saw such text in training. All earlier tokens stay as they
were drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import tokenizers

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Prefix

HEALED_TOKENS = 2


class Tokenizer(Protocol):
    """Converts text inside an answer to tokens and back. `name` is the model's name."""

    @property
    def name(self) -> str: ...
    def encode(self, text: str) -> tuple[int, ...]: ...
    def decode(self, tokens: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class LocalTokenizer:
    """A model's own tokenizer in this process; a text of a few words takes about 0.1
    ms.
    """

    name: str
    tokenizer: tokenizers.Tokenizer

    @classmethod
    def of(cls, name: str, folder: Path) -> "LocalTokenizer | None":
        """Loads tokenizer.json from a model's folder; returns None if there is no such
        file.

        Raises ConfigError if the file cannot be read.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            return None
        try:
            return cls(name, tokenizers.Tokenizer.from_file(str(path)))
        except Exception as error:  # the library raises no more specific exception
            raise ConfigError(
                f"model.weights: cannot read {path} ({error!s:.200})."
            ) from error

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(tokens)))


class Splice(NamedTuple):
    """The tokens of `Prefix.continued`; the last `forced` of them came with its forced
    prefix.
    """

    tokens: tuple[int, ...]
    forced: int


def splice(prefix: Prefix, tokenizer: Tokenizer) -> Splice:
    """Returns the tokens from which the next part of an answer continues.

    Raises ConfigError for a forced prefix that the tokenizer cannot spell.
    """
    if not prefix.rollback_chars and not prefix.forced_prefix:
        return Splice(prefix.tokens, 0)
    healed, tail = len(prefix.tokens), ""
    while healed and len(tail) < prefix.rollback_chars:
        healed -= 1
        tail = tokenizer.decode(prefix.tokens[healed : healed + 1]) + tail
    survived = healed
    healed = max(0, healed - HEALED_TOKENS)
    tail = tokenizer.decode(prefix.tokens[healed:survived]) + tail
    anew = tail[: len(tail) - prefix.rollback_chars] + prefix.forced_prefix
    tokens = (*prefix.tokens[:healed], *tokenizer.encode(anew))
    before = tokens[max(0, healed - 1) : healed]
    spelled = (
        tokenizer.decode((*before, *tokens[healed:])) == tokenizer.decode(before) + anew
    )
    if not (prefix.text.endswith(tail) and spelled):
        # The seam cuts a character, or the tokenizer spells a text differently after
        # another text.
        tokens = tokenizer.encode(prefix.continued)
        if not tokenizer.decode(tokens).endswith(prefix.forced_prefix):
            raise ConfigError(
                f"The tokenizer of {tokenizer.name} cannot spell the text"
                f" {prefix.forced_prefix!r}, which the grammar requires; choose another"
                " model, or decoding=syntax."
            )
    return Splice(tokens, max(0, len(tokens) - survived) if prefix.forced_prefix else 0)

"""Where an answer goes on behind text that was not sampled: its tokens, spelled as usual.

Text that is put behind drawn tokens may merge with them: ")" and " (" may be one token. So the last
two tokens before the seam are taken back to text and tokenized anew with what follows, as a model
saw such text in training. All earlier tokens stay as they were drawn.
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
    """From the text inside an answer to its tokens, and back. `name` is the model's."""

    @property
    def name(self) -> str: ...
    def encode(self, text: str) -> tuple[int, ...]: ...
    def decode(self, tokens: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class LocalTokenizer:
    """A model's own tokenizer in this process; a text of some words takes about 0.1 ms."""

    name: str
    tokenizer: tokenizers.Tokenizer

    @classmethod
    def of(cls, name: str, folder: Path) -> "LocalTokenizer | None":
        """From a model's folder; None where it has no tokenizer.json. Raises ConfigError for one
        that cannot be read."""
        path = folder / "tokenizer.json"
        if not path.is_file():
            return None
        try:
            return cls(name, tokenizers.Tokenizer.from_file(str(path)))
        except Exception as error:  # it raises nothing more particular
            raise ConfigError(f"model.weights: {path} is no tokenizer ({error!s:.200}).") from error

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(tokens)))


class Splice(NamedTuple):
    """The tokens of `Prefix.continued`; the last `forced` of them came in with its head."""

    tokens: tuple[int, ...]
    forced: int


def splice(prefix: Prefix, tokenizer: Tokenizer) -> Splice:
    """What the next part of an answer goes on from.

    Raises ConfigError for a head that the tokenizer cannot spell.
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
    spelled = tokenizer.decode((*before, *tokens[healed:])) == tokenizer.decode(before) + anew
    if not (prefix.text.endswith(tail) and spelled):
        # Half a character, or a tokenizer that spells a text otherwise behind another.
        tokens = tokenizer.encode(prefix.continued)
        if not tokenizer.decode(tokens).endswith(prefix.forced_prefix):
            raise ConfigError(
                f"The tokenizer of {tokenizer.name} cannot spell the text {prefix.forced_prefix!r}"
                ", which the grammar forces; choose another model, or decoding=syntax."
            )
    return Splice(tokens, max(0, len(tokens) - survived) if prefix.forced_prefix else 0)

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
    drawn, head, drop = prefix.tokens, prefix.forced_prefix, prefix.rollback_chars
    if not drop and not head:
        return Splice(drawn, 0)
    survived, rolled_back = len(drawn), ""
    while survived and len(rolled_back) < drop:
        survived -= 1
        rolled_back = tokenizer.decode(drawn[survived : survived + 1]) + rolled_back
    kept = max(0, survived - HEALED_TOKENS)
    tail = tokenizer.decode(drawn[kept:survived]) + rolled_back
    seam_text = tail[: len(tail) - drop] + head
    seam = tokenizer.encode(seam_text)
    # A tokenizer may spell a text differently after another text.
    before = drawn[max(0, kept - 1) : kept]
    spelled = tokenizer.decode((*before, *seam))
    is_spelled = spelled == tokenizer.decode(before) + seam_text
    tokens = (*drawn[:kept], *seam)
    if not is_spelled or not prefix.text.endswith(tail):  # the seam cuts a character
        tokens = tokenizer.encode(prefix.continued)
        if not tokenizer.decode(tokens).endswith(head):
            raise ConfigError(
                f"The tokenizer of {tokenizer.name} cannot spell the text {head!r},"
                " which the grammar requires; choose another model, or"
                " decoding=syntax."
            )
    return Splice(tokens, max(0, len(tokens) - survived) if head else 0)

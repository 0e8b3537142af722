"""The tokens that a rung allows next, for trainers that sample from a policy of their
own.
"""

from typing import NamedTuple

import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Prefix
from pddlego_local.decoding.grammars.lark_text import for_decoder
from pddlego_local.decoding.session import Constraint


class Allowed(NamedTuple):
    """The tokens that may follow the answer so far.

    `text` is the answer so far, with text that the grammar forces, and without text
    that a stage rolls back. The next token is sampled after it. `tokens` has one entry
    for each token of the vocabulary, which is True if the token may come next. It is
    None if the answer is finished.
    """

    text: str
    tokens: NDArray[np.bool_] | None


class TokenMasks:
    """The masks of one answer, which is written elsewhere, token by token."""

    def __init__(self, constraint: Constraint, tokenizer: LLTokenizer) -> None:
        self._session = constraint.begin()
        self._tokenizer = tokenizer
        self._begin_stage()

    def _begin_stage(self) -> None:
        """Compiles the grammar of the stage, of whose text nothing has been read."""
        prefix = self._session.prefix or Prefix()
        self._begin = prefix.continued
        self._read = ""
        if self._session.goes_on and (grammar := self._session.stage.grammar):
            self._matcher = LLMatcher(self._tokenizer, for_decoder(grammar))

    def _mask(self) -> NDArray[np.bool_]:
        bytes_ = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        bits = np.unpackbits(bytes_, bitorder="little")
        return bits[: self._tokenizer.vocab_size].astype(np.bool_)

    def finished(self, text: str) -> bool:
        """Returns whether `text` is the whole answer that these masks led to."""
        return not self._session.goes_on and self._session.text == text

    def allowed(self, text: str) -> Allowed:
        """Returns what may follow `text`: the text that the last call returned, with
        the token that was sampled since; "" in the first call.

        Raises ConfigError if the rung does not allow the text.
        """
        while self._session.goes_on:
            stage = self._session.stage
            written = text.removeprefix(self._begin)
            if not written.startswith(self._read):  # the caller has taken a token back
                self._begin_stage()
            unread = written.removeprefix(self._read)
            tokens = self._tokenizer.tokenize_str(unread)
            continues = text == "" or text.startswith(self._begin)
            if not continues or self._matcher.try_consume_tokens(tokens) < len(tokens):
                self._begin_stage()
                raise ConfigError(
                    f"the stage {stage.name!r} of the answer does not allow {text!r}"
                )
            self._read = written
            repeats = stage.watch is not None and stage.watch(written)
            if not (repeats or self._matcher.is_accepting()):
                return Allowed(self._begin + written, self._mask())
            self._session.accept(written, ended=not repeats)
            text = ""  # nothing of the next stage has been sampled
            self._begin_stage()
        return Allowed(self._session.text, None)

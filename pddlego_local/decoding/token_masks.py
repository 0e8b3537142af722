"""The tokens that a rung allows next, for trainers that sample from a policy of their own."""

from typing import NamedTuple

import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Prefix
from pddlego_local.decoding.grammars.lark_text import for_decoder
from pddlego_local.decoding.session import Constraint


class Allowed(NamedTuple):
    """What may follow an answer so far.

    `text` is the answer so far, with text that the grammar forces, and without text that a stage
    rolls back. The next token is sampled after it. `tokens` has one entry for each token of the
    vocabulary, which is True if the token may come next. It is None if the answer is finished.
    """

    text: str
    tokens: NDArray[np.bool_] | None


class TokenMasks:
    """The masks of one answer, which is written elsewhere, token by token."""

    def __init__(self, constraint: Constraint, tokenizer: LLTokenizer) -> None:
        self._session, self._tokenizer = constraint.begin(), tokenizer

    def finished(self, text: str) -> bool:
        """Whether `text` is the whole answer that these masks led to."""
        return not self._session.goes_on and self._session.text == text

    def allowed(self, text: str) -> Allowed:
        """Returns what may follow `text`: the text that the last call returned, with the token that
        was sampled since; "" in the first call.

        Raises ConfigError if the rung does not allow the text.
        """
        session, sampled = self._session, text
        while session.goes_on:
            stage, begin = session.stage, (session.prefix or Prefix()).continued
            assert stage.grammar is not None  # only the rung free has stages without one
            written = sampled.removeprefix(begin)
            tokens = self._tokenizer.tokenize_str(written)
            matcher = LLMatcher(self._tokenizer, for_decoder(stage.grammar))
            ours = sampled.startswith(begin) or not sampled
            if not ours or matcher.try_consume_tokens(tokens) < len(tokens):
                raise ConfigError(f"the stage {stage.name!r} of the answer does not allow {text!r}")
            repeats = stage.watch is not None and stage.watch(written)
            if not (repeats or matcher.is_accepting()):
                bits = np.frombuffer(matcher.compute_bitmask(), np.uint8)
                allowed = np.unpackbits(bits, bitorder="little")[: self._tokenizer.vocab_size]
                return Allowed(begin + written, allowed.astype(np.bool_))
            session.accept(written, ended=not repeats)
            sampled = ""
        return Allowed(session.text, None)

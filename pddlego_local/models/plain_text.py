"""What a game, a file or a model said stays text in a prompt: "<|im_end|>" must not end a message.

Chat templates put messages between control tokens, and tokenizers read these wherever they stand.
A text that would be read as one token gets a blank behind its bracket: "< |im_end|>".
"""

import re
from dataclasses import dataclass, field, replace

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message, Messages
from pddlego_local.models.seam import Tokenizer

_MARKER = re.compile(r"<[^<>\s]{1,60}>|\[[A-Z_/]{1,40}\]")


@dataclass(frozen=True)
class PlainText:
    """Thread-safe. Each marker is looked up once."""

    tokenizer: Tokenizer
    _known: dict[str, bool] = field(default_factory=dict)

    def __call__(self, messages: Messages) -> Messages:
        """The messages with no control token in them. Raises ModelFault when the server fails."""
        return tuple(replace(message, content=self._defused(message)) for message in messages)

    def _defused(self, message: Message) -> str:
        return _MARKER.sub(
            lambda found: f"{found[0][0]} {found[0][1:]}" if self._controls(found[0]) else found[0],
            message.content,
        )

    def _controls(self, marker: str) -> bool:
        if marker not in self._known:
            try:
                self._known[marker] = len(self.tokenizer.encode(marker)) == 1
            except ConfigError:  # a server that tells no tokens
                self._known[marker] = True
        return self._known[marker]

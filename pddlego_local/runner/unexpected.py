"""What a record and the terminal say about an exception that nobody expected."""

import traceback
from dataclasses import dataclass
from pathlib import Path

_MOST_CHARS = 20_000
_MOST_WORDS = 500


@dataclass(frozen=True)
class Unexpected:
    """An exception in words: its type, its message, where it was raised, and its
    traceback.

    The texts can be encoded and are not too long for a record, whatever the exception
    holds.
    """

    kind: str
    message: str
    place: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> "Unexpected":
        told = traceback.TracebackException.from_exception(error)
        kind = type(error).__name__
        words = " ".join(
            "".join(told.format_exception_only()).split()
        )  # str(error) may fail
        _, _, message = words.partition(f"{kind}: ")
        where = told.stack[-1] if told.stack else None
        place = (
            f"{Path(where.filename).name}, line {where.lineno}"
            if where
            else "an unknown place"
        )
        lines = "".join(told.format())
        return cls(
            kind,
            _shortened(message, _MOST_WORDS),
            place,
            _shortened(lines, _MOST_CHARS),
        )


def _shortened(text: str, most: int) -> str:
    """Returns the text without what UTF-8 cannot encode, and without its middle if it
    is long.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n…\n{text[-half:]}"

"""What a record and the terminal say about an exception that nobody expected."""

import traceback
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.visible import in_one_line

_MOST_CHARS = 20_000  # of a traceback
_MOST_MESSAGE_CHARS = 500


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


def unexpected(error: BaseException) -> Unexpected:
    """Describes an exception, even one whose `str` fails."""
    summary = traceback.TracebackException.from_exception(error)
    kind = type(error).__name__
    last_lines = "".join(summary.format_exception_only())
    _, _, message = in_one_line(last_lines).partition(f"{kind}: ")
    place = "an unknown place"
    if summary.stack:
        frame = summary.stack[-1]
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
    return Unexpected(
        kind=kind,
        message=_shortened(message, _MOST_MESSAGE_CHARS),
        place=place,
        traceback=_shortened("".join(summary.format()), _MOST_CHARS),
    )


def _shortened(text: str, most: int) -> str:
    """Returns the text without what UTF-8 cannot encode, and without its middle if it
    is long.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n…\n{text[-half:]}"

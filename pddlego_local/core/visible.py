"""Makes texts of models, games and files safe to show in a terminal or on a page, and
messages fit for one line."""

import re

# Control characters, and characters that change the direction of the text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """Returns `text` with visible symbols in place of control characters, and valid as
    UTF-8.

    Tabs and line breaks stay.
    """
    text = _UNSEEN.sub(_named, text.replace("\r\n", "\n"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _named(match: re.Match[str]) -> str:
    """Returns the symbol of a control character, or the code point of any other
    character.
    """
    code_point = ord(match[0])
    if code_point < 0x20:
        return chr(0x2400 + code_point)
    return f"⟨U+{code_point:04X}⟩"


def in_one_line(text: object) -> str:
    """Returns a text, such as that of an error, with single spaces as its only white
    space.
    """
    return " ".join(str(text).split())

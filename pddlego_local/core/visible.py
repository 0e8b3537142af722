"""What models, games and files say, as a terminal or a page can show it."""

import re

# Control characters, and those that turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """A text whose control characters can be seen and do nothing, and that UTF-8 can hold. Tabs
    and line ends stay."""
    text = _UNSEEN.sub(_named, text.replace("\r\n", "\n"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _named(match: re.Match[str]) -> str:
    """The symbol of a control character; any other one by its number."""
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"

"""Finds marks and characters that do not belong in PDDL but are easily overlooked.

Other languages put marks between names, and PDDL reads such a mark as a part of the
name ("o," and "o:" and "o-"). Foreign characters are not ASCII, and some of them are
invisible.
"""

import re
import unicodedata
from collections.abc import Container, Iterable

_QUOTES = "\"'`"
_AROUND = f",:.{_QUOTES}"
_BYTE_ORDER_MARK = "\ufeff"
_NO_UTF_8 = "\ufffd"


def stray_mark(word: str) -> str:
    """Explains what is wrong with a word that holds such a mark, and the remedy; ""
    otherwise.
    """
    if not any(mark in word for mark in _AROUND):
        return ""
    parts = _parts(word)
    if not parts:
        return (
            f"`{word}` stands here: names have blanks between them, and ` - ` before a"
            " type"
        )
    if "," in word:
        return _misplaced("comma", word, " ".join(parts))
    if ":" in word[1:]:
        meant = word.rstrip(":") if word[0] == ":" else " - ".join(parts)
        return _misplaced("colon", word, meant)
    if word[0] in _QUOTES or word[-1] in _QUOTES:
        return _misplaced("quotation mark", word, parts[0])
    if word[-1] == "." and not word[0].isdigit():
        return _misplaced("full stop", word, parts[0])
    return ""


def _misplaced(mark: str, word: str, meant: str) -> str:
    return (
        f"`{word}` has a {mark}, which PDDL takes for a part of the name: write"
        f" `{meant}`"
    )


def _parts(word: str) -> list[str]:
    """The names that the word was meant to contain, without the marks."""
    parts = [part.strip(_AROUND) for part in re.split("[,:]", word)]
    return [part for part in parts if part]


def misread(declared: Iterable[str], types: Container[str]) -> dict[str, str]:
    """Returns {intended name: declared name that holds a mark}.

    "o" is the intended name in "o,", "o-" and, if t is a type, in "o-t".
    """
    found = dict[str, str]()
    for name in declared:
        meant = _parts(name)
        stem, dash, rest = name.rpartition("-")
        if dash and (not rest or rest in types):
            meant.append(stem)
        found |= {other: name for other in meant if other != name}
    return found


def how_declared(name: str, declared: str) -> str:
    """Completes the message "`name` is used but " if the declared name was meant to be
    `name`.
    """
    if "," in declared:
        return f"is declared as `{declared}`: leave out the comma there"
    as_type = ", and ` - ` before a type" if ":" in declared or "-" in declared else ""
    return (
        f"is declared as `{declared}`, which is one name: write `{name}` there{as_type}"
    )


def foreign_character(word: str) -> str:
    """Explains what is wrong with a word that is not all ASCII, and the remedy; ""
    otherwise.
    """
    if word.isascii():
        return ""
    character = next(c for c in word if not c.isascii())
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "without a name").lower()
    if character == _BYTE_ORDER_MARK:
        return (
            f"{code} (byte order mark) stands here unseen: save the file as UTF-8"
            " without it"
        )
    if character == _NO_UTF_8:
        return (
            f"`{character}` ({code}) stands for a byte that is not UTF-8: save the file"
            " as UTF-8"
        )
    if unicodedata.category(character)[0] == "Z":
        return f"{code} ({name}) stands here instead of a blank: replace it"
    if not character.isprintable():
        return f"{code} ({name}) stands here unseen: remove it"
    return f"`{character}` ({code}, {name}) is not an ASCII character: replace it"

"""Checks whether a text is a complete file or answer, an excerpt of one, or a
placeholder.
"""

import functools
import re
from collections.abc import Mapping

from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.episode.reading.files import SECTION, Kind
from pddlego_local.episode.reading.words import any_of

_NEEDED: Mapping[Kind, tuple[str, ...]] = {
    "df": (r"\(\s*:?(?:durative-)?action\b",),
    "pf": (r"\(\s*:?init\b", r"\(\s*:?goal\b"),
}
_COMMENT = re.compile(r";[^\n]*")
_HEADER = re.compile(r"\(\s*(?:domain|problem)\b", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\.\.\.|…|<(?!br\b)[A-Za-z][^<>()\n]*>|\[[A-Za-z][^\[\]()\n]*\]|\{[A-Za-z][^{}()\n]*\}"
)
_COMMENT_FOR_REST = re.compile(
    r";[;\s(\[<-]*+(?:\.\.\.|…|unchanged|omitted|as (?:before|above)"
    r"|(?:the )?(?:rest|remaining|remainder|other|same|existing|previous)\b"
    r"[^\n]*(?:\.\.\.|…|\b(?:unchanged|same|before|above|here|omitted)\b))",
    re.IGNORECASE,
)
_SLOT = rf"{any_of('slot')}s?"
_PLACEHOLDER = re.compile(
    rf"\W*(?:\.\.\.|…)\W*|<[^<>]*\b{_SLOT}\b[^<>]*>|[\[{{][^\[\]{{}}]*\b{_SLOT}\b[^\[\]{{}}]*[\]}}]",
    re.IGNORECASE,
)
_LONGEST_PLACEHOLDER = 200


def is_whole(kind: Kind, text: str) -> bool:
    """Returns whether a domain has actions, or a problem has `:init` and `:goal`."""
    text = _COMMENT.sub("", text)
    return all(re.search(needed, text, re.IGNORECASE) for needed in _NEEDED[kind])


def has_header(text: str) -> bool:
    """Returns whether a file names itself, as in `(domain farm)` or `(problem p)`."""
    return _HEADER.search(_COMMENT.sub("", text)) is not None


def is_excerpt(text: str) -> bool:
    """Returns whether something in a file stands for an omitted part: an ellipsis,
    `<the actions>`, or a comment that says so.
    """
    comments = _COMMENT.findall(text)
    if any(_COMMENT_FOR_REST.match(comment) for comment in comments):
        return True
    without_comments = _COMMENT.sub("", text)
    return _LEFT_OUT.search(without_comments) is not None


def is_part(text: str, of: str) -> bool:
    """Returns whether a file repeats a part of another one, word by word up to its last
    bracket.
    """
    part = words_of(text)
    whole = words_of(of)
    return part != whole and part.removesuffix(")").rstrip() in whole


def is_template(text: str) -> bool:
    """Returns whether a file has an ellipsis and no section: `(define (domain ...)
    ...)`.
    """
    return not SECTION.search(text) and re.search(r"\.\.\.|…", text) is not None


def is_placeholder(text: str) -> bool:
    """Returns whether a text is only a placeholder, such as `<domain file>`."""
    is_short = len(text) <= _LONGEST_PLACEHOLDER
    return is_short and _PLACEHOLDER.fullmatch(text.strip()) is not None


def texts_of(value: Fields, form: Form[Fields]) -> list[str]:
    """Returns the texts of an answer, without those that may be blank."""
    texts: list[str] = []
    for key, entry in value.model_dump().items():
        if key not in form.may_be_blank:
            parts = entry if isinstance(entry, list) else [entry]
            texts += [part for part in parts if isinstance(part, str)]
    return texts


@functools.lru_cache(8)
def words_of(text: str) -> str:
    """Returns the text with one space in place of any white space."""
    return " ".join(text.split())

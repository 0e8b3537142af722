"""Finds PDDL files in an answer, between fences, tags, headings or quotes, or without
borders.

A file begins at `(define (domain` or `(define (problem`, with the comments above it, or
at the sections in a tag that stands for that line (`<domain name="farm">`). It ends
where its brackets close. If they do not close, it ends at a border (a fence, a tag, a
heading) or at the next file. Borders in a PDDL comment are ignored, and so are borders
in an open bracket, except one that closes what the file stands in. Nothing inside a
file is changed: a missing or extra bracket is the model's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pddlego_local.episode.reading.objects import unescaped

Kind = Literal["df", "pf"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_HEAD = r"(?P<head>(?:\(\s*)?\bdefine\s*\(\s*(?P<kind>domain|problem)\b)"
_DEFINE = r"(?:\(\s*)?\bdefine\s*\("
_BORDER = (
    # a fence that names a language, without a file that begins on the same line
    rf"^[ \t]*(?P<opens>(?:`{{3,}}|~{{3,}})[ \t]*(?!{_DEFINE})[\w+.-]+"
    rf"(?:(?!{_DEFINE})[^\n`])*(?:\n|(?={_DEFINE})))"
    r"|(?P<fence>(?:^[ \t]*)?(?:`{3,}|~{3,})[ \t]*(?:\r?\n)?)"
    r"|(?P<tag></?(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>\n]{0,100})?>)"
    r"|(?P<quotes>\"\"\"|''')"
    r"|(?P<heading>^[ \t]*(?:#|\*\*|==|---)[^\n]*$)"
)
_COMMENT = r";(?:(?!\\n)[^\n])*+"  # in a string, a line ends with an escape
_MARK = re.compile(
    rf"(?P<comment>^[ \t]*;[^\n]*)|{_HEAD}|{_BORDER}", re.MULTILINE | re.IGNORECASE
)
_INSIDE = re.compile(
    rf"(?P<comment>{_COMMENT})|{_HEAD}|(?P<bracket>[()])|{_BORDER}",
    re.MULTILINE | re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?P<comment>{_COMMENT})|(?P<head>\(\s*(?P<kind>domain|problem)\s)", re.I
)
_REST_OF_LINE = re.compile(
    r'[ \t]*;(?:(?!\\n|"\s*[,}])[^\n])*+'
)  # a comment after a file
_ABOVE = re.compile(  # a comment line, and the comment or blank lines below it
    r"(?:^[^\S\n]*;[^\n]*\n(?:[^\S\n]*(?:;[^\n]*)?\n)*+)?^[^\S\n]*\Z", re.MULTILINE
)
_GOES_ON = re.compile(rf"(?:\s|\\n|{_COMMENT})*+(?:\)|(?=\(\s*:))")
_KIND_OF_TAG = re.compile(r"(domain|df|problem|pf)(?![a-z])", re.IGNORECASE)
_SECTIONS = re.compile(rf"(?:\s|{_COMMENT})*+\((?=\s*:)")  # of a file without `define`
_PIECES = re.compile(r"([\"'])\s*(?:\+\s*)?\n\s*\1")  # of a concatenated string
_NO_PDDL = re.compile(rf"{_COMMENT}|([\"{{}}\]`])")
_BLANK = re.compile(rf"(?:\s|\\n|{_COMMENT})*+")
_BRACKET = re.compile(rf"{_COMMENT}|[()]")
_NUMBERED = re.compile(r"(?:^|[.:,;])\s*\d{1,2}\)", re.MULTILINE)  # "1) first"
_REMARK = re.compile(
    r"\(\d+\)|[A-Za-z]\)?[,.:!?](?=[\s()])"
)  # "(1)", "(Note: …)", "(as asked.)"
_PROSE = re.compile(r"[ \t]*[^\s();\\]")  # behind a bracket on its line
SECTION = re.compile(  # the bracket or the colon may be missing
    r"\(\s*:|\bdefine\s*\([^()]*\)\s*\("
    r"|[(:]\s*(?:types|predicates|constants|functions|action|objects|init|goal)\b",
    re.IGNORECASE,
)
IN_TEXT = "PDDL in the text"
_MAX_FILES = 200
_MAX_COMMENT = 5000


@dataclass(frozen=True)
class File:
    """A file's text, its place, and how it is written. `balanced` says that its
    brackets close, `closed` that they close or that something after the file ends it.
    """

    kind: Kind
    text: str
    start: int
    end: int
    closed: bool = True
    balanced: bool = True
    how: str = IN_TEXT


@dataclass
class _Head:
    """Where a file begins, where its last bracket is, and whether its brackets close
    there.
    """

    kind: Kind
    start: int
    stop: int = 0
    balanced: bool = False
    bracket_lost: bool = False


def files(text: str) -> list[File]:
    """Returns the files in a text from left to right, at most the last 200."""
    return [file for zone in _zones(text) for file in _files(text, *zone)][-_MAX_FILES:]


def only_file(text: str, kind: Kind) -> str:
    """Returns the one complete file of a kind in a string, without labels and remarks
    around it, or the whole string if there is no such file, or other PDDL around it.
    """
    found = files(text)
    of_kind = [number for number, file in enumerate(found) if file.kind == kind]
    if len(of_kind) != 1 or not found[of_kind[0]].balanced:
        return text
    ends = [0, *(file.end for file in found), len(text)]
    begins = [0, *(file.start for file in found), len(text)]
    number = of_kind[0] + 1
    begin, end = begins[number], _belongs_until(text, ends[number], begins[number + 1])
    is_alone = not text[:begin].strip() and not text[end:].strip()
    around = (ends[number - 1], begin), (end, begins[number + 1])
    holds_more = any(_holds_pddl(text, *part) for part in around)
    return text if is_alone or holds_more else text[begin:end]


def _holds_pddl(text: str, begin: int, end: int) -> bool:
    """Whether a bracket with PDDL is in a part of a text, and not only remarks in
    brackets.
    """
    if end - begin > _MAX_COMMENT or _closes_more(text, begin, end):
        return True
    brackets = (at for at in range(begin, end) if text[at] == "(")
    return any(_group(text, at, end) > at for at in brackets)


def _zones(text: str) -> Iterator[tuple[int, int, bool, list[_Head]]]:
    """Yields the zone between each two borders: its begin and end, whether the borders
    are a pair that encloses it, and the heads of files in it.
    """
    start = at = looked_until = 0
    opened: re.Match[str] | None = None
    kind: Kind | None = None  # of the file that a tag announces: <domain name="farm">
    heads: list[_Head] = []
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.lastgroup == "comment":
            at = _comment_end(mark, opened)
        elif mark.lastgroup == "head":
            if mark.start() >= looked_until:  # otherwise it is in a comment
                heads.append(head := _head(mark, opened))
                at, looked_until = _walk(text, head, at, len(text), opened)
        else:
            held = _closes(mark, opened)
            yield start, mark.start(), held, heads
            start, heads = mark.end(), []
            if mark.lastgroup == "tag":
                kind = _announced(mark)
            if mark.lastgroup != "heading":
                opened = None if held or mark[0].startswith("</") else mark
            if kind and at >= looked_until and (sections := _SECTIONS.match(text, at)):
                heads.append(head := _Head(kind, sections.end() - 1))
                at, looked_until = _walk(text, head, head.start, len(text), opened)
    yield start, len(text), False, heads


def _closes(border: re.Match[str], opened: re.Match[str] | None) -> bool:
    """Whether `border` closes what `opened` began."""
    can_close = border.lastgroup in ("fence", "quotes") or border[0].startswith("</")
    return can_close and opened is not None and _sign(border) == _sign(opened)


def _sign(border: re.Match[str]) -> str:
    """Returns what matching borders have in common."""
    return border["name"].lower() if border["name"] else border[0].strip()[0]


def _announced(tag: re.Match[str]) -> Kind | None:
    """Returns the kind of the file that an opening tag is named after."""
    named = None if tag[0].startswith("</") else _KIND_OF_TAG.match(tag["name"])
    return named and ("df" if named[1][0].lower() == "d" else "pf")


def _head(mark: re.Match[str], opened: re.Match[str] | None = None) -> _Head:
    kind: Kind = "df" if mark["kind"].lower() == "domain" else "pf"
    behind = (
        opened is not None and opened.end() == mark.start() and opened[0][-1] != "\n"
    )
    return _Head(kind, mark.start(), bracket_lost=behind and mark[0][0] != "(")


def _walk(
    text: str, head: _Head, at: int, end: int, opened: re.Match[str] | None
) -> tuple[int, int]:
    """Finds where the brackets of a file close, including brackets and sections that
    continue after that. Returns the places from which the search for borders and for
    heads continues.
    """
    depth = text.count("(", head.start, at)
    head.stop = at
    border: tuple[int, int] | None = (
        None  # the first in an open bracket; the bracket before it
    )
    for mark in _INSIDE.finditer(text, at, end):
        if mark.lastgroup == "comment":
            continue
        if mark.lastgroup == "bracket":
            depth += 1 if mark[0] == "(" else -1
            head.stop = mark.end()
            if depth <= 0 and not _GOES_ON.match(text, head.stop, end):
                head.balanced = True
                head.bracket_lost &= depth == -1
                comment = _REST_OF_LINE.match(text, head.stop, end)
                end = _comment_end(comment, opened) if comment else head.stop
                return end, end
        elif mark.lastgroup == "head":
            end = mark.start()
            break
        else:
            ends = _ends(text, mark, opened)
            if border is None or (ends and opened):
                border = mark.start(), head.stop
            if ends:
                end = mark.end()
                break
    head.bracket_lost = False
    begin, head.stop = border or (end, head.stop)
    return begin, end


def _comment_end(comment: re.Match[str], opened: re.Match[str] | None) -> int:
    """Returns where a comment outside of brackets ends: at the latest at the closing
    quotes.
    """
    if opened is not None and opened.lastgroup == "quotes" and opened[0] in comment[0]:
        return comment.start() + comment[0].index(opened[0])
    return comment.end()


def _ends(text: str, border: re.Match[str], opened: re.Match[str] | None) -> bool:
    """Whether a border ends a file even in an open bracket: it closes what the file
    stands in, or is a fence at the beginning or the end of a line.
    """
    if border.lastgroup not in ("opens", "fence"):
        return _closes(border, opened)
    if opened is not None and {_sign(border), _sign(opened)} == {"`", "~"}:
        return False
    at_begin = border.start() == 0 or text[border.start() - 1] == "\n"
    return at_begin or border[0].endswith("\n") or border.end() == len(text)


def _files(
    text: str, begin: int, border: int, held: bool, heads: list[_Head]
) -> Iterator[File]:
    if held and not heads:  # `define` may be missing in a file between its own borders
        heads = _named(text, begin, border)
    heads = heads[-_MAX_FILES:]
    begins = [
        _with_comments(text, head.start, before)
        for head, before in zip(
            heads, [begin, *(head.stop for head in heads)], strict=False
        )
    ]
    for head, start, end in zip(heads, begins, [*begins[1:], border], strict=False):
        stop = min(head.stop, end)
        if held and head.balanced:
            stop = _belongs_until(text, stop, end)
        elif held and not _holds_other_marks(text, stop, end):
            stop = end
        closed = head.balanced or end < len(text)
        if (
            held or not closed or SECTION.search(text, start, stop)
        ):  # otherwise it is only a phrase
            written = "(" * head.bracket_lost + _as_written(text[start:stop])
            yield File(head.kind, written, start, stop, closed, head.balanced)


def _belongs_until(text: str, at: int, end: int) -> int:
    """Returns where the text behind a file's last bracket stops to belong to the file:
    blanks, comments and further brackets do, as of a file that was closed too early. A
    label, a remark or the mark of an end does not, unless brackets that nothing opened
    show that the file goes on.
    """
    last = at  # where the last bracket of the file is
    while True:
        at = _skipped(text, at, end)
        if text.startswith(")", at, end):
            at = last = at + 1
            continue
        group = _group(text, at, end)
        if group == at:
            goes_on = _closes_more(text, at, end) and not _holds_other_marks(
                text, at, end
            )
            return end if goes_on or at == end else last
        at = last = group


def _closes_more(text: str, at: int, end: int) -> bool:
    """Whether a part of a text closes more brackets than it opens."""
    marks = [mark[0] for mark in _BRACKET.finditer(_NUMBERED.sub("", text[at:end]))]
    return marks.count(")") > marks.count("(")


def _skipped(text: str, at: int, end: int) -> int:
    blank = _BLANK.match(text, at, end)
    assert blank  # it can be empty, but not None
    return blank.end()


def _group(text: str, at: int, end: int) -> int:
    """Returns where the bracket that opens at `at` closes, or `at` if there is no PDDL
    in it.
    """
    if not text.startswith("(", at, end):
        return at
    depth, close = 0, end
    for mark in _BRACKET.finditer(text, at, end):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            close = mark.end()
            break
    is_remark = _REMARK.search(text, at, close) or _PROSE.match(text, close, end)
    return at if is_remark or _holds_other_marks(text, at, close) else close


def _holds_other_marks(text: str, begin: int, end: int) -> bool:
    """Whether a part of a text has a mark that no PDDL has, outside of comments."""
    return any(found[1] for found in _NO_PDDL.finditer(text, begin, end))


def _named(text: str, begin: int, border: int) -> list[_Head]:
    heads = [_head(mark) for mark in _NAMED.finditer(text, begin, border)
             if mark.lastgroup == "head"][-_MAX_FILES:]  # fmt: skip
    for head, end in zip(
        heads, [*(head.start for head in heads[1:]), border], strict=False
    ):
        _walk(text, head, head.start, end, None)
    return heads


def _with_comments(text: str, at: int, before: int) -> int:
    """Returns where the comments above a file begin."""
    before = max(before, at - _MAX_COMMENT)
    above = _ABOVE.search(text[before:at])
    return before + above.start() if above else at


def _as_written(text: str) -> str:
    """Decodes the escapes of the string that held the text."""
    joined = _PIECES.sub("", text)
    return unescaped(joined) if "\\n" in text and "\n" not in joined.strip() else text

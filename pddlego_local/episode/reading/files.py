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
    there. `bracket_lost` says that its first bracket is missing.
    """

    kind: Kind
    start: int
    stop: int = 0
    balanced: bool = False
    bracket_lost: bool = False


@dataclass(frozen=True)
class _Zone:
    """The part of a text between two borders, and the heads of files in it. `held` says
    that the borders are a pair that encloses it.
    """

    start: int
    end: int
    held: bool
    heads: list[_Head]


Border = re.Match[str]
"""A match of `_BORDER`: its last group is the kind of border."""


def files(text: str) -> list[File]:
    """Returns the files in a text from left to right, at most the last 200."""
    found = [file for zone in _zones(text) for file in _files(text, zone)]
    return found[-_MAX_FILES:]


def only_file(text: str, kind: Kind) -> str:
    """Returns the one complete file of a kind in a string, without labels and remarks
    around it, or the whole string if there is no such file, or other PDDL around it.
    """
    found = files(text)
    of_kind = [file for file in found if file.kind == kind]
    if len(of_kind) != 1 or not of_kind[0].balanced:
        return text
    (file,) = of_kind
    number = found.index(file)
    before = found[number - 1].end if number else 0
    after = found[number + 1].start if number + 1 < len(found) else len(text)
    end = _belongs_until(text, file.end, after)
    is_alone = not text[: file.start].strip() and not text[end:].strip()
    holds_more = _holds_pddl(text, before, file.start) or _holds_pddl(text, end, after)
    return text if is_alone or holds_more else text[file.start : end]


def _holds_pddl(text: str, begin: int, end: int) -> bool:
    """Whether a bracket with PDDL is in a part of a text, and not only remarks in
    brackets.
    """
    if end - begin > _MAX_COMMENT or _closes_more(text, begin, end):
        return True
    brackets = (at for at in range(begin, end) if text[at] == "(")
    return any(_group(text, at, end) > at for at in brackets)


def _zones(text: str) -> Iterator[_Zone]:
    start = at = looked_until = 0
    opened: Border | None = None
    kind: Kind | None = None  # of the file that a tag announces: <domain name="farm">
    heads: list[_Head] = []
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.lastgroup == "comment":
            at = _comment_end(mark, opened)
        elif mark.lastgroup == "head":
            if mark.start() >= looked_until:  # otherwise it is in a comment
                head = _head(mark, opened)
                heads.append(head)
                at, looked_until = _walk(text, head, at, len(text), opened)
        else:
            held = _closes(mark, opened)
            yield _Zone(start, mark.start(), held, heads)
            start, heads = mark.end(), []
            if mark.lastgroup == "tag":
                kind = _announced(mark)
            if mark.lastgroup != "heading":
                opened = None if held or _is_end_tag(mark) else mark
            sections = _SECTIONS.match(text, at)
            if kind and at >= looked_until and sections:
                head = _Head(kind, sections.end() - 1)
                heads.append(head)
                at, looked_until = _walk(text, head, head.start, len(text), opened)
    yield _Zone(start, len(text), False, heads)


def _is_end_tag(border: Border) -> bool:
    return border[0].startswith("</")


def _closes(border: Border, opened: Border | None) -> bool:
    """Whether `border` closes what `opened` began."""
    can_close = border.lastgroup in ("fence", "quotes") or _is_end_tag(border)
    return can_close and opened is not None and _sign(border) == _sign(opened)


def _sign(border: Border) -> str:
    """Returns what matching borders have in common."""
    return border["name"].lower() if border["name"] else border[0].strip()[0]


def _announced(tag: Border) -> Kind | None:
    """Returns the kind of the file that an opening tag is named after."""
    named = _KIND_OF_TAG.match(tag["name"])
    if named is None or _is_end_tag(tag):
        return None
    return "df" if named[1].lower().startswith("d") else "pf"


def _head(mark: re.Match[str], opened: Border | None = None) -> _Head:
    """Returns the head at a `mark`. A border on the same line may stand in place of its
    first bracket.
    """
    kind: Kind = "df" if mark["kind"].lower() == "domain" else "pf"
    head = _Head(kind, mark.start())
    if opened and opened.end() == mark.start() and not opened[0].endswith("\n"):
        head.bracket_lost = not mark[0].startswith("(")
    return head


def _walk(
    text: str, head: _Head, at: int, end: int, opened: Border | None
) -> tuple[int, int]:
    """Finds where the brackets of a file close, including brackets and sections that
    continue after that. Returns the places from which the search for borders and for
    heads continues.
    """
    depth = text.count("(", head.start, at)
    head.stop = at
    border_start: int | None = None  # of the first border in an open bracket
    stop_at_border = at  # the last bracket before that border
    for mark in _INSIDE.finditer(text, at, end):
        if mark.lastgroup == "comment":
            continue
        if mark.lastgroup == "bracket":
            depth += 1 if mark[0] == "(" else -1
            head.stop = mark.end()
            if depth <= 0 and not _GOES_ON.match(text, head.stop, end):
                head.balanced = True
                head.bracket_lost = head.bracket_lost and depth == -1
                comment = _REST_OF_LINE.match(text, head.stop, end)
                end = _comment_end(comment, opened) if comment else head.stop
                return end, end
        elif mark.lastgroup == "head":
            end = mark.start()
            break
        else:
            ends_file = _ends(text, mark, opened)
            if border_start is None or (ends_file and opened):
                border_start, stop_at_border = mark.start(), head.stop
            if ends_file:
                end = mark.end()
                break
    head.bracket_lost = False
    if border_start is None:
        return end, end
    head.stop = stop_at_border
    return border_start, end


def _comment_end(comment: re.Match[str], opened: Border | None) -> int:
    """Returns where a comment outside of brackets ends: at the latest at the closing
    quotes.
    """
    if opened and opened.lastgroup == "quotes" and opened[0] in comment[0]:
        return comment.start() + comment[0].index(opened[0])
    return comment.end()


def _ends(text: str, border: Border, opened: Border | None) -> bool:
    """Whether a border ends a file even in an open bracket: it closes what the file
    stands in, or is a fence at the beginning or the end of a line.
    """
    if border.lastgroup not in ("opens", "fence"):
        return _closes(border, opened)
    if opened and {_sign(border), _sign(opened)} == {"`", "~"}:
        return False
    at_begin = border.start() == 0 or text[border.start() - 1] == "\n"
    return at_begin or border[0].endswith("\n") or border.end() == len(text)


def _files(text: str, zone: _Zone) -> Iterator[File]:
    heads = zone.heads
    if zone.held and not heads:
        # `define` may be missing in a file between its own borders.
        heads = _named(text, zone)
    heads = heads[-_MAX_FILES:]
    begins: list[int] = []
    before = zone.start
    for head in heads:
        begins.append(_with_comments(text, head.start, before))
        before = head.stop
    for head, start, end in zip(heads, begins, [*begins[1:], zone.end], strict=False):
        stop = min(head.stop, end)
        if zone.held and head.balanced:
            stop = _belongs_until(text, stop, end)
        elif zone.held and not _holds_other_marks(text, stop, end):
            stop = end
        is_closed = head.balanced or end < len(text)
        # A closed file without a section and without borders is only a phrase.
        if zone.held or not is_closed or SECTION.search(text, start, stop):
            written = _as_written(text[start:stop])
            if head.bracket_lost:
                written = f"({written}"
            yield File(head.kind, written, start, stop, is_closed, head.balanced)


def _belongs_until(text: str, at: int, end: int) -> int:
    """Returns where the text behind a file's last bracket stops to belong to the file:
    blanks, comments and further brackets do, as of a file that was closed too early. A
    label, a remark or the mark of an end does not, unless brackets that nothing opened
    show that the file goes on.
    """
    last = at  # where the last bracket of the file is
    while True:
        blank = _BLANK.match(text, at, end)
        assert blank  # it can be empty, but not None
        at = blank.end()
        after = at + 1 if text.startswith(")", at, end) else _group(text, at, end)
        if after == at:
            break
        at = last = after
    goes_on = _closes_more(text, at, end) and not _holds_other_marks(text, at, end)
    return end if goes_on or at == end else last


def _closes_more(text: str, at: int, end: int) -> bool:
    """Whether a part of a text closes more brackets than it opens."""
    marks = _BRACKET.findall(_NUMBERED.sub("", text[at:end]))
    return marks.count(")") > marks.count("(")


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


def _named(text: str, zone: _Zone) -> list[_Head]:
    """Returns the heads of files without `define`, each as far as the next one."""
    marks = list(_NAMED.finditer(text, zone.start, zone.end))
    heads = [_head(mark) for mark in marks if mark.lastgroup == "head"][-_MAX_FILES:]
    ends = [*(head.start for head in heads[1:]), zone.end]
    for head, end in zip(heads, ends, strict=False):
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
    is_one_line = "\\n" in text and "\n" not in joined.strip()
    return unescaped(joined) if is_one_line else text

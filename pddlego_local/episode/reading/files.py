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
# A mark that no PDDL has, outside of comments.
_NO_PDDL = re.compile(rf"{_COMMENT}|([\"{{}}\]`])")
_BLANK = re.compile(rf"(?:\s|\\n|{_COMMENT})*+")
_BRACKET = re.compile(rf"{_COMMENT}|[()]")
_DEPTH = {"(": 1, ")": -1}
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
    numbers = [number for number, file in enumerate(found) if file.kind == kind]
    if len(numbers) != 1:
        return text
    (number,) = numbers
    file = found[number]
    if not file.balanced:
        return text
    end_before = 0
    start_after = len(text)
    if number > 0:
        end_before = found[number - 1].end
    if number + 1 < len(found):
        start_after = found[number + 1].start
    end = _belongs_until(text, file.end, start_after)
    is_alone = not text[: file.start].strip() and not text[end:].strip()
    if is_alone:
        return text
    for begin_around, end_around in ((end_before, file.start), (end, start_after)):
        if _holds_pddl(text, begin_around, end_around):
            return text
    return text[file.start : end]


def _holds_pddl(text: str, begin: int, end: int) -> bool:
    """Whether a bracket with PDDL is in a part of a text, and not only remarks in
    brackets.
    """
    if end - begin > _MAX_COMMENT:
        return True
    for at in range(begin, end):
        if text[at] == "(" and _group(text, at, end) > at:
            return True
    return False


def _zones(text: str) -> Iterator[_Zone]:
    start = 0
    at = 0
    opened: Border | None = None
    kind: Kind | None = None  # of the file that a tag announces: <domain name="farm">
    heads: list[_Head] = []
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.lastgroup == "comment":
            at = _comment_end(mark, opened)
        elif mark.lastgroup == "head":
            head = _head(mark, opened)
            heads.append(head)
            at = _walk(text, head, at, len(text), opened)
        else:
            held = _closes(mark, opened)
            yield _Zone(start, mark.start(), held, heads)
            start = mark.end()
            heads = []
            if mark.lastgroup == "tag":
                kind = _announced(mark)
            if mark.lastgroup != "heading":
                opened = None if held or _is_end_tag(mark) else mark
            sections = _SECTIONS.match(text, at)
            if kind and sections:
                head = _Head(kind, sections.end() - 1)
                heads.append(head)
                at = _walk(text, head, head.start, len(text), opened)
    yield _Zone(start, len(text), False, heads)


def _is_end_tag(border: Border) -> bool:
    return border[0].startswith("</")


def _closes(border: Border, opened: Border | None) -> bool:
    """Whether `border` closes what `opened` began."""
    can_close = border.lastgroup in ("fence", "quotes") or _is_end_tag(border)
    return can_close and opened is not None and _sign(border) == _sign(opened)


def _sign(border: Border) -> str:
    """Returns what matching borders have in common."""
    if border["name"]:
        return border["name"].lower()
    return border[0].strip()[0]


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
    is_behind_border = opened is not None and opened.end() == mark.start()
    if opened and is_behind_border and not opened[0].endswith("\n"):
        head.bracket_lost = not mark[0].startswith("(")
    return head


def _walk(text: str, head: _Head, at: int, end: int, opened: Border | None) -> int:
    """Finds where the brackets of a file close, including brackets and sections that
    continue after that. Returns the place from which the search for borders continues.
    """
    depth = text.count("(", head.start, at)
    head.stop = at
    border_start: int | None = None  # of the first border in an open bracket
    stop_at_border = at  # the last bracket before that border
    for mark in _INSIDE.finditer(text, at, end):
        if mark.lastgroup == "comment":
            continue
        if mark.lastgroup == "bracket":
            depth += _DEPTH[mark[0]]
            head.stop = mark.end()
            if depth <= 0 and not _GOES_ON.match(text, head.stop, end):
                head.balanced = True
                head.bracket_lost = head.bracket_lost and depth == -1
                comment = _REST_OF_LINE.match(text, head.stop, end)
                return _comment_end(comment, opened) if comment else head.stop
        elif mark.lastgroup == "head":
            end = mark.start()
            break
        else:
            if border_start is None:
                border_start = mark.start()
                stop_at_border = head.stop
            if _ends(mark, opened):
                end = mark.end()
                break
    head.bracket_lost = False
    if border_start is None:
        return end
    head.stop = stop_at_border
    return border_start


def _comment_end(comment: re.Match[str], opened: Border | None) -> int:
    """Returns where a comment outside of brackets ends: at the latest at the closing
    quotes.
    """
    if opened and opened.lastgroup == "quotes" and opened[0] in comment[0]:
        return comment.start() + comment[0].index(opened[0])
    return comment.end()


def _ends(border: Border, opened: Border | None) -> bool:
    """Whether a border ends a file even in an open bracket: it closes what the file
    stands in, or is a fence. In a fence of tildes, one of backticks does not end it.
    """
    if border.lastgroup not in ("opens", "fence"):
        return _closes(border, opened)
    if opened is None:
        return True
    signs = {_sign(border), _sign(opened)}
    return signs != {"`", "~"}


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
    ends = [*begins[1:], zone.end]
    for head, start, end in zip(heads, begins, ends, strict=False):
        stop = min(head.stop, end)
        if zone.held and head.balanced:
            stop = _belongs_until(text, stop, end)
        elif zone.held:
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
        if text.startswith(")", at, end):
            last = at + 1
        else:
            group_end = _group(text, at, end)
            if group_end == at:
                break
            last = group_end
        at = last
    if at == end or _closes_more(text, at, end):
        return end
    return last


def _closes_more(text: str, at: int, end: int) -> bool:
    """Whether a part of a text closes more brackets than it opens."""
    without_numbers = _NUMBERED.sub("", text[at:end])
    marks = _BRACKET.findall(without_numbers)
    return marks.count(")") > marks.count("(")


def _group(text: str, at: int, end: int) -> int:
    """Returns where the bracket that opens at `at` closes, or `at` if there is no PDDL
    in it.
    """
    if not text.startswith("(", at, end):
        return at
    depth = 0
    close = end
    for mark in _BRACKET.finditer(text, at, end):
        depth += _DEPTH.get(mark[0], 0)
        if depth == 0:
            close = mark.end()
            break
    is_remark = _REMARK.search(text, at, close) or _PROSE.match(text, close, end)
    has_other_marks = any(mark[1] for mark in _NO_PDDL.finditer(text, at, close))
    return at if is_remark or has_other_marks else close


def _named(text: str, zone: _Zone) -> list[_Head]:
    """Returns the heads of files without `define`, each as far as the next one."""
    heads = []
    for mark in _NAMED.finditer(text, zone.start, zone.end):
        if mark.lastgroup == "head":
            heads.append(_head(mark))
    heads = heads[-_MAX_FILES:]
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

"""Reads text as nested lists with positions.

The reader knows parentheses and comments. Of PDDL's sections it knows only the names,
which help to say where a parenthesis is missing. The rules are Fast Downward's: `;`
starts a comment, `?` starts a new word even without a space before it, only comments
may contain non-ASCII characters, names are case-insensitive, and the text is one list
with nothing after it.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pddlego_local.pddl.marks import foreign_character
from pddlego_local.pddl.paths import path_in_place_of_text

# Levels of nested blocks; Fast Downward's recursive reader fails beyond them.
DEEPEST = 985
LONGEST_QUOTE = 60  # characters of one word in a message

SECTIONS = frozenset(
    {
        ":requirements",
        ":types",
        ":constants",
        ":predicates",
        ":functions",
        ":action",
        ":derived",
        ":durative-action",
        ":domain",
        ":objects",
        ":init",
        ":goal",
        ":metric",
    }
)

_TOKEN = re.compile(r";[^\n\r]*|[()]|\?[^\s()?;]*|[^\s()?;]+")
_COMMENT_OR_FOREIGN = re.compile(r";[^\n\r]*|[^\x00-\x7f]")


@dataclass(slots=True, eq=False)
class Word:
    """`text` as written, `name` in lower case as the planner reads it, `offset` in
    characters.
    """

    text: str
    offset: int
    name: str

    @property
    def stop(self) -> int:
        """The offset after the word."""
        return self.offset + len(self.text)

    def __str__(self) -> str:
        """The word as messages quote it."""
        return _shortened(self.text)


@dataclass(slots=True, eq=False)
class Block:
    """One parenthesised list; `end` is the offset of its closing parenthesis."""

    offset: int
    items: list["Node"] = field(default_factory=list)
    end: int = -1

    @property
    def blocks(self) -> list["Block"]:
        """The lists among the items."""
        return [item for item in self.items if isinstance(item, Block)]

    @property
    def words(self) -> list[Word]:
        """The words among the items."""
        return [item for item in self.items if isinstance(item, Word)]

    @property
    def stop(self) -> int:
        """The offset after the block, or after the last word of a block that is never
        closed.
        """
        last: Node = self
        while isinstance(last, Block):
            if last.end >= 0 or not last.items:
                return max(last.end, last.offset) + 1
            last = last.items[-1]
        return last.stop

    def item(self, number: int) -> "Node | None":
        """Returns an item, None if the list is too short."""
        return self.items[number] if number < len(self.items) else None

    def last_of(self, count: int) -> "Node | None":
        """Returns the last of exactly `count` items, None if there are more or less."""
        return self.items[-1] if len(self.items) == count else None

    @property
    def head(self) -> str:
        """The name of the first word, "" if the block does not begin with a word."""
        first = self.item(0)
        return first.name if isinstance(first, Word) else ""

    def __str__(self) -> str:
        """The beginning of the block, as messages quote it."""
        words = []
        for item in self.items[:4]:
            words.append(str(item) if isinstance(item, Word) else item.outline)
        if len(self.items) > 4:
            words.append("…")
        return f"({' '.join(words)})"

    @property
    def outline(self) -> str:
        """The block as it is quoted inside another one: "(at x)", "(and …)" or
        "(…)".
        """
        words = [str(item) for item in self.items[:2] if isinstance(item, Word)]
        if len(words) < len(self.items):
            words[1:] = ["…"]
        return f"({' '.join(words)})"


Node = Word | Block
Report = Callable[[int, str], None]


def ignore(_offset: int, _message: str) -> None:
    """Ignores a fault, for readings whose faults are reported elsewhere."""


def read(text: str, report: Report = ignore, recover: bool = False) -> Block | None:
    """Reads `text` as one list. Returns None if it is not a list.

    `report(offset, message)` is called for every fault. With `recover`, a section that
    begins inside another one, or after the end, shows where a parenthesis is missing or
    superfluous. The reading then continues as if the parentheses were right, so that
    the rest can be checked too. Without `recover`, the text is read as the planner
    reads it.
    """
    if "\0" in text[:4] and text.count("\0") * 3 > len(text):
        report(0, "the file is UTF-16 (half of its bytes are zero): save it as UTF-8")
        return None
    if not text.isascii():
        for match in _COMMENT_OR_FOREIGN.finditer(text):
            found = match[0]
            if found[0] != ";":
                report(match.start(), foreign_character(found))
                break
    return _Reading(text, report, recover).run()


def words_in(root: Block) -> Iterator[Word]:
    """Yields all words of a list and of its nested lists, in any order."""
    pending = [root]
    while pending:
        for item in pending.pop().items:
            if isinstance(item, Word):
                yield item
            else:
                pending.append(item)


def source(text: str, node: Node) -> str:
    """Returns the source text of a word or block."""
    return text[node.offset : node.stop]


def tidy(node: Node) -> str:
    """Returns a word or block in one line, with single spaces and without comments."""
    words = []
    pending: list[Node | str] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, Block):
            words.append("(")
            pending += [")", *reversed(item.items)]
        else:
            words.append(item if isinstance(item, str) else item.text)
    return with_parentheses(words)


def with_parentheses(words: Iterable[str]) -> str:
    """Joins words and parentheses, without a space inside a parenthesis."""
    return " ".join(words).replace("( ", "(").replace(" )", ")")


class _Reading:
    """The state of one pass over a text: remaining tokens and open blocks, innermost
    last. `moved` counts the parentheses that recovery moved; as many may be left at
    the end.
    """

    def __init__(self, text: str, report: Report, recover: bool) -> None:
        self.text = text
        self.report = report
        self.recover = recover
        tokens = _TOKEN.finditer(text)
        self.tokens = deque(token for token in tokens if token[0][0] != ";")
        self.root: Block | None = None
        self.open: list[Block] = []
        self.moved = 0

    def run(self) -> Block | None:
        if not self._begins_well():
            return None
        while self.tokens:
            token = self.tokens.popleft()
            text = token[0]
            offset = token.start()
            if not self.open and self.root is not None and self._is_past_the_end(token):
                return self.root if self.recover else None
            if text == "(":
                if self.recover and len(self.open) > 1 and self._section():
                    self._close_before_section(offset)
                if len(self.open) == DEEPEST:
                    self.report(offset, "the parentheses are nested too deeply")
                    return None
                self._begin(Block(offset))
            elif text != ")":
                self.open[-1].items.append(Word(text, offset, text.lower()))
            elif self.open:
                self.open.pop().end = offset
        if not self.open:
            return self.root
        self._never_closed(self.open[-1], len(self.open), "at the end of the text")
        return self.root if self.recover else None

    def _begin(self, block: Block) -> None:
        self.root = self.root or block
        if self.open:
            self.open[-1].items.append(block)
        self.open.append(block)

    def _begins_well(self) -> bool:
        """Whether the text begins with a list, or contains one if recovering."""
        first = self._following
        if first == "(":
            return True
        if first == "":
            self.report(
                0, "the text is empty: it must be one list that begins with `(define`"
            )
            return False
        offset = self.tokens[0].start()
        if path := path_in_place_of_text(self.text):
            self.report(offset, path)
            return False
        if first.isascii():  # a non-ASCII character has been reported already
            self.report(
                offset,
                "the text must begin with `(define`, not with"
                f" `{_shortened(first)}`: remove what stands before it",
            )
        while self.recover and self._following not in ("(", ""):
            self.tokens.popleft()
        return self.recover and bool(self.tokens)

    @property
    def _following(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[0][0] if self.tokens else ""

    def _line(self, offset: int) -> str:
        lines_before = self.text[:offset].count("\n")
        return f"line {lines_before + 1}"

    def _section(self) -> str:
        """The section's name if the current parenthesis opens a section, else ""."""
        name = self._following
        return name if name.lower() in SECTIONS else ""

    def _close_before_section(self, offset: int) -> None:
        missing = len(self.open) - 1
        before = f"before `({self._section()}` in {self._line(offset)}"
        self._never_closed(self.open[1], missing, before)
        del self.open[1:]
        self.moved += missing

    def _is_past_the_end(self, token: re.Match[str]) -> bool:
        """Reports a token after the end. If it begins a section, the list was closed
        too early.
        """
        assert self.root is not None
        text = token[0]
        offset = token.start()
        section = self._section() if text == "(" else ""
        if self.recover and section:
            self.report(
                self.root.end,
                "this `)` closes `(define` too early: remove it,"
                f" `({section}` follows in {self._line(offset)}",
            )
            self.open.append(self.root)
            self.moved += 1
            return False
        if self.recover and text == ")" and self.moved > 0:
            self.moved -= 1
            return False
        if text == "(" and self._following.lower() == "define":
            self.report(
                offset,
                "a second `(define` begins here: write domain and problem to a file"
                " each",
            )
            return True
        what = "one `)` too many" if text == ")" else f"`{_shortened(text)}` stands"
        self.report(offset, f"{what} after the end of `{self.root}`: remove it")
        return True

    def _never_closed(self, block: Block, count: int, where: str) -> None:
        quoted = [str(item) for item in block.items[:2] if isinstance(item, Word)]
        title = block.item(1)
        if block.head == "define" and isinstance(title, Block):
            quoted.append(title.outline)
        missing = "a `)` is" if count == 1 else f"{count} `)` are"
        self.report(
            block.offset,
            f"`({' '.join(quoted)}` is never closed: {missing} missing {where}",
        )


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"

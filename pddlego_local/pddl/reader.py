"""Reads text as nested lists with positions.

The reader knows parentheses and comments. Of PDDL's sections it knows only the names,
which help to say where a parenthesis is missing. The rules are Fast Downward's: `;`
starts a comment, `?` starts a new word even without a space before it, only comments
may contain non-ASCII characters, names are case-insensitive, and the text is one list
with nothing after it.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pddlego_local.pddl.marks import foreign_character
from pddlego_local.pddl.paths import path_in_place_of_text

DEEPEST = (
    985  # levels of nested blocks; Fast Downward's recursive reader fails beyond them
)

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
    def head(self) -> str:
        """The name of the first word, "" if the block does not begin with a word."""
        first = self.items[0] if self.items else None
        return first.name if isinstance(first, Word) else ""

    def __str__(self) -> str:
        """The beginning of the block, as messages quote it."""
        words = [
            str(item) if isinstance(item, Word) else item.outline
            for item in self.items[:4]
        ]
        return f"({' '.join(words)}{' …' if len(self.items) > 4 else ''})"

    @property
    def outline(self) -> str:
        """The block as it is quoted inside another one: "(at x)", "(and …)" or
        "(…)".
        """
        words = [str(item) for item in self.items[:2] if isinstance(item, Word)]
        shown = words if len(words) == len(self.items) else [*words[:1], "…"]
        return f"({' '.join(shown)})"


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
    for match in _COMMENT_OR_FOREIGN.finditer(text) if not text.isascii() else ():
        if match[0][0] != ";":
            report(match.start(), foreign_character(match[0]))
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
    end = node.offset + len(node.text) if isinstance(node, Word) else node.end + 1
    return text[node.offset : end]


class _Reading:
    """The state of one pass over a text: remaining tokens and open blocks, innermost
    last.
    """

    def __init__(self, text: str, report: Report, recover: bool) -> None:
        self.text, self.report, self.recover = text, report, recover
        self.tokens = deque(
            match for match in _TOKEN.finditer(text) if match[0][0] != ";"
        )
        self.root: Block | None = None
        self.open: list[Block] = []
        self.moved = (
            0  # parentheses that recovery moved; as many may be left at the end
        )

    def run(self) -> Block | None:
        if not self._begins_well():
            return None
        while self.tokens:
            token = self.tokens.popleft()
            if not self.open and self.root is not None and self._is_past_the_end(token):
                return self.root if self.recover else None
            if token[0] == "(":
                if self.recover:
                    self._close_before_section(token.start())
                if len(self.open) == DEEPEST:
                    self.report(
                        token.start(),
                        "the parentheses are nested too deeply to be read",
                    )
                    return None
                block = Block(token.start())
                self.root = self.root or block
                if self.open:
                    self.open[-1].items.append(block)
                self.open.append(block)
            elif token[0] == ")":
                if self.open:
                    self.open.pop().end = token.start()
            else:
                self.open[-1].items.append(
                    Word(token[0], token.start(), token[0].lower())
                )
        return self._at_the_end()

    def _begins_well(self) -> bool:
        """Whether the text begins with a list, or contains one if recovering."""
        if not self.tokens:
            self.report(
                0, "the text is empty: it must be one list that begins with `(define`"
            )
            return False
        first = self.tokens[0]
        if first[0] == "(":
            return True
        if path := path_in_place_of_text(self.text):
            self.report(first.start(), path)
            return False
        if first[0].isascii():  # a non-ASCII character has been reported already
            other = (
                f"the text must begin with `(define`, not with `{_shortened(first[0])}`"
            )
            self.report(first.start(), f"{other}: remove what stands before it")
        while self.recover and self.tokens and self.tokens[0][0] != "(":
            self.tokens.popleft()
        return self.recover and bool(self.tokens)

    def _line(self, offset: int) -> str:
        line = self.text.count("\n", 0, offset) + 1
        return f"line {line}"

    def _section(self) -> str:
        """The section's name if the current parenthesis opens a section, else ""."""
        following = self.tokens[0][0] if self.tokens else ""
        return following if following.lower() in SECTIONS else ""

    def _close_before_section(self, offset: int) -> None:
        section = self._section()
        if not section or len(self.open) < 2:
            return
        missing = len(self.open) - 1
        self._never_closed(
            self.open[1], missing, f"before `({section}` in {self._line(offset)}"
        )
        del self.open[1:]
        self.moved += missing

    def _is_past_the_end(self, token: re.Match[str]) -> bool:
        """Reports a token after the end. If it begins a section, the list was closed
        too early.
        """
        assert self.root is not None
        section = self._section() if token[0] == "(" else ""
        if self.recover and section:
            follows = f"`({section}` follows in {self._line(token.start())}"
            early = "this `)` closes `(define` too early"
            self.report(self.root.end, f"{early}: remove it, {follows}")
            self.open.append(self.root)
            self.moved += 1
            return False
        if token[0] == ")" and self.recover and self.moved > 0:
            self.moved -= 1
            return False
        what = (
            "one `)` too many"
            if token[0] == ")"
            else f"`{_shortened(token[0])}` stands"
        )
        if token[0] == "(" and self.tokens and self.tokens[0][0].lower() == "define":
            message = (
                "a second `(define` begins here: write domain and problem to a file"
                " each"
            )
        else:
            message = f"{what} after the end of `{self.root}`: remove it"
        self.report(token.start(), message)
        return True

    def _at_the_end(self) -> Block | None:
        if not self.open:
            return self.root
        self._never_closed(self.open[-1], len(self.open), "at the end of the text")
        return self.root if self.recover else None

    def _never_closed(self, block: Block, count: int, where: str) -> None:
        missing = "a `)` is" if count == 1 else f"{count} `)` are"
        never = f"`{_opening(block)}` is never closed"
        self.report(block.offset, f"{never}: {missing} missing {where}")


def _opening(block: Block) -> str:
    """The block's beginning, such as "(:action move" or "(define (domain rooms)"."""
    second = block.items[1:2] if block.head == "define" else []
    quoted = [str(item) for item in block.items[:2] if isinstance(item, Word)]
    quoted += [item.outline for item in second if isinstance(item, Block)]
    return "(" + " ".join(quoted)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"

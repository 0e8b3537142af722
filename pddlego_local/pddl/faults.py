"""Collects what a check finds, with positions in the text. Knows nothing of PDDL's
meaning.
"""

import bisect
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pddlego_local.pddl.marks import foreign_character, stray_mark
from pddlego_local.pddl.reader import Node, Word

Kind = Literal["syntax", "symbol", "warning"]
Misuse = Literal["misuse", "denied"]
File = Literal["domain", "problem"]

# Distinct messages kept for one file; a model reads only the first few.
MOST_PER_KIND = 200
LITERAL_LINE_BREAK = (
    "`\\n` stands in the text as two characters: write a real line break instead"
)
NEITHER = (
    "the planner understands neither numbers nor time, so {} cannot stand here: write"
    " facts alone (the only exception is the cost `(increase (total-cost) amount)`)"
)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Fault:
    """One finding. `line` and `column` count from 1; `column` counts characters.

    kind "syntax":  Fast Downward refuses the structure, whatever names the file
                    declares.
    kind "symbol":  Fast Downward refuses, or crashes on, an undeclared, repeated or
                    mistyped name or a wrong number of arguments.
    kind "warning": Fast Downward accepts it silently, but drops something or will find
    no plan.
    """

    kind: Kind
    file: File
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file} line {self.line}, column {self.column}: {self.message}"


class Faulty(NamedTuple):
    """A word or list with a fault or a misuse."""

    kind: Kind | Misuse
    node: Node


class FaultLog:
    """Collects the faults of one file.

    A repeated message is kept once, at its first position. `nodes` are all words and
    lists with a fault, repetitions included.
    """

    def __init__(self, file: File = "domain", text: str = "") -> None:
        """The defaults are for a reading whose faults are not used."""
        self.file: File = file
        self._text = text
        self.nodes: list[Faulty] = []
        self._first: dict[tuple[Kind, str], int] = {}
        self._count: Counter[Kind] = Counter()
        self._numeric: dict[str, int] = {}

    def syntax(self, at: Node | int, message: str) -> None:
        self._add("syntax", at, message)

    def symbol(self, at: Node | int, message: str) -> None:
        self._add("symbol", at, message)

    def warn(self, at: Node | int, message: str) -> None:
        self._add("warning", at, message)

    def misuse(self, at: Node, message: str, kind: Misuse = "misuse") -> None:
        """Warns of a node that Fast Downward accepts, although it is misused or a
        negated fact.
        """
        self.warn(at, message)
        self.nodes.append(Faulty(kind, at))

    def numeric(self, at: Node, word: str) -> None:
        """Reports a word of numeric or temporal PDDL. One fault names all such words of
        a file.
        """
        if word not in self._numeric:
            self._count["syntax"] += 1
            self._numeric[word] = at.offset
        self._numeric[word] = min(at.offset, self._numeric[word])
        self.nodes.append(Faulty("syntax", at))

    def has(self, kind: Kind) -> bool:
        return self._count[kind] > 0

    def _add(self, kind: Kind, at: Node | int, message: str) -> None:
        if isinstance(at, int):
            offset = at
        else:
            offset = at.offset
            if isinstance(at, Word):
                kind, message = _about_the_word(at, kind, message)
            self.nodes.append(Faulty(kind, at))
        if kind != "warning":
            self._first.pop(("warning", message), None)
        elif {("syntax", message), ("symbol", message)} & self._first.keys():
            return
        first = self._first.get((kind, message))
        if first is not None:
            self._first[kind, message] = min(first, offset)
        elif self._count[kind] < MOST_PER_KIND:
            self._first[kind, message] = offset
            self._count[kind] += 1

    def in_order(self) -> tuple[Fault, ...]:
        first = dict(self._first)
        if self._numeric:
            in_text = sorted(self._numeric, key=self._numeric.__getitem__)
            *others, last = [f"`{word}`" for word in in_text]
            listed = f"{', '.join(others)} and {last}" if others else last
            message = NEITHER.format(listed)
            first["syntax", message] = min(self._numeric.values())
        line_starts = [0, *(end.end() for end in _LINE_END.finditer(self._text))]
        faults = []
        for kind, message in sorted(first, key=first.__getitem__):
            offset = first[kind, message]
            line = bisect.bisect_right(line_starts, offset)
            fault = Fault(
                kind=kind,
                file=self.file,
                line=line,
                column=offset - line_starts[line - 1] + 1,
                message=message,
            )
            faults.append(fault)
        return tuple(faults)


def _about_the_word(word: Word, kind: Kind, message: str) -> tuple[Kind, str]:
    """The kind and the message of a fault, or those of what is wrong with the word
    itself, which explains the fault.
    """
    if "\\n" in word.text:
        return kind, LITERAL_LINE_BREAK
    if foreign := foreign_character(str(word)):
        return "syntax", foreign
    return kind, stray_mark(str(word)) or message

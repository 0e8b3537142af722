"""One file under repair, and the slips that keep it from being read: escapes, parentheses."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.faults import FaultLog, File
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, Node, balancing, read, source
from pddlego_local.pddl.task import Domain, Problem

_ESCAPES = {"\\n": "\n", "\\t": " ", "\\r": " ", '\\"': '"'}
_ESCAPE = re.compile(r"\\[ntr\"]")


@dataclass(frozen=True)
class Change:
    """What is to stand in a file from `start` to `end`, and sentences that say so."""

    file: File
    start: int
    end: int
    new: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """One file, read at most once as the planner reads it: None where it is no one list."""

    file: File
    text: str

    @cached_property
    def block(self) -> Block | None:
        return read(self.text)

    @cached_property
    def domain(self) -> Domain | None:
        return read_domain(self.block, FaultLog()) if self.block else None

    @cached_property
    def problem(self) -> Problem | None:
        return read_problem(self.block, FaultLog()) if self.block else None

    def sections(self, *names: str) -> list[Block]:
        """The sections of these names, such as ":types", by name."""
        items = self.block.items[2:] if self.block else []
        return [i for name in names for i in items if isinstance(i, Block) and i.head == name]

    def inside(self, block: Block, skipped: int = 1) -> str:
        """What stands in a block after its first `skipped` items, without blanks around it."""
        items = block.items[skipped:]
        return self.text[items[0].offset : block.end].rstrip() if items else ""

    def change(self, start: int, end: int, new: str, *why: str) -> Change:
        return Change(self.file, start, end, new, why)

    def replaced(self, node: Node, new: str, *why: str) -> Change:
        """A word or list for which something else is to stand."""
        return self.change(node.offset, node.offset + len(source(self.text, node)), new, *why)

    def unwrapped(self, block: Block, opening: int, *why: str) -> Iterator[Change]:
        """A list without its parentheses, and without what stands up to `opening`."""
        yield self.change(block.offset, opening, " ", *why)
        yield self.change(block.end, block.end + 1, " ", *why)

    def changed(self, changes: Iterable[Change]) -> "Text":
        """With its own changes made; of two that overlap, the later begun is passed over."""
        own = [change for change in changes if change.file == self.file]
        pieces, position = [], 0
        for change in sorted(own, key=lambda change: (change.start, change.end)):
            if change.start >= position:
                pieces += [self.text[position : change.start], change.new]
                position = change.end
        text = "".join([*pieces, self.text[position:]])
        return self if text == self.text else Text(self.file, text)


Repair = Callable[[Text, Text], Iterable[Change]]
"""What a file, beside the other one, is to be changed by."""


def unescaped(file: Text, _other: Text) -> Iterator[Change]:
    """`\\n` written as two characters becomes a line break."""
    why = f"{file.file}: turned escapes such as `\\n` into the characters meant"
    for match in _ESCAPE.finditer(file.text):
        yield file.change(*match.span(), _ESCAPES[match[0]], why)


def balanced(file: Text, _other: Text) -> list[Change]:
    """Parentheses are set where the sections show that they are missing or too many."""
    patches = balancing(file.text) if file.block is None else []
    added = sum(len(new) for _, _, new in patches)
    removed = sum(end - start for start, end, _ in patches)
    told = [f"added {added} `)`"] * (added > 0) + [f"removed {removed} `)`"] * (removed > 0)
    why = f"{file.file}: {' and '.join(told)}"
    changes = [file.change(*patch, why) for patch in patches]
    return changes if file.changed(changes).block is not None else []

"""The two files under repair: what a step reads of them, and how it changes them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.faults import FaultLog, File
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, Patch, read
from pddlego_local.pddl.task import Domain, Problem


@dataclass(frozen=True)
class Text:
    """One file, read at most once as the planner reads it: None where it is no one list."""

    file: File
    text: str

    @cached_property
    def block(self) -> Block | None:
        return read(self.text, lambda _offset, _message: None)

    @cached_property
    def domain(self) -> Domain | None:
        return read_domain(self.block, FaultLog("domain", self.text)) if self.block else None

    @cached_property
    def problem(self) -> Problem | None:
        return read_problem(self.block, FaultLog("problem", self.text)) if self.block else None

    def sections(self, *names: str) -> list[Block]:
        """The sections of these names, such as ":types", by name."""
        items = self.block.items[2:] if self.block else []
        return [i for name in names for i in items if isinstance(i, Block) and i.head == name]

    def inside(self, block: Block, skipped: int = 1) -> str:
        """What stands in a block after its first `skipped` items, without blanks around it."""
        items = block.items[skipped:]
        return self.text[items[0].offset : block.end].rstrip() if items else ""

    def patched(self, patches: Iterable[Patch]) -> "Text":
        """With its pieces replaced; of two that overlap, the later begun is passed over."""
        pieces, position = [], 0
        for start, end, new in sorted(patches, key=lambda patch: patch[:2]):
            if start >= position:
                pieces += [self.text[position:start], new]
                position = end
        return self.with_text("".join([*pieces, self.text[position:]]))

    def with_text(self, text: str) -> "Text":
        return self if text == self.text else replace(self, text=text)


@dataclass(frozen=True)
class Pair:
    domain: Text
    problem: Text


Repair = tuple[Text, tuple[str, ...]]
"""A file after one step, and a sentence for each change; without any it is the same file."""
Step = Callable[[Pair], tuple[Pair, tuple[str, ...]]]


def in_domain(repair: Callable[[Text], Repair]) -> Step:
    """The step that repairs the domain by itself."""

    def step(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
        domain, changes = repair(pair.domain)
        return replace(pair, domain=domain), changes

    return step


def in_problem(repair: Callable[[Text], Repair]) -> Step:
    """The step that repairs the problem by itself."""

    def step(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
        problem, changes = repair(pair.problem)
        return replace(pair, problem=problem), changes

    return step


def in_both(repair: Callable[[Text], Repair]) -> Step:
    """The step that repairs the domain, then the problem, each by itself."""

    def step(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
        (domain, in_first), (problem, in_second) = repair(pair.domain), repair(pair.problem)
        return Pair(domain, problem), in_first + in_second

    return step

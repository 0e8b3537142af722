"""What the steps of a repair work on, and how they change a text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.faults import FaultLog, File
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, Patch, read
from pddlego_local.pddl.task import Domain, Problem


@dataclass(frozen=True)
class Pair:
    domain: str
    problem: str


@dataclass(frozen=True)
class Mended:
    """A text after one step, and a sentence for each change; without any it is the same text."""

    text: str
    changes: tuple[str, ...] = ()


Step = Callable[[Pair], tuple[Pair, tuple[str, ...]]]


def for_each_file(mend: Callable[[str, File], Mended]) -> Step:
    """The step that mends the domain, then the problem, each by itself."""

    def step(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
        domain, problem = mend(pair.domain, "domain"), mend(pair.problem, "problem")
        return Pair(domain.text, problem.text), domain.changes + problem.changes

    return step


def patched(text: str, patches: Iterable[Patch]) -> str:
    """The text with its pieces replaced; of two that overlap, the later begun is passed over."""
    pieces, position = [], 0
    for start, end, new in sorted(patches, key=lambda patch: patch[:2]):
        if start >= position:
            pieces += [text[position:start], new]
            position = end
    return "".join([*pieces, text[position:]])


def block_of(text: str) -> Block | None:
    """The text's one list as the planner reads it, or None where it is none."""
    return read(text, lambda _offset, _message: None)


def domain_of(text: str) -> Domain | None:
    block = block_of(text)
    return read_domain(block, FaultLog("domain", text)) if block is not None else None


def problem_of(text: str) -> Problem | None:
    block = block_of(text)
    return read_problem(block, FaultLog("problem", text)) if block is not None else None


def inside(text: str, block: Block, skipped: int = 1) -> str:
    """What stands in a block behind its first `skipped` items, without blanks around it."""
    items = block.items[skipped:]
    return text[items[0].offset : block.end].rstrip() if items else ""


def sections(block: Block, name: str) -> list[Block]:
    """The sections of that name, such as ":types"."""
    return [item for item in block.items[2:] if isinstance(item, Block) and item.head == name]


def quoted(words: Iterable[object], most: int = 8) -> str:
    """The words as a change tells them: "`a`, `b`"."""
    names = [f"`{word}`" for word in words]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")

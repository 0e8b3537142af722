"""Changes of a pair of files that keep the rest of the text, and the pair while it is
repaired (repair.py).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pddlego_local.core.nouns import Action
from pddlego_local.pddl.check import Examined
from pddlego_local.pddl.faults import File
from pddlego_local.pddl.reader import Block, Node

LONGEST_QUOTE = 200  # characters of a removed part in a message


@dataclass(frozen=True)
class Knowledge:
    """The knowledge that a repair may use.

    `declared` says whether it may use the declarations in the files. `given` says that
    the model did not write the domain, which then stays. `actions` are the only actions
    that the model's domain may have; if empty, it may have any. `names` are the only
    names for objects and constants; None allows any.
    """

    declared: bool = False
    given: bool = False
    actions: Sequence[Action] = ()
    names: Collection[str] | None = None


class Edit(NamedTuple):
    """Text that replaces the text from `start` to `stop`."""

    start: int
    stop: int
    new: str


class Change(NamedTuple):
    """Edits of one file, in order of position, and what they do in words."""

    file: File
    edits: tuple[Edit, ...]
    what: str

    @property
    def start(self) -> int:
        return self.edits[0].start

    @property
    def stop(self) -> int:
        return self.edits[-1].stop

    def applied_to(self, text: str) -> str:
        for edit in reversed(self.edits):
            text = text[: edit.start] + edit.new + text[edit.stop :]
        return text


class Path(NamedTuple):
    """A node of a file with the lists around it, from the root inwards."""

    file: File
    around: tuple[Block, ...]
    node: Node

    @property
    def parent(self) -> Block:
        return self.around[-1]

    @property
    def section(self) -> Block | None:
        """The section that holds the node, or is the node. None for the root and for a
        word between sections.
        """
        below_root = (*self.around, self.node)[1:]
        section = below_root[0] if below_root else None
        return section if isinstance(section, Block) else None

    @property
    def section_name(self) -> str:
        return self.section.head if self.section else ""


def _paths_in(file: File, root: Block) -> Iterator[Path]:
    """Yields the paths to all nodes, in text order."""
    pending = [Path(file, (), root)]
    while pending:
        path = pending.pop()
        yield path
        if isinstance(path.node, Block):
            around = (*path.around, path.node)
            for item in reversed(path.node.items):
                pending.append(Path(file, around, item))


class Pair(Examined):
    """Both files during the repair, with the `changes` so far in words."""

    def __init__(
        self,
        texts: Mapping[File, str],
        knows: Knowledge,
        changes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(texts["domain"], texts["problem"])
        self.texts = texts
        self.knows = knows
        self.changes = changes

    @property
    def faults(self) -> list[Path]:
        """The faults that the knowledge covers, first those of the domain."""
        if self.knows.declared:
            return self.paths("syntax", "symbol", "denied")
        return self.paths("syntax")

    def paths(self, *kinds: str) -> list[Path]:
        """The paths to faults of these kinds, in text order."""
        found = []
        for log in self.logs:
            nodes = [node for kind, node in log.nodes if kind in kinds]
            found += self.paths_to(log.file, nodes)
        return found

    def paths_to(self, file: File, nodes: Iterable[Node]) -> list[Path]:
        """The paths to `nodes`. There are none in a given domain, or in a file that is
        no list.
        """
        root = self.roots[file]
        wanted = set(nodes)
        stays = file == "domain" and self.knows.given
        if root is None or not wanted or stays:
            return []
        return [path for path in _paths_in(file, root) if path.node in wanted]

    def after(self, *changes: Change) -> "Pair":
        """Makes the changes. Of overlapping changes, only the one that begins last is
        made.
        """
        texts = dict(self.texts)
        next_start = {file: len(text) for file, text in texts.items()}
        done: list[str] = []
        for change in sorted(changes, key=lambda change: change.start, reverse=True):
            file = change.file
            if change.stop > next_start[file]:
                continue
            next_start[file] = change.start
            texts[file] = change.applied_to(texts[file])
            done.insert(0, f"{file}: {change.what}")
        return Pair(texts, self.knows, (*self.changes, *done))

    def cut(
        self, file: File, first: Node, last: Node | None = None, instead: str = ""
    ) -> Change:
        """Cuts nodes from a file. Without a replacement, blanks before them go too,
        unless a comment ends there.
        """
        text = self.texts[file]
        start = first.offset
        end = (last or first).stop
        quoted = " ".join(text[start:end].split())
        what = f"left out {quoted[:LONGEST_QUOTE]}"
        if not instead:
            before = text[:start].rstrip()
            last_line = before.rpartition("\n")[2]
            if ";" not in last_line:
                start = len(before)
            joins_words = text[end : end + 1] not in (*"() \t\r\n", "")
            if joins_words:
                instead = " "
        return Change(file, (Edit(start, end, instead),), what)

"""Repairs a finished answer with a rung's knowledge, without masking tokens
(`decoding.repair`).

Each fault that the static check finds, and that the rung could have prevented, is
repaired separately. A name that is not permitted in its place is replaced by the
permitted name that differs only in case, hyphens, underscores and other marks, if there
is exactly one such name. In a problem's `:domain`, the domain's own name is the only
permitted name.

Every other fault is removed with the smallest part around it: a fact of `:init`, a name
in a list of names, an operand of `and` or `or`, or the precondition of an action. If
the effect of an action would have to go, the whole action is removed. Parts that cannot
be removed stay: parentheses, sections and the last part of a goal.

Nothing is added, and the rest of the text stays unchanged.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from pddlego_local.core.nouns import Action
from pddlego_local.pddl.check import Examined
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import REQUIREMENTS
from pddlego_local.pddl.formulas import read_typed_list, type_groups
from pddlego_local.pddl.reader import Block, Node, Word, read, source, words_in
from pddlego_local.pddl.task import ActionDefinition, TypedName

FILES = ("domain", "problem")
MOST_CHANGES = (
    500  # each takes a reading of the files, and hostile answers have more faults
)
LONGEST_QUOTE = 200  # characters of a removed part in a message

_NAMES = (":types", ":constants", ":objects")
_ENTRIES = (":init", ":predicates", ":requirements")
_NEEDED = {
    "domain": (":requirements", *_NAMES[:2], ":predicates", ":functions"),
    "problem": (":domain", ":requirements", ":objects", ":init", ":goal"),
}


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


class Repaired(NamedTuple):
    """The repaired files, and the changes in words."""

    domain: str
    problem: str
    changes: tuple[str, ...]


def repair(domain: str, problem: str, knows: Knowledge) -> Repaired:
    """Repairs a pair of files. Raises nothing, whatever the texts are.

    If the planner accepts the pair, it accepts the repaired pair too.
    """
    pair = _Pair((domain, problem), knows, ())
    if knows.declared and not knows.given:
        pair = _changed(
            pair, lambda pair: (*_declared_again(pair), *_other_actions(pair))
        )
    pair = _without_faults(pair)
    if knows.declared:
        pair = _changed(
            pair, lambda pair: (_fix(pair, path) for path in pair.paths({"misuse"}))
        )
    if knows.names is not None:
        pair = _changed(pair, _unseen)
    return Repaired(*pair.texts, pair.changes)


class _Change(NamedTuple):
    """Replacements in one file as (start, stop, new text), and a description
    (`what`).
    """

    file: str
    edits: tuple[tuple[int, int, str], ...]
    what: str


class _Path(NamedTuple):
    """The nodes of a file from its root to a faulty one."""

    file: str
    nodes: tuple[Node, ...]


class _Pair(Examined):
    """Both files during the repair, with the `changes` so far."""

    def __init__(
        self, texts: tuple[str, str], knows: Knowledge, changes: tuple[str, ...]
    ) -> None:
        super().__init__(*texts)
        self.texts, self.knows, self.changes = texts, knows, changes

    @property
    def accepted(self) -> bool:
        return not self.has("syntax") and not self.has("symbol")

    @property
    def faults(self) -> list[_Path]:
        return self.paths(
            {"syntax", "symbol", "denied"} if self.knows.declared else {"syntax"}
        )

    def paths(self, kinds: Collection[str]) -> list[_Path]:
        """The paths to faults of these kinds, in text order, first those of the
        domain.
        """
        found = list[_Path]()
        for file, log in zip(FILES, self.logs, strict=True):
            found += self.paths_to(
                file, (node for kind, node in log.nodes if kind in kinds)
            )
        return found

    def paths_to(self, file: str, nodes: Iterable[Node]) -> list[_Path]:
        """The paths to `nodes`. There are none in a given domain, or in a file that is
        no list.
        """
        root, wanted = self.roots[FILES.index(file)], {id(node) for node in nodes}
        pending: list[tuple[Node, ...]] = [(root,)] if root and wanted else []
        found = list[_Path]()
        while pending and not (self.knows.given and file == "domain"):
            path = pending.pop()
            if id(path[-1]) in wanted:
                found.append(_Path(file, path))
            if isinstance(path[-1], Block):
                pending += [(*path, item) for item in reversed(path[-1].items)]
        return found

    def text(self, file: str) -> str:
        return self.texts[FILES.index(file)]

    def after(self, changes: Iterable[_Change]) -> "_Pair":
        """Makes the changes. Of overlapping changes, only the one that begins last is
        made.
        """
        texts, done = dict(zip(FILES, self.texts, strict=True)), list[str]()
        next_start = {file: len(text) for file, text in texts.items()}
        for change in sorted(
            changes, key=lambda change: change.edits[0][0], reverse=True
        ):
            if change.edits[-1][1] > next_start[change.file]:
                continue
            for start, stop, new in reversed(change.edits):
                text = texts[change.file]
                texts[change.file] = text[:start] + new + text[stop:]
            next_start[change.file] = change.edits[0][0]
            done.append(f"{change.file}: {change.what}")
        return _Pair(
            (texts["domain"], texts["problem"]),
            self.knows,
            (*self.changes, *done[::-1]),
        )


def _without_faults(pair: _Pair) -> _Pair:
    """Repairs all faults that can be repaired. Names in facts do not depend on each
    other; after any other change, the files are read again.
    """
    while len(pair.changes) < MOST_CHANGES:
        changes = dict[_Change, None]()
        for path in pair.faults:
            if change := _fix(pair, path):
                changes[change] = None
                if (
                    not isinstance(path.nodes[-1], Word)
                    or _head(path.nodes[1:]) != ":init"
                ):
                    break
        if not changes:
            break
        pair = pair.after(changes)
    return pair


def _changed(
    pair: _Pair, changes: Callable[[_Pair], Iterable[_Change | None]]
) -> _Pair:
    """Makes each change, and the repairs that it requires, unless the planner would
    then refuse a pair that it accepted before.
    """
    left = 0
    while len(pair.changes) < MOST_CHANGES:
        change = next(islice(filter(None, changes(pair)), left, None), None)
        if change is None:
            break
        after = _without_faults(pair.after([change]))
        if after.accepted or not pair.accepted:
            pair = after
        else:
            left += 1
    return pair


def _fix(pair: _Pair, path: _Path) -> _Change | None:
    node = path.nodes[-1]
    if isinstance(node, Word):
        renamed = [
            change
            for name in _candidates(pair, node, path.nodes)
            if _weight(pair.after([change := _renamed(path.file, node, name)]))
            < _weight(pair)
        ]
        if len(renamed) == 1:
            return renamed[0]
    return _left_out(pair, path)


def _weight(pair: _Pair) -> int:
    return len(pair.faults) + len(pair.paths({"misuse"}))


def _candidates(pair: _Pair, word: Word, nodes: Sequence[Node]) -> list[str]:
    """The names, of any kind, that the rung knows at the place of `word` and that
    differ from it only in marks.
    """
    if _head(nodes[1:]) == ":requirements":
        return _same(word, REQUIREMENTS)
    if not pair.knows.declared:
        return []
    domain = pair.domain
    if _head(nodes[1:]) == ":domain":
        return [domain.word.text] if domain.word else []
    words = [entry.word for entry in (*domain.types, *pair.symbols.objects.values())]
    words += [predicate.word for predicate in domain.predicates or ()]
    if len(nodes) > 1 and isinstance(nodes[1], Block):
        words += [
            variable for variable in words_in(nodes[1]) if variable.name[0] == "?"
        ]
    return _same(word, (each.text for each in words))


def _same(word: Word, names: Iterable[str]) -> list[str]:
    """The other names that differ from the word only in marks, each in one spelling."""
    letters = _letters(word.name)
    alike = {name.lower(): name for name in names if _letters(name) == letters != ""}
    return [name for key, name in alike.items() if key != word.name]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _renamed(file: str, word: Word, name: str) -> _Change:
    edit = (word.offset, word.offset + len(word.text), name)
    return _Change(file, (edit,), f"{word} became {name}")


def _head(nodes: Sequence[Node]) -> str:
    return nodes[0].head if nodes and isinstance(nodes[0], Block) else ""


def _left_out(pair: _Pair, path: _Path) -> _Change | None:
    """Removes the smallest part around the last node that can be removed."""
    file, nodes = path
    text, in_goal = pair.text(file), _head(nodes[1:]) == ":goal"
    for depth in range(len(nodes) - 1, 0, -1):
        parent, node = nodes[depth - 1], nodes[depth]
        assert isinstance(parent, Block)
        number, last = parent.items.index(node), len(parent.items) == 2
        if number and parent.head in _NAMES:
            return _cut(file, text, *_entry(parent, node))
        may_be_empty = parent.head in _ENTRIES or (parent.head == "and" and not in_goal)
        if number and (may_be_empty or (parent.head in ("and", "or") and not last)):
            return _cut(file, text, node, node)
        before = parent.items[number - 1] if number else None
        if (
            parent.head == ":action"
            and isinstance(before, Word)
            and before.name == ":precondition"
        ):
            return _cut(file, text, node, node, "()")
        if depth == 1 and number > 1 and _head([node]) not in _NEEDED[file]:
            return _cut(file, text, node, node)
    return None


def _entry(listed: Block, node: Node) -> tuple[Node, Node]:
    """The first and last node to remove with a name or type: a shared type stays."""
    for names, kind in type_groups(listed.items[1:], FaultLog()):
        if names and kind is not None and (node is kind or names == [node]):
            return names[0], kind
    return node, node


def _cut(file: str, text: str, first: Node, last: Node, instead: str = "") -> _Change:
    """Cuts nodes from a file. Without a replacement, blanks before them go too, unless
    a comment ends there.
    """
    start, end = first.offset, last.offset + len(source(text, last))
    what = f"left out {' '.join(text[start:end].split())[:LONGEST_QUOTE]}"
    if not instead:
        start = len(text[:start].rstrip())
        if ";" in text[:start].rpartition("\n")[2]:
            start = first.offset
        instead = "" if text[end : end + 1] in "() \t\r\n" else " "
    return _Change(file, ((start, end, instead),), what)


def _declared_again(pair: _Pair) -> Iterator[_Change | None]:
    """Removes a repeated declaration of a predicate that contradicts the first."""
    paths = (
        path
        for path in pair.paths({"misuse"})
        if _head(path.nodes[1:]) == ":predicates"
    )
    return (_left_out(pair, path) for path in paths)


def _other_actions(pair: _Pair) -> Iterator[_Change]:
    """Repairs actions that the environment does not have, or that have other
    parameters.
    """
    schemas, text = pair.knows.actions, pair.text("domain")
    for path in pair.paths_to(
        "domain", (action.word for action in pair.domain.actions)
    ):
        block, word = path.nodes[-2:]
        assert isinstance(block, Block) and isinstance(word, Word)
        own = [schema for schema in schemas if schema.name.lower() == word.name]
        same = _same(word, (schema.name for schema in schemas))
        if own:
            action = next(each for each in pair.domain.actions if each.word is word)
            yield from _other_parameters(pair, block, action, own[0])
        elif len(same) == 1:
            yield _renamed("domain", word, same[0])
        elif schemas:
            yield _cut("domain", text, block, block)


def _other_parameters(
    pair: _Pair, block: Block, action: ActionDefinition, schema: Action
) -> Iterator[_Change]:
    """Replaces the parameters by the environment's if they have the same variables or
    the same types, else removes the action. It stays if the domain lacks the types.
    """
    listed = read(schema.parameters) or Block(0)
    wanted = read_typed_list(listed.items, FaultLog()) or []
    said, asked = _typed(action.parameters), _typed(wanted)
    kinds = frozenset[str]().union(*(entry.type_names for entry in wanted))
    if said == asked or not action.complete or not kinds <= pair.symbols.types.declared:
        return
    new = dict[str, str]()
    if {name for name, _ in said} != {name for name, _ in asked}:
        if [kind for _, kind in said] != [kind for _, kind in asked]:
            yield _cut("domain", pair.text("domain"), block, block)
            return
        new = {
            name: entry.word.text for (name, _), entry in zip(said, wanted, strict=True)
        }
    place = block.blocks[0]
    edits = [(place.offset, place.end + 1, schema.parameters)]
    uses = (
        word for word in words_in(block) if word.name in new and word.offset > place.end
    )
    edits += [(use.offset, use.offset + len(use.text), new[use.name]) for use in uses]
    what = f"the parameters of {action.word} became {schema.parameters}"
    yield _Change("domain", tuple(sorted(edits)), what)


def _typed(entries: Iterable[TypedName]) -> list[tuple[str, frozenset[str]]]:
    return [(entry.name, entry.type_names) for entry in entries]


def _unseen(pair: _Pair) -> Iterator[_Change]:
    """Repairs objects and constants whose names the prompt does not show."""
    names = pair.knows.names or ()
    seen = {name.lower() for name in names}
    for file, entries in zip(
        FILES, (pair.domain.constants, pair.problem.objects), strict=True
    ):
        for path in pair.paths_to(
            file, (each.word for each in entries if each.name not in seen)
        ):
            listed, word = path.nodes[-2:]
            assert isinstance(listed, Block) and isinstance(word, Word)
            same = _same(word, names)
            if len(same) == 1:
                yield _renamed(file, word, same[0])
            else:
                yield _cut(file, pair.text(file), *_entry(listed, word))

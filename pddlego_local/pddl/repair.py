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

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
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

MOST_CHANGES = 500  # each takes a reading of the files
LONGEST_QUOTE = 200  # characters of a removed part in a message

FILES = ("domain", "problem")
_NAMES = (":types", ":constants", ":objects")
_MAY_BE_EMPTY = (":init", ":predicates", ":requirements")
_NEEDED = {
    "domain": (":requirements", ":types", ":constants", ":predicates", ":functions"),
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
    pair = _Pair({"domain": domain, "problem": problem}, knows)
    if knows.declared and not knows.given:
        pair = _changed(pair, _declared_again)
        pair = _changed(pair, _other_actions)
    pair = _without_faults(pair)
    if knows.declared:
        pair = _changed(pair, _misuses)
    if knows.names is not None:
        pair = _changed(pair, _unseen)
    return Repaired(pair.texts["domain"], pair.texts["problem"], pair.changes)


class _Edit(NamedTuple):
    """Text that replaces the text from `start` to `stop`."""

    start: int
    stop: int
    new: str


class _Change(NamedTuple):
    """Edits of one file, in order of position, and what they do in words."""

    file: str
    edits: tuple[_Edit, ...]
    what: str


class _Path(NamedTuple):
    """The nodes of a file from its root to a faulty one."""

    file: str
    nodes: tuple[Node, ...]

    @property
    def section(self) -> str:
        """The head of the section that holds the node."""
        section = self.nodes[1] if len(self.nodes) > 1 else None
        return section.head if isinstance(section, Block) else ""


class _Pair(Examined):
    """Both files during the repair, with the `changes` so far in words."""

    def __init__(
        self,
        texts: Mapping[str, str],
        knows: Knowledge,
        changes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(texts["domain"], texts["problem"])
        self.texts, self.knows, self.changes = texts, knows, changes

    @property
    def accepted(self) -> bool:
        return not self.has("syntax") and not self.has("symbol")

    @property
    def faults(self) -> list[_Path]:
        """The faults that the knowledge covers, first those of the domain."""
        if self.knows.declared:
            return self.paths("syntax", "symbol", "denied")
        return self.paths("syntax")

    def paths(self, *kinds: str) -> list[_Path]:
        """The paths to faults of these kinds, in text order."""
        found = []
        for file, log in zip(FILES, self.logs, strict=True):
            nodes = [node for kind, node in log.nodes if kind in kinds]
            found += self.paths_to(file, nodes)
        return found

    def paths_to(self, file: str, nodes: Iterable[Node]) -> list[_Path]:
        """The paths to `nodes`. There are none in a given domain, or in a file that is
        no list.
        """
        root = self.roots[FILES.index(file)]
        wanted = {id(node) for node in nodes}
        if root is None or not wanted or (self.knows.given and file == "domain"):
            return []
        found = []
        pending: list[tuple[Node, ...]] = [(root,)]
        while pending:
            nodes_down = pending.pop()
            last = nodes_down[-1]
            if id(last) in wanted:
                found.append(_Path(file, nodes_down))
            if isinstance(last, Block):
                pending += [(*nodes_down, item) for item in reversed(last.items)]
        return found

    def after(self, *changes: _Change) -> "_Pair":
        """Makes the changes. Of overlapping changes, only the one that begins last is
        made.
        """
        texts = dict(self.texts)
        next_start = {file: len(text) for file, text in texts.items()}
        done: list[str] = []
        for change in sorted(changes, key=_start, reverse=True):
            file, text = change.file, texts[change.file]
            if change.edits[-1].stop > next_start[file]:
                continue
            for edit in reversed(change.edits):
                text = text[: edit.start] + edit.new + text[edit.stop :]
            texts[file] = text
            next_start[file] = _start(change)
            done.insert(0, f"{file}: {change.what}")
        return _Pair(texts, self.knows, (*self.changes, *done))


def _start(change: _Change) -> int:
    return change.edits[0].start


def _without_faults(pair: _Pair) -> _Pair:
    """Repairs all faults that can be repaired. Names in facts do not depend on each
    other; after any other change, the files are read again.
    """
    while len(pair.changes) < MOST_CHANGES:
        changes = dict[_Change, None]()
        for path in pair.faults:
            change = _fix(pair, path)
            if change is None:
                continue
            changes[change] = None
            if path.section != ":init" or isinstance(path.nodes[-1], Block):
                break
        if not changes:
            break
        pair = pair.after(*changes)
    return pair


def _changed(pair: _Pair, changes: Callable[[_Pair], Iterable[_Change]]) -> _Pair:
    """Makes each change, and the repairs that it requires, unless the planner would
    then refuse a pair that it accepted before.
    """
    left = 0
    while len(pair.changes) < MOST_CHANGES:
        change = next(islice(changes(pair), left, None), None)
        if change is None:
            break
        after = _without_faults(pair.after(change))
        if after.accepted or not pair.accepted:
            pair = after
        else:
            left += 1
    return pair


def _fix(pair: _Pair, path: _Path) -> _Change | None:
    """The change that gives a name the only spelling that mends it, or else removes
    what is wrong.
    """
    word = path.nodes[-1]
    if isinstance(word, Word):
        before = _number_of_faults(pair)
        renamed = [_renamed(path.file, word, name) for name in _alike(pair, path, word)]
        better = [
            change
            for change in renamed
            if _number_of_faults(pair.after(change)) < before
        ]
        if len(better) == 1:
            return better[0]
    return _left_out(pair, path)


def _number_of_faults(pair: _Pair) -> int:
    return len(pair.faults) + len(pair.paths("misuse"))


def _alike(pair: _Pair, path: _Path, word: Word) -> list[str]:
    """The names, of any kind, that the rung knows at the place of a word and that
    differ from it only in marks.
    """
    domain = pair.domain
    if path.section == ":requirements":
        return _same(word, REQUIREMENTS)
    if not pair.knows.declared:
        return []
    if path.section == ":domain":
        return [domain.word.text] if domain.word else []
    words = [entry.word for entry in domain.types]
    words += [entry.word for entry in pair.symbols.objects.values()]
    words += [predicate.word for predicate in domain.predicates or ()]
    section = path.nodes[1] if len(path.nodes) > 1 else None
    if isinstance(section, Block):
        words += [each for each in words_in(section) if each.name[0] == "?"]
    return _same(word, [known.text for known in words])


def _same(word: Word, names: Iterable[str]) -> list[str]:
    """The other names that differ from the word only in marks, each in one spelling."""
    letters = _letters(word.name)
    alike = {name.lower(): name for name in names if _letters(name) == letters}
    alike.pop(word.name, None)
    return list(alike.values()) if letters else []


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _renamed(file: str, word: Word, name: str) -> _Change:
    edit = _Edit(word.offset, word.offset + len(word.text), name)
    return _Change(file, (edit,), f"{word} became {name}")


def _left_out(pair: _Pair, path: _Path) -> _Change | None:
    """Removes the smallest part around the last node that can be removed."""
    file, nodes = path
    text = pair.texts[file]
    for depth in range(len(nodes) - 1, 0, -1):
        parent, node = nodes[depth - 1], nodes[depth]
        assert isinstance(parent, Block)
        number = parent.items.index(node)
        if number and parent.head in _NAMES:
            first, last = _entry(parent, node)
            return _cut(file, text, first, last)
        if number and _is_dispensable(parent, path.section):
            return _cut(file, text, node, node)
        before = parent.items[number - 1] if number else None
        field = before.name if isinstance(before, Word) else ""
        if parent.head == ":action" and field == ":precondition":
            return _cut(file, text, node, node, "()")
        head = node.head if isinstance(node, Block) else ""
        if depth == 1 and number > 1 and head not in _NEEDED[file]:
            return _cut(file, text, node, node)
    return None


def _is_dispensable(parent: Block, section: str) -> bool:
    """Whether a list may lose an entry: only the goal must keep its last part."""
    if parent.head in _MAY_BE_EMPTY:
        return True
    if parent.head == "and" and section != ":goal":
        return True
    return parent.head in ("and", "or") and len(parent.items) > 2


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
        blanks_from = len(text[:start].rstrip())
        if ";" not in text[:blanks_from].rpartition("\n")[2]:
            start = blanks_from
        if text[end : end + 1] not in (*"() \t\r\n", ""):
            instead = " "
    return _Change(file, (_Edit(start, end, instead),), what)


def _misuses(pair: _Pair) -> Iterator[_Change]:
    """Repairs what the planner accepts although it is misused."""
    yield from filter(None, (_fix(pair, path) for path in pair.paths("misuse")))


def _declared_again(pair: _Pair) -> Iterator[_Change]:
    """Removes a repeated declaration of a predicate that contradicts the first."""
    for path in pair.paths("misuse"):
        if path.section == ":predicates" and (change := _left_out(pair, path)):
            yield change


def _other_actions(pair: _Pair) -> Iterator[_Change]:
    """Repairs actions that the environment does not have, or that have other
    parameters.
    """
    schemas = {schema.name.lower(): schema for schema in pair.knows.actions}
    if not schemas:
        return
    actions = {id(action.word): action for action in pair.domain.actions}
    words = [action.word for action in pair.domain.actions]
    for path in pair.paths_to("domain", words):
        block, word = path.nodes[-2:]
        assert isinstance(block, Block) and isinstance(word, Word)
        same = _same(word, [schema.name for schema in schemas.values()])
        if word.name in schemas:
            action = actions[id(word)]
            yield from _other_parameters(pair, block, action, schemas[word.name])
        elif len(same) == 1:
            yield _renamed("domain", word, same[0])
        else:
            yield _cut("domain", pair.texts["domain"], block, block)


def _other_parameters(
    pair: _Pair, block: Block, action: ActionDefinition, schema: Action
) -> Iterator[_Change]:
    """Replaces the parameters by the environment's if they have the same variables or
    the same types, else removes the action. It stays if the domain lacks the types.
    """
    listed = read(schema.parameters) or Block(0)
    wanted = read_typed_list(listed.items, FaultLog()) or []
    own, asked = _typed(action.parameters), _typed(wanted)
    types = frozenset[str]().union(*(entry.type_names for entry in wanted))
    if own == asked or not action.complete or not types <= pair.symbols.types.declared:
        return
    new = {}
    if {name for name, _ in own} != {name for name, _ in asked}:
        if [kinds for _, kinds in own] != [kinds for _, kinds in asked]:
            yield _cut("domain", pair.texts["domain"], block, block)
            return
        for entry, instead in zip(action.parameters, wanted, strict=True):
            new[entry.name] = instead.word.text
    place = block.blocks[0]
    edits = [_Edit(place.offset, place.end + 1, schema.parameters)]
    for use in words_in(block):
        if use.name in new and use.offset > place.end:
            end = use.offset + len(use.text)
            edits.append(_Edit(use.offset, end, new[use.name]))
    what = f"the parameters of {action.word} became {schema.parameters}"
    yield _Change("domain", tuple(sorted(edits)), what)


def _typed(entries: Iterable[TypedName]) -> list[tuple[str, frozenset[str]]]:
    return [(entry.name, entry.type_names) for entry in entries]


def _unseen(pair: _Pair) -> Iterator[_Change]:
    """Repairs objects and constants whose names the prompt does not show."""
    names = pair.knows.names or ()
    seen = {name.lower() for name in names}
    declared = {"domain": pair.domain.constants, "problem": pair.problem.objects}
    for file, entries in declared.items():
        unseen = [entry.word for entry in entries if entry.name not in seen]
        for path in pair.paths_to(file, unseen):
            listed, word = path.nodes[-2:]
            assert isinstance(listed, Block) and isinstance(word, Word)
            same = _same(word, names)
            if len(same) == 1:
                yield _renamed(file, word, same[0])
            else:
                first, last = _entry(listed, word)
                yield _cut(file, pair.texts[file], first, last)

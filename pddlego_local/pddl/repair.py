"""Repairs a finished answer with a rung's knowledge, without masking tokens
(`decoding.repair`).

Each fault that the static check finds, and that the rung could have prevented, is
repaired separately. A name that is not permitted in its place is replaced by the
permitted name that differs only in case, hyphens, underscores and other marks, if there
is exactly one such name. In a problem's `:domain`, the domain's own name is the only
permitted name. Otherwise, a name that is used as an object and not declared is
declared, with the most specific type that all its uses demand, if there is exactly one
such type, and if the rung would allow the name (new_declaration.py).

Every other fault is removed with the smallest part around it: a fact of `:init`, a name
in a list of names, an operand of `and` or `or`, or the precondition of an action. If
the effect of an action would have to go, the whole action is removed. Parts that cannot
be removed stay: parentheses, sections and the last part of a goal.

Nothing else is added, and the rest of the text stays unchanged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pddlego_local.core.nouns import Action
from pddlego_local.pddl.changes import Change, Edit, Knowledge, Pair, Path
from pddlego_local.pddl.faults import FaultLog, File
from pddlego_local.pddl.files import REQUIREMENTS
from pddlego_local.pddl.formulas import names_in, type_groups
from pddlego_local.pddl.new_declaration import new_declaration
from pddlego_local.pddl.reader import Block, Node, Word, read, words_in
from pddlego_local.pddl.task import ActionDefinition, TypedName

MOST_CHANGES = 500  # each takes a reading of the files

_NAMES = (":types", ":constants", ":objects")
_MAY_BE_EMPTY = (":init", ":predicates", ":requirements")
_NEEDED: Mapping[File, Sequence[str]] = {
    "domain": (":requirements", ":types", ":constants", ":predicates", ":functions"),
    "problem": (":domain", ":requirements", ":objects", ":init", ":goal"),
}


class Repaired(NamedTuple):
    """The repaired files, and the changes in words."""

    domain: str
    problem: str
    changes: tuple[str, ...]


def repair(domain: str, problem: str, knows: Knowledge) -> Repaired:
    """Repairs a pair of files. Raises nothing, whatever the texts are.

    If the planner accepts the pair, it accepts the repaired pair too.
    """
    pair = Pair({"domain": domain, "problem": problem}, knows)
    if knows.declared and not knows.given:
        pair = _changed(pair, _declared_again)
        pair = _changed(pair, _other_actions)
    pair = _without_faults(pair)
    if knows.declared:
        pair = _changed(pair, _misuses)
    if knows.names is not None:
        pair = _changed(pair, _unseen)
    return Repaired(pair.texts["domain"], pair.texts["problem"], pair.changes)


# ---- Which changes are made


def _without_faults(pair: Pair) -> Pair:
    """Repairs all faults that can be repaired. Other names in facts do not depend on
    each other; after any other change, and after a declaration, the files are read
    again.
    """
    while len(pair.changes) < MOST_CHANGES:
        changes = dict[Change, None]()
        for path in pair.faults:
            change = _fix(pair, path)
            if change is None:
                continue
            changes[change] = None
            is_insertion = change.start == change.stop
            in_facts = path.section_name == ":init" and isinstance(path.node, Word)
            if is_insertion or not in_facts:
                break
        if not changes:
            break
        pair = pair.after(*changes)
    return pair


def _changed(pair: Pair, changes: Callable[[Pair], Iterable[Change]]) -> Pair:
    """Makes each change, and the repairs that it requires, unless the planner would
    then refuse a pair that it accepted before.
    """
    refused = 0
    while len(pair.changes) < MOST_CHANGES:
        change = next(islice(changes(pair), refused, None), None)
        if change is None:
            break
        after = _without_faults(pair.after(change))
        if after.accepted or not pair.accepted:
            pair = after
        else:
            refused += 1
    return pair


def _fix(pair: Pair, path: Path) -> Change | None:
    """The change that gives a name the only spelling that mends it, or else declares
    it, or else removes what is wrong.
    """
    if isinstance(path.node, Word):
        before = _number_of_faults(pair)
        better = []
        for name in _alike(pair, path, path.node):
            change = _renamed(path.file, path.node, name)
            if _number_of_faults(pair.after(change)) < before:
                better.append(change)
        if len(better) == 1:
            return better[0]
        if declared := new_declaration(pair, path.node):
            return declared
    return _left_out(pair, path)


def _number_of_faults(pair: Pair) -> int:
    return len(pair.faults) + len(pair.paths("misuse"))


# ---- Another name


def _alike(pair: Pair, path: Path, word: Word) -> list[str]:
    """The names, of any kind, that the rung knows at the place of a word and that
    differ from it only in marks.
    """
    domain = pair.domain
    if path.section_name == ":requirements":
        return _same(word, REQUIREMENTS)
    if not pair.knows.declared:
        return []
    if path.section_name == ":domain":
        return [domain.word.text] if domain.word else []
    known = [entry.word for entry in domain.types]
    known += [entry.word for entry in pair.symbols.objects.values()]
    known += [predicate.word for predicate in domain.predicates or ()]
    if path.section:
        known += [used for used in words_in(path.section) if used.name[0] == "?"]
    return _same(word, [other.text for other in known])


def _same(word: Word, names: Iterable[str]) -> list[str]:
    """The other names that differ from the word only in marks, each in one spelling."""
    letters = _letters(word.name)
    if not letters:
        return []
    alike = {name.lower(): name for name in names if _letters(name) == letters}
    alike.pop(word.name, None)
    return list(alike.values())


def _only_same(word: Word, names: Iterable[str]) -> str:
    same = _same(word, names)
    return same[0] if len(same) == 1 else ""


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _renamed(file: File, word: Word, name: str) -> Change:
    return Change(file, (_in_place_of(word, name),), f"{word} became {name}")


def _in_place_of(word: Word, name: str) -> Edit:
    return Edit(word.offset, word.stop, name)


# ---- A removed part


def _left_out(pair: Pair, path: Path) -> Change | None:
    """Removes the smallest part around the node that can be removed."""
    node = path.node
    for parent in reversed(path.around):
        change = _left_out_of(parent, node, pair, path)
        if change is not None:
            return change
        node = parent
    return None


def _left_out_of(parent: Block, node: Node, pair: Pair, path: Path) -> Change | None:
    """Removes an item of a list, or returns None if it has to stay."""
    file = path.file
    number = parent.items.index(node)
    if number == 0:  # the head
        return None
    if parent.head in _NAMES:
        return pair.cut(file, *_entry(parent, node))
    if _is_dispensable(parent, path.section_name):
        return pair.cut(file, node)
    before = parent.items[number - 1]
    if (
        parent.head == ":action"
        and isinstance(before, Word)
        and before.name == ":precondition"
    ):
        return pair.cut(file, node, instead="()")
    is_section = parent is path.around[0] and number > 1
    head = node.head if isinstance(node, Block) else ""
    if is_section and head not in _NEEDED[file]:
        return pair.cut(file, node)
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


# ---- What the planner accepts


def _misuses(pair: Pair) -> Iterator[Change]:
    """Repairs what the planner accepts although it is misused."""
    for path in pair.paths("misuse"):
        if change := _fix(pair, path):
            yield change


def _declared_again(pair: Pair) -> Iterator[Change]:
    """Removes a repeated declaration of a predicate that contradicts the first."""
    for path in pair.paths("misuse"):
        if path.section_name == ":predicates" and (change := _left_out(pair, path)):
            yield change


def _other_actions(pair: Pair) -> Iterator[Change]:
    """Repairs actions that the environment does not have, or that have other
    parameters.
    """
    schemas = {schema.name.lower(): schema for schema in pair.knows.actions}
    if not schemas:
        return
    actions: dict[Node, ActionDefinition] = {}
    for action in pair.domain.actions:
        actions[action.word] = action
    for path in pair.paths_to("domain", actions):
        action = actions[path.node]
        schema = schemas.get(action.word.name)
        if schema is not None:
            yield from _other_parameters(pair, path.parent, action, schema)
            continue
        names = [schema.name for schema in schemas.values()]
        if same := _only_same(action.word, names):
            yield _renamed("domain", action.word, same)
        else:
            yield pair.cut("domain", path.parent)


def _other_parameters(
    pair: Pair, block: Block, action: ActionDefinition, schema: Action
) -> Iterator[Change]:
    """Replaces the parameters by the environment's if they have the same variables or
    the same types, else removes the action. It stays if the domain lacks the types.
    """
    listed = read(schema.parameters) or Block(0)
    wanted = names_in(listed.items)
    names = [entry.name for entry in action.parameters]
    types = [entry.type_names for entry in action.parameters]
    wanted_names = [entry.name for entry in wanted]
    wanted_types = [entry.type_names for entry in wanted]
    is_right = names == wanted_names and types == wanted_types
    if is_right or not action.complete:
        return
    declared = pair.symbols.types.declared
    if not all(kinds <= declared for kinds in wanted_types):
        return
    renamed: dict[str, str] = {}
    if set(names) != set(wanted_names):
        if types != wanted_types:
            yield pair.cut("domain", block)
            return
        written = [entry.word.text for entry in wanted]
        renamed = dict(zip(names, written, strict=True))
    parameters = block.blocks[0]
    edits = [Edit(parameters.offset, parameters.stop, schema.parameters)]
    for use in words_in(block):
        if use.name in renamed and use.offset > parameters.end:
            edits.append(_in_place_of(use, renamed[use.name]))
    what = f"the parameters of {action.word} became {schema.parameters}"
    yield Change("domain", tuple(sorted(edits)), what)


def _unseen(pair: Pair) -> Iterator[Change]:
    """Repairs objects and constants whose names the prompt does not show."""
    names = pair.knows.names or ()
    seen = {name.lower() for name in names}
    declared: dict[File, list[TypedName]] = {
        "domain": pair.domain.constants,
        "problem": pair.problem.objects,
    }
    for file, entries in declared.items():
        unseen: list[Node] = [entry.word for entry in entries if entry.name not in seen]
        for path in pair.paths_to(file, unseen):
            assert isinstance(path.node, Word)
            if same := _only_same(path.node, names):
                yield _renamed(file, path.node, same)
            else:
                yield pair.cut(file, *_entry(path.parent, path.node))

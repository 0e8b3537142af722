"""Applies edits to a problem file, and finds the edit between two files (PDDLego §2,
appendix B).

An edit adds, replaces and deletes lines of `:objects` and facts of `:init`. `replace`
renames an object in both sections, or replaces one fact by another. If an edit names
something that is not in the file, that is reported as a fault. Names are
case-insensitive, as everywhere in PDDL. Names that stay keep the spelling of the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypedDict

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_head
from pddlego_local.pddl.formulas import type_groups
from pddlego_local.pddl.reader import Block, Node, Word, read
from pddlego_local.pddl.sections import listed, with_section


class Changes(TypedDict):
    """The changes to one list: lines to add, lines to delete, and replacements (old:
    new).
    """

    add: list[str]
    replace: dict[str, str]
    delete: list[str]


def empty_problem(domain: str) -> str:
    """Returns the file that the first edit changes: no objects, no facts, no goal."""
    block = read(domain)
    name = read_head(block, "domain", FaultLog()) if block is not None else None
    return (
        f"(define (problem game)\n  (:domain {name.text if name else 'game'})\n"
        "  (:objects)\n  (:init)\n  (:goal (and)))\n"
    )


def objects_of(problem: str) -> dict[str, str]:
    """Returns {name: type} of all objects, in file order. Untyped ones have the type
    "object".
    """
    return _declared(listed(problem, ":objects").items[1:], FaultLog())


def facts_of(problem: str) -> list[str]:
    """Returns the facts of `:init` with single spaces, without duplicates, in file
    order.
    """
    return list(dict.fromkeys(map(_tidy, listed(problem, ":init").blocks)))


def difference(before: str, after: str) -> dict[str, Changes]:
    """Returns the edit that turns the objects and facts of `before` into those of
    `after`.
    """
    old_objects, new_objects = objects_of(before), objects_of(after)
    old_facts, new_facts = facts_of(before), facts_of(after)
    declared = [f"{n} - {t}" for n, t in new_objects.items() if old_objects.get(n) != t]
    removed = [n for n, t in old_objects.items() if new_objects.get(n) != t]
    added = [fact for fact in new_facts if fact not in old_facts]
    deleted = [fact for fact in old_facts if fact not in new_facts]
    return {
        "objects": {"add": declared, "replace": {}, "delete": removed},
        "init": {"add": added, "replace": {}, "delete": deleted},
    }


def as_typed(edit: Mapping[str, Changes]) -> dict[str, Changes]:
    """Returns an equivalent edit with one typed name, or one fact, in each string.

    A string that holds neither stays as it is.
    """

    def names(lines: Iterable[str], ending: str = "") -> Iterator[str]:
        for line in lines:
            declared = _declared_by(line).items()
            yield from [name + ending.format(kind) for name, kind in declared] or [line]

    def facts(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            yield from _facts_by(line) or [line]

    def replaced(pairs: Mapping[str, str]) -> dict[str, str]:
        return {tidy(old): tidy(new) for old, new in pairs.items()}

    def tidy(text: str) -> str:
        return (
            " ".join(facts([text])) if text.lstrip().startswith("(") else text.strip()
        )

    objects, init = edit["objects"], edit["init"]
    return {
        "objects": {
            "add": list(names(objects["add"], " - {}")),
            "replace": replaced(objects["replace"]),
            "delete": list(names(objects["delete"])),
        },
        "init": {
            "add": list(facts(init["add"])),
            "replace": replaced(init["replace"]),
            "delete": list(facts(init["delete"])),
        },
    }


class Applied(NamedTuple):
    """The result of an edit: the edited `problem`.

    `faults` has a sentence for each part of the edit that named something absent.
    `redundant` lists the parts that changed nothing, because the file already said the
    same.
    """

    problem: str
    faults: tuple[str, ...]
    redundant: tuple[str, ...]


def apply(edit: Mapping[str, Changes], problem: str) -> Applied:
    """Returns the problem with "objects" and "init" edited.

    First objects are replaced everywhere, then deleted, then added. Facts follow in the
    same order.
    """
    faults, redundant = list[str](), list[str]()
    objects, facts = _with_objects(
        edit["objects"], objects_of(problem), facts_of(problem), faults, redundant
    )
    facts = _with_facts(edit["init"], facts, faults, redundant)
    lines = [
        " ".join([*(name for name, own in objects.items() if own == kind), "-", kind])
        for kind in dict.fromkeys(objects.values())
    ]
    for name, entries in ((":objects", lines), (":init", facts)):
        problem = with_section(
            problem, name, f"({name}\n    " + "\n    ".join(entries) + ")"
        )
    return Applied(problem, tuple(faults), tuple(redundant))


def _with_objects(
    changes: Changes,
    objects: dict[str, str],
    facts: list[str],
    faults: list[str],
    redundant: list[str],
) -> tuple[dict[str, str], list[str]]:
    for old, new in changes["replace"].items():
        there = _spelled(old, objects)
        if there not in objects:
            faults.append(f"objects.replace: there is no object {old}")
            continue
        if there == new:
            redundant.append(f"objects.replace: {old}")
        objects = {
            new if name == there else name: kind for name, kind in objects.items()
        }
        facts = [_renamed(fact, old, new, predicates=False) for fact in facts]
    gone = set[str]()
    for line in changes["delete"]:
        for name in _declared_by(line):
            if name.lower() in gone:
                redundant.append(f"objects.delete: {name}")
            elif objects.pop(_spelled(name, objects), None) is None:
                faults.append(f"objects.delete: there is no object {name}")
            gone.add(name.lower())
    for line in changes["add"]:
        names = _declared_by(line)
        if not names:
            faults.append(f"objects.add: {line!r} declares nothing")
        added = {_spelled(name, objects): kind for name, kind in names.items()}
        redundant += [
            f"objects.add: {n} - {t}" for n, t in added.items() if objects.get(n) == t
        ]
        objects = objects | added
    return objects, facts


def _with_facts(
    changes: Changes, facts: list[str], faults: list[str], redundant: list[str]
) -> list[str]:
    for old, new in changes["replace"].items():
        if old.lstrip().startswith("("):
            replaced = {fact.lower() for fact in _facts_by(old)}
            instead = {
                fact: _facts_by(new) for fact in facts if fact.lower() in replaced
            }
        else:
            renamed = {
                fact: _renamed(fact, old, new, predicates=True) for fact in facts
            }
            instead = {
                fact: [new_fact]
                for fact, new_fact in renamed.items()
                if new_fact != fact
            }
        if not instead:
            faults.append(f"init.replace: there is no {old}")
        if old.lower() == new.lower():
            redundant.append(f"init.replace: {old}")
        facts = [new_fact for fact in facts for new_fact in instead.get(fact, [fact])]
    gone = set[str]()
    for fact in (fact for line in changes["delete"] for fact in _facts_by(line)):
        left = [kept for kept in facts if kept.lower() != fact.lower()]
        if fact.lower() in gone:
            redundant.append(f"init.delete: {fact}")
        elif left == facts:
            faults.append(f"init.delete: there is no fact {fact}")
        gone.add(fact.lower())
        facts = left
    for line in changes["add"]:
        added = _facts_by(line)
        if not added:
            faults.append(f"init.add: {line!r} states nothing")
        there = {fact.lower() for fact in facts}
        redundant += [f"init.add: {fact}" for fact in added if fact.lower() in there]
        facts = facts + added
    once: dict[str, str] = {}
    for fact in facts:
        once.setdefault(fact.lower(), fact)
    return list(once.values())


def _declared(items: list[Node], log: FaultLog) -> dict[str, str]:
    return {
        word.text: "object" if kind is None else _tidy(kind)
        for names, kind in type_groups(items, log)
        for word in names
        if isinstance(word, Word)
    }


def _declared_by(line: str) -> dict[str, str]:
    """Reads "a b - room" as {a: room, b: room}. Untyped names are objects. {} if it is
    no list.
    """
    log, listing = FaultLog(), _in_parentheses(line)
    items = listing.items
    if listing.blocks == items:
        items = [node for block in listing.blocks for node in block.items]
    names = _declared(items, log)
    return {} if log.has("syntax") else names


def _facts_by(line: str) -> list[str]:
    """The facts in a line, mostly one; its parentheses may be missing."""
    listing = _in_parentheses(line)
    if listing.blocks != listing.items:
        return [_tidy(listing)]
    return [_tidy(block) for block in listing.blocks if block.items]


def _in_parentheses(line: str) -> Block:
    return read(f"({line})", recover=True) or Block(0)


def _spelled(name: str, names: Mapping[str, str]) -> str:
    """The name in the spelling of the file, or unchanged if it is not in the file."""
    if name in names:
        return name
    return next(
        (spelling for spelling in names if spelling.lower() == name.lower()), name
    )


def _renamed(fact: str, old: str, new: str, *, predicates: bool) -> str:
    words = fact.replace("(", "( ").replace(")", " )").split()
    for number, word in enumerate(words):
        if word.lower() == old.lower() and (predicates or words[number - 1] != "("):
            words[number] = new
    return _joined(words)


def _tidy(node: Node) -> str:
    """The source of a node with single spaces and without comments."""
    words: list[str] = []
    pending: list[Node | str] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, Block):
            words.append("(")
            pending += [")", *reversed(item.items)]
        else:
            words.append(item.text if isinstance(item, Word) else item)
    return _joined(words)


def _joined(words: list[str]) -> str:
    return " ".join(words).replace("( ", "(").replace(" )", ")")

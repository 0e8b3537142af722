"""Applies edits to a problem file, and finds the edit between two files (PDDLego §2,
appendix B).

An edit adds, replaces and deletes lines of `:objects` and facts of `:init`. `replace`
renames an object in both sections, or replaces one fact by another. If an edit names
something that is not in the file, that is reported as a fault. Names are
case-insensitive, as everywhere in PDDL. Names that stay keep the spelling of the file.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypedDict

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.formulas import type_groups
from pddlego_local.pddl.reader import Block, Node, Word, read, tidy, with_parentheses
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
    name = read_domain(read(domain)).word
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
    facts = [tidy(block) for block in listed(problem, ":init").blocks]
    return [*dict.fromkeys(facts)]


def difference(before: str, after: str) -> dict[str, Changes]:
    """Returns the edit that turns the objects and facts of `before` into those of
    `after`.
    """
    old = objects_of(before)
    new = objects_of(after)
    old_facts = facts_of(before)
    new_facts = facts_of(after)
    return {
        "objects": Changes(
            add=_typed_lines(_not_in(old, new)),
            replace={},
            delete=[*_not_in(new, old)],
        ),
        "init": Changes(
            add=[fact for fact in new_facts if fact not in old_facts],
            replace={},
            delete=[fact for fact in old_facts if fact not in new_facts],
        ),
    }


def _not_in(others: Mapping[str, str], objects: Mapping[str, str]) -> dict[str, str]:
    """The objects that the others lack or have with another type."""
    return {name: kind for name, kind in objects.items() if others.get(name) != kind}


def as_typed(edit: Mapping[str, Changes]) -> dict[str, Changes]:
    """Returns an equivalent edit with one typed name, or one fact, in each string.

    A string that holds neither stays as it is.
    """
    objects = edit["objects"]
    init = edit["init"]
    added: list[str] = []
    for line in objects["add"]:
        added += _typed_lines(_declared_by(line)) or [line]
    deleted: list[str] = []
    for line in objects["delete"]:
        deleted += _declared_by(line) or [line]
    return {
        "objects": Changes(
            add=added,
            replace=_tidy_pairs(objects["replace"]),
            delete=deleted,
        ),
        "init": Changes(
            add=_one_by_one(init["add"]),
            replace=_tidy_pairs(init["replace"]),
            delete=_one_by_one(init["delete"]),
        ),
    }


def _typed_lines(objects: Mapping[str, str]) -> list[str]:
    return [f"{name} - {kind}" for name, kind in objects.items()]


def _one_by_one(lines: Iterable[str]) -> list[str]:
    facts: list[str] = []
    for line in lines:
        facts += _facts_by(line) or [line]
    return facts


def _tidy_pairs(pairs: Mapping[str, str]) -> dict[str, str]:
    return {_tidy_text(old): _tidy_text(new) for old, new in pairs.items()}


def _tidy_text(text: str) -> str:
    return " ".join(_one_by_one([text])) if _is_fact(text) else text.strip()


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
    edited = _Edited(problem)
    edited.change_objects(edit["objects"])
    edited.change_facts(edit["init"])
    objects = []
    for kind in dict.fromkeys(edited.objects.values()):
        names = [name for name, own in edited.objects.items() if own == kind]
        objects.append(f"{' '.join(names)} - {kind}")
    problem = _with_list(problem, ":objects", objects)
    problem = _with_list(problem, ":init", edited.facts.values())
    return Applied(problem, tuple(edited.faults), tuple(edited.redundant))


def _with_list(problem: str, section: str, entries: Iterable[str]) -> str:
    body = "\n    ".join(entries)
    return with_section(problem, section, f"({section}\n    {body})")


class _Edited:
    """The objects and facts of a problem while it is edited, and what was found.

    The keys of `facts` are in lower case.
    """

    def __init__(self, problem: str) -> None:
        self.objects = objects_of(problem)
        self.facts = _by_key(facts_of(problem))
        self.faults: list[str] = []
        self.redundant: list[str] = []

    def change_objects(self, changes: Changes) -> None:
        for old, new in changes["replace"].items():
            self._rename(old, new)
        gone = set[str]()
        for line in changes["delete"]:
            for name in _declared_by(line):
                if name.lower() in gone:
                    self.redundant.append(f"objects.delete: {name}")
                elif self.objects.pop(self._spelled(name), None) is None:
                    self.faults.append(f"objects.delete: there is no object {name}")
                gone.add(name.lower())
        for line in changes["add"]:
            added = _declared_by(line)
            if not added:
                self.faults.append(f"objects.add: {line!r} declares nothing")
            for name, kind in added.items():
                # A line may spell one name in two ways, which are one name for PDDL.
                known = self._spelled(name)
                if self.objects.get(known) == kind:
                    self.redundant.append(f"objects.add: {known} - {kind}")
                self.objects[known] = kind

    def change_facts(self, changes: Changes) -> None:
        for old, new in changes["replace"].items():
            if _is_fact(old):
                self._replace_fact(old, new)
            else:
                self._replace_name(old, new)
            if old.lower() == new.lower():
                self.redundant.append(f"init.replace: {old}")
        gone = set[str]()
        for line in changes["delete"]:
            for fact in _facts_by(line):
                key = fact.lower()
                if key in gone:
                    self.redundant.append(f"init.delete: {fact}")
                elif self.facts.pop(key, None) is None:
                    self.faults.append(f"init.delete: there is no fact {fact}")
                gone.add(key)
        for line in changes["add"]:
            stated = _facts_by(line)
            if not stated:
                self.faults.append(f"init.add: {line!r} states nothing")
            for fact in stated:
                if fact.lower() in self.facts:
                    self.redundant.append(f"init.add: {fact}")
            self.facts = _by_key([*self.facts.values(), *stated])

    def _rename(self, old: str, new: str) -> None:
        """Renames an object in both sections."""
        known = self._spelled(old)
        if known not in self.objects:
            self.faults.append(f"objects.replace: there is no object {old}")
            return
        if known == new:
            self.redundant.append(f"objects.replace: {old}")
        renamed = {}
        for name, kind in self.objects.items():
            renamed[new if name == known else name] = kind
        self.objects = renamed
        facts = self.facts.values()
        self.facts = _by_key(_renamed(f, old, new, predicates=False) for f in facts)

    def _replace_fact(self, old: str, new: str) -> None:
        replaced = {fact.lower() for fact in _facts_by(old)}
        if replaced.isdisjoint(self.facts):
            self.faults.append(f"init.replace: there is no {old}")
        facts: list[str] = []
        for key, fact in self.facts.items():
            facts += _facts_by(new) if key in replaced else [fact]
        self.facts = _by_key(facts)

    def _replace_name(self, old: str, new: str) -> None:
        """Replaces the name of an object or a predicate in all facts."""
        facts = [*self.facts.values()]
        renamed = [_renamed(fact, old, new, predicates=True) for fact in facts]
        if renamed == facts:
            self.faults.append(f"init.replace: there is no {old}")
        self.facts = _by_key(renamed)

    def _spelled(self, name: str) -> str:
        """The name in the spelling of the file, or unchanged if it is not there."""
        if name in self.objects:
            return name
        for known in self.objects:
            if known.lower() == name.lower():
                return known
        return name


def _by_key(facts: Iterable[str]) -> dict[str, str]:
    """The facts by their text in lower case; of equal ones, the first."""
    once: dict[str, str] = {}
    for fact in facts:
        once.setdefault(fact.lower(), fact)
    return once


def _is_fact(text: str) -> bool:
    return text.lstrip().startswith("(")


def _declared(items: list[Node], log: FaultLog) -> dict[str, str]:
    declared = {}
    for names, kind in type_groups(items, log):
        type_name = "object" if kind is None else tidy(kind)
        for word in names:
            if isinstance(word, Word):
                declared[word.text] = type_name
    return declared


def _declared_by(line: str) -> dict[str, str]:
    """Reads "a b - room" as {a: room, b: room}. Untyped names are objects. {} if it is
    no list.
    """
    log = FaultLog()
    listing = _in_parentheses(line)
    items = listing.items
    if listing.blocks == items:
        items = [node for block in listing.blocks for node in block.items]
    names = _declared(items, log)
    return {} if log.has("syntax") else names


def _facts_by(line: str) -> list[str]:
    """The facts in a line, mostly one; its parentheses may be missing."""
    listing = _in_parentheses(line)
    if listing.blocks != listing.items:
        return [tidy(listing)]
    return [tidy(block) for block in listing.blocks if block.items]


def _in_parentheses(line: str) -> Block:
    return read(f"({line})", recover=True) or Block(0)


def _renamed(fact: str, old: str, new: str, *, predicates: bool) -> str:
    words = fact.replace("(", "( ").replace(")", " )").split()
    for number, word in enumerate(words):
        is_predicate = words[number - 1] == "("
        if word.lower() == old.lower() and (predicates or not is_predicate):
            words[number] = new
    return with_parentheses(words)

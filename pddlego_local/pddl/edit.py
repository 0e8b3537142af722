"""Changes to a problem file, and the two ways between them and files (PDDLego §2, appendix B).

An edit adds, replaces and deletes lines of `:objects` and facts of `:init`; `replace` renames an
object everywhere, or one fact by another. An edit that names what is not there is a fault that is
told, never passed over in silence.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pddlego_local.pddl.sections import section, with_section

if TYPE_CHECKING:  # the grammars of its form are made with this file
    from pddlego_local.decoding.forms import Edit

_ATOM = re.compile(r"\([^()]*\)")


def empty_problem(domain: str) -> str:
    """The file that the first edit changes: no objects, no facts, no goal."""
    name = re.search(r"\(\s*domain\s+([^\s()]+)", domain, re.IGNORECASE)
    return (
        f"(define (problem game)\n  (:domain {name[1] if name else 'game'})\n"
        "  (:objects)\n  (:init)\n  (:goal (and)))\n"
    )


def objects_of(problem: str) -> dict[str, str]:
    """Name → type of every object, in the order of the file; untyped ones are "object"."""
    words = re.findall(r"[^\s()]+", section(problem, "objects"))[1:]
    found: dict[str, str] = {}
    waiting: list[str] = []
    position = 0
    while position < len(words):
        if words[position] == "-" and position + 1 < len(words):
            found.update(dict.fromkeys(waiting, words[position + 1]))
            waiting = []
            position += 2
        else:
            waiting.append(words[position])
            position += 1
    return {**found, **dict.fromkeys(waiting, "object")}


def facts_of(problem: str) -> list[str]:
    """The atoms of `:init` with single blanks, in the order of the file."""
    inside = section(problem, "init")[1:]
    return list(dict.fromkeys(_tidy(atom) for atom in _ATOM.findall(inside)))


def difference(before: str, after: str) -> dict[str, Any]:
    """The edit, as its form asks for it, from one problem's objects and facts to another's."""
    old_objects, new_objects = objects_of(before), objects_of(after)
    old_facts, new_facts = facts_of(before), facts_of(after)
    added = [f"{n} - {t}" for n, t in new_objects.items() if old_objects.get(n) != t]
    return {
        "objects": {
            "add": added,
            "replace": {},
            "delete": [n for n, t in old_objects.items() if new_objects.get(n) != t],
        },
        "init": {
            "add": [fact for fact in new_facts if fact not in old_facts],
            "replace": {},
            "delete": [fact for fact in old_facts if fact not in new_facts],
        },
    }


def apply(edit: "Edit", problem: str) -> tuple[str, tuple[str, ...]]:
    """The edited problem, and a sentence for each part of the edit that named nothing.

    In this order: objects are replaced everywhere, deleted, added; then facts likewise.
    """
    faults: list[str] = []
    objects, facts = objects_of(problem), facts_of(problem)
    for old, new in edit.objects.replace.items():
        if old not in objects:
            faults.append(f"objects.replace: there is no object {old}")
            continue
        objects = {new if name == old else name: kind for name, kind in objects.items()}
        facts = [_renamed(fact, old, new) for fact in facts]
    for line in edit.objects.delete:
        for name in _declared(line):
            if objects.pop(name, None) is None:
                faults.append(f"objects.delete: there is no object {name}")
    for line in edit.objects.add:
        names = _declared(line)
        if not names:
            faults.append(f"objects.add: {line!r} declares nothing")
        objects.update(names)
    for old, new in edit.init.replace.items():
        if old in objects_of(problem) or not old.startswith("("):
            renamed = [_renamed(fact, old, new) for fact in facts]
            missing = renamed == facts
            facts = renamed
        else:
            missing = _tidy(old) not in facts
            facts = [_tidy(new) if fact == _tidy(old) else fact for fact in facts]
        if missing:
            faults.append(f"init.replace: there is no {old}")
    for fact in map(_tidy, edit.init.delete):
        if fact not in facts:
            faults.append(f"init.delete: there is no fact {fact}")
        facts = [other for other in facts if other != fact]
    facts += map(_tidy, edit.init.add)
    return _written(problem, objects, dict.fromkeys(facts)), tuple(faults)


def _written(problem: str, objects: Mapping[str, str], facts: Mapping[str, None]) -> str:
    lines = "\n    ".join(_grouped(objects))
    problem = with_section(problem, "objects", f"(:objects\n    {lines})")
    return with_section(problem, "init", "(:init\n    " + "\n    ".join(facts) + ")")


def _grouped(objects: Mapping[str, str]) -> Iterator[str]:
    for kind in dict.fromkeys(objects.values()):
        yield " ".join([*(name for name, k in objects.items() if k == kind), "-", kind])


def _declared(line: str) -> dict[str, str]:
    """ "a b - room" as {a: room, b: room}; a name alone is an object."""
    names, _, kind = line.strip("() \n").partition(" - ")
    return dict.fromkeys(names.split(), kind.strip() or "object")


def _renamed(fact: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![^\s()]){re.escape(old)}(?![^\s()])", lambda _: new, fact)


def _tidy(fact: str) -> str:
    inside = " ".join(fact.strip().strip("()").split())
    return f"({inside})"

"""The rungs "typed" and "grounded" for edits of a problem: its objects, then its facts.

    objects  what is added or put in another's place is new, what is replaced or deleted is there
    facts    what is added is typed, what is replaced or deleted is there; a deleted object takes
             its facts with it

So `pddl.edit.apply` finds nothing amiss, and makes a right problem of a right problem. What comes
twice is taken back and another drawn, since no grammar of a part can know it beforehand. "grounded"
takes new names from the observations alone.
"""

import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammars.schema import schema_grammar, schema_of
from pddlego_local.decoding.staged.declarations import declarations
from pddlego_local.decoding.staged.edit_parts import (
    Begun,
    deletions,
    fact_changes,
    object_changes,
    words,
)
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.stages import Constraint, Scene, Script, Stage, Stages
from pddlego_local.pddl.edit import facts_of, objects_of

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?=(\s*:\s*[\[{])?)')


def edit_script(rung: str, scene: Scene, *, syntax: type[BaseModel]) -> Constraint:
    """For {"objects": changes, "init": changes}; "signatures" adds nothing to `syntax`."""
    if rung == "signatures":
        return schema_grammar(rung, schema_of(syntax))
    known = scene.names.objects if rung == "grounded" else None
    return Script(rung, lambda: _edit(scene, known))


def _edit(scene: Scene, known: Sequence[str] | None) -> Stages:
    declared = declarations(domain_of(scene.domain))
    objects, facts = objects_of(scene.problem), facts_of(scene.problem)
    text = yield from _without_repetition(
        "objects", lambda begun: object_changes(begun, declared, objects, facts, known)
    )
    changes = json.loads(text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    there = list(_renamed(facts, changes["replace"]))
    text = yield from _without_repetition(
        "facts", lambda begun: fact_changes(begun, declared, things, there)
    )
    gone = {said.text for said in _said(text)}
    if left := [f for f in there if f not in gone and _is_about(f, changes["delete"])]:
        cut = _end_before(text, text.rindex("]"))
        yield Stage("facts", deletions(left, first=text[cut - 1] == "["), len(text) - cut)


@dataclass(frozen=True)
class _Said:
    """What a part may say once: a name or fact that is there (`old`), or a new name.

    It stands in the list `heading`. The text up to `cut` is without it, and without the other of
    its pair.
    """

    heading: str
    text: str
    old: bool
    cut: int


def _without_repetition(
    name: str, grammar: Callable[[Begun], Grammar]
) -> Generator[Stage, str, str]:
    """The text of a part. What comes again goes, and all that follows it; one more at least stays
    each time."""
    text = yield Stage(name, grammar(Begun()))
    while again := _repeated(_said(text)):
        before = [said for said in _said(text) if said.cut < again.cut]
        begun = Begun(
            again.heading,
            text[again.cut - 1],
            new=frozenset(said.text for said in before if not said.old),
            old=frozenset(said.text for said in before if said.old),
        )
        rest = yield Stage(name, grammar(begun), len(text) - again.cut)
        text = text[: again.cut] + rest
    return text


def _repeated(everything: Iterable[_Said]) -> _Said | None:
    seen = set()
    for said in everything:
        # PDDL ignores the case of names; what is there is said as it is spelled there.
        key = said.old, said.text if said.old else said.text.lower()
        if key in seen:
            return said
        seen.add(key)
    return None


def _said(part: str) -> Iterator[_Said]:
    """From left to right. Facts that are added may come twice, and are left out."""
    heading, key = "", None
    for string in _STRING.finditer(part):
        text = json.loads(string[0])
        if string[2]:
            heading, key = text, None
        elif heading == "replace" and key is None:
            key = string.start()
            yield _Said(heading, text, True, _end_before(part, key))
        elif heading == "delete":
            yield _Said(heading, text, True, _end_before(part, string.start()))
        else:
            entry = string.start() if key is None else key
            yield from _new_names(part, heading, text, string.start() + 1, entry)
            key = None


def _new_names(part: str, heading: str, line: str, offset: int, entry: int) -> Iterator[_Said]:
    """Of "a b - room" both names: the first is cut with its whole `entry`, others alone."""
    if line.startswith("("):
        return
    for word in re.finditer(r"\S+", line.partition(" - ")[0]):
        start = offset + word.start() if word.start() else entry
        yield _Said(heading, word[0], False, _end_before(part, start))


def _end_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t\r\n,"))


def _objects_after(objects: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, str]:
    """Name → type, as `pddl.edit.apply` has them when it comes to the facts."""
    replaced, deleted = changes["replace"], changes["delete"]
    found = {replaced.get(n, n): kind for n, kind in objects.items() if n not in deleted}
    for line in changes["add"]:
        names, _, kind = line.partition(" - ")
        found |= dict.fromkeys(names.split(), kind)
    return found


def _renamed(facts: Iterable[str], replaced: Mapping[str, str]) -> Iterator[str]:
    for fact in facts:
        yield f"({' '.join(replaced.get(word, word) for word in words(fact))})"


def _is_about(fact: str, names: Collection[str]) -> bool:
    return not {name.lower() for name in names}.isdisjoint(words(fact.lower())[1:])

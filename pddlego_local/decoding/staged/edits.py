"""The rungs "typed" and "grounded" for edits of a problem: its objects, then its facts.

    objects  what is added or put in another's place is new, what is replaced or deleted is there
    facts    what is added is typed, what is replaced or deleted is there; a deleted object takes
             its facts with it

So `pddl.edit.apply` has nothing to refuse, and makes a right problem of a right problem. What comes
twice is rolled back and resampled, since no grammar of a part can know it beforehand. "grounded"
allows no new names but those of the observations.
"""

import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego_local.core import Grammar
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.staged.declarations import declarations, type_of
from pddlego_local.decoding.staged.edit_parts import (
    Begun,
    deletions,
    fact_changes,
    object_changes,
    words,
)
from pddlego_local.decoding.staged.reading import domain_of, typed_names
from pddlego_local.decoding.stages import Stage, StagedGrammar, Stages
from pddlego_local.pddl.edit import facts_of, objects_of

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?=(\s*:\s*[\[{])?)')


def staged_edit(rung: str, scene: Scene) -> StagedGrammar:
    """For {"objects": changes, "init": changes}."""
    allowed = scene.names.objects if rung == "grounded" else None
    return StagedGrammar(rung, lambda: _edit(scene, allowed))


def _edit(scene: Scene, allowed: Sequence[str] | None) -> Stages:
    declared = declarations(domain_of(scene.domain))
    objects, facts = objects_of(scene.problem), facts_of(scene.problem)
    text = yield from _without_repetition(
        "objects", lambda begun: object_changes(begun, declared, objects, facts, allowed)
    )
    changes = json.loads(text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    there = list(_renamed(facts, changes["replace"]))
    text = yield from _without_repetition(
        "facts", lambda begun: fact_changes(begun, declared, things, there)
    )
    gone = {entry.text for entry in _entries(text)}
    if left := [f for f in there if f not in gone and _is_about(f, changes["delete"])]:
        cut = _end_before(text, text.rindex("]"))
        yield Stage("facts", deletions(left, first=text[cut - 1] == "["), len(text) - cut)


@dataclass(frozen=True)
class _Entry:
    """What a part may hold once: a name or fact of the problem (`old`), or a new name.

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
    """The text of a part. What comes again is rolled back, with all that follows it; one more entry
    at least stays each time."""
    text = yield Stage(name, grammar(Begun()))
    while again := _repeated(_entries(text)):
        before = [entry for entry in _entries(text) if entry.cut < again.cut]
        begun = Begun(
            again.heading,
            text[again.cut - 1],
            new=frozenset(entry.text for entry in before if not entry.old),
            old=frozenset(entry.text for entry in before if entry.old),
        )
        rest = yield Stage(name, grammar(begun), len(text) - again.cut)
        text = text[: again.cut] + rest
    return text


def _repeated(entries: Iterable[_Entry]) -> _Entry | None:
    seen = set()
    for entry in entries:
        # PDDL ignores the case of names; old ones are spelled as in the problem.
        key = entry.old, entry.text if entry.old else entry.text.lower()
        if key in seen:
            return entry
        seen.add(key)
    return None


def _entries(part: str) -> Iterator[_Entry]:
    """From left to right. Facts that are added may come twice, and are left out."""
    heading, key = "", None
    for string in _STRING.finditer(part):
        text = json.loads(string[0])
        if string[2]:
            heading, key = text, None
        elif heading == "replace" and key is None:
            key = string.start()
            yield _Entry(heading, text, True, _end_before(part, key))
        elif heading == "delete":
            yield _Entry(heading, text, True, _end_before(part, string.start()))
        else:
            first = string.start() if key is None else key
            yield from _new_names(part, heading, text, string.start() + 1, first)
            key = None


def _new_names(part: str, heading: str, line: str, offset: int, first: int) -> Iterator[_Entry]:
    """Of "a b - room", which stands at `offset`, both names. The first is cut off with its whole
    entry, which begins at `first`; others are cut off alone."""
    if line.startswith("("):
        return
    for word in (entry.word for entry in typed_names(line)):
        start = offset + word.offset if word.offset else first
        yield _Entry(heading, word.text, False, _end_before(part, start))


def _end_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t\r\n,"))


def _objects_after(objects: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, str]:
    """Name → type, as `pddl.edit.apply` has them when it comes to the facts."""
    replaced, deleted = changes["replace"], changes["delete"]
    after = {replaced.get(n, n): kind for n, kind in objects.items() if n not in deleted}
    for line in changes["add"]:
        after |= {entry.word.text: type_of(entry) for entry in typed_names(line)}
    return after


def _renamed(facts: Iterable[str], replaced: Mapping[str, str]) -> Iterator[str]:
    for fact in facts:
        yield f"({' '.join(replaced.get(word, word) for word in words(fact))})"


def _is_about(fact: str, names: Collection[str]) -> bool:
    return not {name.lower() for name in names}.isdisjoint(words(fact.lower())[1:])

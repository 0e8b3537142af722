"""The rungs "typed" and "grounded" for edits of a problem: its objects, then its facts.

    objects  what is added or put in another's place is new, what is replaced or deleted is there
    facts    what is added is typed, what is replaced or deleted is there; a deleted object takes
             its facts with it

So `pddl.edit.apply` has nothing to refuse, and makes a right problem of a right problem. What
contradicts what the part has said is rolled back and resampled, since no grammar of a part can know
it beforehand; where lists are tight, so is what comes twice, and nothing that is there is added.
"grounded" allows no new names but those of the observations.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pddlego_local.decoding.forms import Form, Keys
from pddlego_local.decoding.grammars.terminals import NewNames
from pddlego_local.decoding.layout import Layout, list_of, typed_names
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.rungs import Rung
from pddlego_local.decoding.session import Constraint, Stages
from pddlego_local.decoding.staged.declarations import declarations, type_of
from pddlego_local.decoding.staged.edit_parts import (
    Begun,
    deletions,
    fact_changes,
    object_changes,
    words,
)
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.writing import Part, Resample, Writing
from pddlego_local.pddl.edit import facts_of, objects_of

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?=(\s*:\s*[\[{])?)')


def edit(rung: Rung, form: Form[Keys], scene: Scene, layout: Layout) -> Constraint:
    """For {"objects": changes, "init": changes}."""
    allowed = scene.names.objects if rung.grounded else None
    return Constraint(rung.name, lambda: _edit(scene, NewNames(allowed), layout))


def _edit(scene: Scene, names: NewNames, layout: Layout) -> Stages:
    writing = Writing(layout, names, scene.lists)
    declared = declarations(domain_of(scene.domain))
    objects, facts = objects_of(scene.problem), facts_of(scene.problem)
    build = partial(
        object_changes,
        declared=declared,
        objects=objects,
        facts=facts,
        names=names,
        shown=len(scene.names.objects),
    )
    yield from _Part(writing, build, objects, made_up=names.allowed is None).write("objects")
    changes = json.loads(writing.text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    there, first = list(_renamed(facts, changes["replace"])), len(writing.text)
    build = partial(fact_changes, declared=declared, things=things, facts=there)
    yield from _Part(writing, build, {}, made_up=False).write("facts")
    gone = {entry.text for entry in _entries(writing.text, first)}
    deleted = {name.lower() for name in changes["delete"]}
    about = (fact for fact in there if not deleted.isdisjoint(words(fact.lower())[1:]))
    if left := [fact for fact in about if fact not in gone]:
        cut = _end_before(writing.text, writing.text.rindex("]"))
        rest = partial(deletions, facts=left, first=writing.text[cut - 1] == "[")
        writing.cut(cut)
        yield from writing.write("facts", rest)


@dataclass(frozen=True)
class _Entry:
    """A name or fact in a part: one of the problem (`old`), or a new one.

    It stands in the list `heading`, which says of it what `says` tells: twice the same is merely
    redundant, twice another thing is wrong. The text up to `cut` is without it, and without the
    other of its pair. `open`: it stands in a line that has no type yet.
    """

    heading: str
    text: str
    old: bool
    cut: int
    says: object = None
    open: bool = False


class _Part:
    """One of the two parts: what is wrong in it is rolled back, with all that follows it; one more
    entry at least stays each time. Names that are `made_up` may not be loops. `objects` are those
    of the problem, with their types."""

    def __init__(
        self, writing: Writing, build: "partial[str]", objects: Mapping[str, str], *, made_up: bool
    ) -> None:
        self.writing, self.objects, self.made_up = writing, objects, made_up
        self.build = partial(build, tight=writing.tight)
        self.first = len(writing.text)

    def write(self, name: str) -> Part:
        yield from self.writing.write(name, partial(self.build, begun=Begun()), [self._review])

    def _review(self, broken: bool) -> Resample | None:
        text, names = self.writing.text, self.writing.names
        seen: dict[tuple[bool, str], _Entry] = {}
        entries = list(_entries(text, self.first))
        for entry in entries:
            old = entry.old or (entry.heading == "add" and entry.text in self.objects)
            # PDDL ignores the case of names; old ones are spelled as in the problem.
            key = old, entry.text if old else entry.text.lower()
            loops = self.made_up and not old and names.avoid_loop(entry.text)
            if loops or (key in seen and self._is_wrong(entry, seen[key])):
                earlier = [one for one in seen.values() if one.cut < entry.cut]
                return self._from(entry.cut, entry.heading, earlier)
            seen[key] = entry
        return self._from(len(text), entries[-1].heading, entries, closed=True) if broken else None

    def _is_wrong(self, entry: _Entry, earlier: _Entry) -> bool:
        return self.writing.tight or (entry.says != earlier.says and not entry.open)

    def _from(
        self, cut: int, heading: str, before: Iterable[_Entry], *, closed: bool = False
    ) -> Resample:
        """The rest behind `cut`, in the list `heading`."""
        entries = list(before)
        begun = Begun(
            heading,
            self.writing.text[cut - 1],
            new=frozenset(entry.text for entry in entries if not entry.old),
            old=frozenset(entry.text for entry in entries if entry.old),
            closed=closed,
            line=tuple(entry.text for entry in entries if entry.open),
        )
        return Resample(cut, partial(self.build, begun=begun))


def _entries(text: str, first: int) -> Iterator[_Entry]:
    """From left to right, those behind `first`; the last string may be open. The first name of
    "a b - room" is cut off with its whole entry, others are cut off alone."""
    heading, key = "", None
    is_open = text.count('"', first) % 2 == 1
    whole = text + '"' if is_open else text
    for string in _STRING.finditer(whole, first):
        start, line = string.start(), json.loads(string[0])
        if string[2]:
            heading, key = line, None
        elif heading == "delete" or (heading == "replace" and key is None):
            key = start
            says: object = heading if heading == "delete" else start
            yield _Entry(heading, line, True, _end_before(text, start), says)
        else:
            entry = start if key is None else key
            says, key = key, None
            if line.startswith("("):
                yield _Entry(heading, line, False, _end_before(text, entry))
                continue
            for name in typed_names(list_of(f"({line})")):
                word, untyped = name.word, is_open and string.end() > len(text)
                cut = start + word.offset if word.offset > 1 else entry
                says = type_of(name) if heading == "add" else says
                yield _Entry(heading, word.text, False, _end_before(text, cut), says, untyped)


def _end_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t\r\n,"))


def _objects_after(objects: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, str]:
    """Name → type, as `pddl.edit.apply` has them when it comes to the facts."""
    replaced, deleted = changes["replace"], changes["delete"]
    after = {replaced.get(n, n): kind for n, kind in objects.items() if n not in deleted}
    for line in changes["add"]:
        after |= {entry.word.text: type_of(entry) for entry in typed_names(list_of(f"({line})"))}
    return after


def _renamed(facts: Iterable[str], replaced: Mapping[str, str]) -> Iterator[str]:
    for predicate, *terms in map(words, facts):
        yield f"({' '.join([predicate, *(replaced.get(term, term) for term in terms)])})"

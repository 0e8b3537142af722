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
    writing = Writing(layout, names)
    declared = declarations(domain_of(scene.domain))
    objects, facts = objects_of(scene.problem), facts_of(scene.problem)
    build = partial(object_changes, declared=declared, objects=objects, facts=facts)
    yield from _without_repetition(
        writing, "objects", partial(build, names=names), names if names.allowed is None else None
    )
    changes = json.loads(writing.text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    there, first = list(_renamed(facts, changes["replace"])), len(writing.text)
    yield from _without_repetition(
        writing, "facts", partial(fact_changes, declared=declared, things=things, facts=there)
    )
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
    """What a part may hold once: a name or fact of the problem (`old`), or a new one.

    It stands in the list `heading`. The text up to `cut` is without it, and without the other of
    its pair.
    """

    heading: str
    text: str
    old: bool
    cut: int


def _without_repetition(
    writing: Writing, name: str, part: "partial[str]", made_up: NewNames | None = None
) -> Part:
    """A part. What comes again is rolled back, with all that follows it, and so is a `made_up` name
    that is a loop; one more entry at least stays each time."""
    first = len(writing.text)

    def repeated() -> Resample | None:
        seen: dict[tuple[bool, str], _Entry] = {}
        for entry in _entries(writing.text, first):
            # PDDL ignores the case of names; old ones are spelled as in the problem.
            key = entry.old, entry.text if entry.old else entry.text.lower()
            loops = made_up and not entry.old and made_up.avoid_loop(entry.text)
            if loops or key in seen:
                before = [earlier for earlier in seen.values() if earlier.cut < entry.cut]
                begun = Begun(
                    entry.heading,
                    writing.text[entry.cut - 1],
                    new=frozenset(earlier.text for earlier in before if not earlier.old),
                    old=frozenset(earlier.text for earlier in before if earlier.old),
                )
                return Resample(entry.cut, partial(part, begun=begun))
            seen[key] = entry
        return None

    yield from writing.write(name, partial(part, begun=Begun()), [repeated])


def _entries(text: str, first: int) -> Iterator[_Entry]:
    """From left to right, those behind `first`. The first name of "a b - room" is cut off with its
    whole entry, others are cut off alone."""
    heading, key = "", None
    for string in _STRING.finditer(text, first):
        start, line = string.start(), json.loads(string[0])
        if string[2]:
            heading, key = line, None
        elif heading == "delete" or (heading == "replace" and key is None):
            key = start
            yield _Entry(heading, line, True, _end_before(text, start))
        else:
            entry = start if key is None else key
            key = None
            if line.startswith("("):
                yield _Entry(heading, line, False, _end_before(text, entry))
                continue
            for word in (name.word for name in typed_names(list_of(f"({line})"))):
                cut = start + word.offset if word.offset > 1 else entry
                yield _Entry(heading, word.text, False, _end_before(text, cut))


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

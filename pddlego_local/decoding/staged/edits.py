"""The rungs "typed" and "grounded" for edits of a problem: first its objects, then its
facts.

    objects  an object that is added or replaces another is new; an object that is
             replaced or deleted exists
    facts    a fact that is added is well-typed; a fact that is replaced or deleted
             exists; the facts about a deleted object are deleted too

So `pddl.edit.apply` never has to refuse an edit, and it turns a correct problem into a
correct problem. An entry that contradicts an earlier one of the same part is rolled
back and resampled, because no grammar of a part can know it beforehand. On "grounded",
new names must come from the observations.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.decoding.layout import list_of, typed_names
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, Stages
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.declarations import declarations, type_of
from pddlego_local.decoding.staged.edit_grammar import (
    FactChanges,
    ObjectChanges,
    PartialEdit,
    deletions,
)
from pddlego_local.decoding.staged.edit_reading import (
    Key,
    Mention,
    Replaced,
    end_before,
    mentions,
    words,
)
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.writing import NewNames, Resample, Writing
from pddlego_local.pddl.edit import facts_of, objects_of


def edit(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains an edit, {"objects": changes, "init": changes}."""

    def stages() -> Stages:
        grounded = decoding.excludes.grounded
        # Names that one answer avoids are no concern of another one.
        names = NewNames(context.names.objects if grounded else None)
        return _edit(Writing(decoding.layout, names), context)

    return Constraint(decoding.rung, stages)


def _edit(writing: Writing, context: GrammarContext) -> Stages:
    names = writing.names
    declared = declarations(domain_of(context.domain))
    objects = objects_of(context.problem)
    facts = facts_of(context.problem)
    shown = len(context.names.objects)
    of_objects = ObjectChanges(declared, objects, facts, names, shown)
    part = _Part(writing, of_objects, objects, made_up=names.allowed is None)
    yield from part.write("objects")

    changes = json.loads(writing.text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    old_facts = [_renamed(fact, changes["replace"]) for fact in facts]
    of_facts = FactChanges(declared, things, old_facts)
    part = _Part(writing, of_facts, {}, made_up=False)
    yield from part.write("facts")
    yield from _delete_facts(writing, part.first, old_facts, changes["delete"])


def _delete_facts(
    writing: Writing, first: int, facts: Iterable[str], deleted: Iterable[str]
) -> Stages:
    """Adds the facts about deleted objects that the part from the offset `first` on
    neither replaces nor deletes.
    """
    edited = {mention.text for mention in mentions(writing.text, first)}
    gone = {name.lower() for name in deleted}
    left = []
    for fact in facts:
        _predicate, *terms = words(fact.lower())
        if fact not in edited and not gone.isdisjoint(terms):
            left.append(fact)
    if left:
        cut = end_before(writing.text, writing.text.rindex("]"))
        is_empty = writing.text[cut - 1] == "["
        writing.cut(cut)
        rest = partial(deletions, facts=left, first=is_empty)
        yield from writing.write("facts", rest)


class _Part:
    """One of the two parts. A wrong name is rolled back with all text after it, and
    each time at least one more is kept. `made_up` says that the model invents names,
    which must not be loops. `objects` maps the objects of the problem to their types.
    """

    def __init__(
        self,
        writing: Writing,
        changes: ObjectChanges | FactChanges,
        objects: Mapping[str, str],
        *,
        made_up: bool,
    ) -> None:
        self.writing = writing
        self.objects = objects
        self.made_up = made_up
        self.changes = changes
        self.first = len(writing.text)

    def write(self, name: str) -> Stages:
        begin = partial(self.changes.grammar, so_far=PartialEdit())
        yield from self.writing.write(name, begin, [self._review])

    def _review(self, broken: bool) -> Resample | None:
        text = self.writing.text
        every = mentions(text, self.first)
        seen: dict[Key, Mention] = {}
        for mention in every:
            key = mention.key(self.objects)
            earlier = seen.get(key)
            is_wrong = self._is_loop(mention, key)
            if earlier:
                is_wrong = is_wrong or self._differs(mention, earlier)
            if is_wrong:
                kept = [before for before in seen.values() if before.cut < mention.cut]
                return self._from(mention.cut, mention.heading, kept)
            seen[key] = mention
        if not broken:
            return None
        return self._from(len(text), every[-1].heading, every, closed=True)

    def _is_loop(self, mention: Mention, key: Key) -> bool:
        is_new = self.made_up and not key.old
        return is_new and self.writing.names.avoid_loop(mention.text)

    def _differs(self, mention: Mention, earlier: Mention) -> bool:
        """Whether a mention contradicts an earlier one. An object that replaces another
        one keeps its type, and "add" may declare it with this type before.
        """
        if mention.untyped:
            return False
        says = mention.says
        replaces = mention.heading == "replace" and not mention.old
        if replaces and isinstance(says, Replaced) and earlier.heading == "add":
            return self.objects[says.text] != earlier.says
        return says != earlier.says

    def _from(
        self, cut: int, heading: str, before: Sequence[Mention], *, closed: bool = False
    ) -> Resample:
        """Returns the resampling of the text after `cut`, in the list `heading`."""
        text = self.writing.text[:cut]
        new: set[str] = set()
        old: set[str] = set()
        for mention in before:
            names = old if mention.old else new
            names.add(mention.text)
        last_line = []
        for mention in mentions(text, self.first):
            if mention.untyped:
                last_line.append(mention.text)
        so_far = PartialEdit(heading, text[-1], new, old, closed, last_line)
        return Resample(cut, partial(self.changes.grammar, so_far=so_far))


def _objects_after(
    objects: Mapping[str, str], changes: Mapping[str, Any]
) -> dict[str, str]:
    """Returns name → type of the objects, as `pddl.edit.apply` has them before it edits
    facts.
    """
    after = {}
    for name, kind in objects.items():
        if name not in changes["delete"]:
            now = changes["replace"].get(name, name)
            after[now] = kind
    for line in changes["add"]:
        for entry in typed_names(list_of(f"({line})")):
            after[entry.word.text] = type_of(entry)
    return after


def _renamed(fact: str, replaced: Mapping[str, str]) -> str:
    predicate, *terms = words(fact)
    now = [replaced.get(term, term) for term in terms]
    return f"({' '.join([predicate, *now])})"

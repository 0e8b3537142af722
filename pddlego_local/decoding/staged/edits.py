"""The rungs "typed" and "grounded" for edits of a problem: first its objects, then its
facts.

    objects  an object that is added or replaces another is new; an object that is
             replaced or deleted exists
    facts    a fact that is added is well-typed; a fact that is replaced or deleted
             exists; the facts about a deleted object are deleted too

So `pddl.edit.apply` never has to refuse an edit, and it turns a correct problem into a
correct problem. An entry that contradicts an earlier one of the same part is rolled
back and resampled, because no grammar of a part can know it beforehand. On "grounded",
new names must come from the observations. Strings have single spaces, as on the rung
"syntax"; the layout determines the white space between strings.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pddlego_local.core.grouping import grouped
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import NewNames, one_of
from pddlego_local.decoding.layout import Layout, list_of, typed_names
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, Stages
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.atoms import IN_A_STRING, atoms, pool_of
from pddlego_local.decoding.staged.declarations import (
    Declarations,
    declarations,
    type_of,
)
from pddlego_local.decoding.staged.limits import most_facts, most_lines
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.writing import Resample, Writing
from pddlego_local.pddl.edit import facts_of, objects_of

# The limits of the rung "syntax".
MOST_NAMES = 10
MOST_REPLACED = 10

_BRACKETS = {"add": "[]", "replace": "{}", "delete": "[]"}
_ANY_BLANKS = r"[ \t\r\n]{0,10}"
_BLANK, _CLOSING_QUOTE = '" "', r'"\""'
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?=(\s*:\s*[\[{])?)')


def edit(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains an edit, {"objects": changes, "init": changes}."""
    allowed = context.names.objects if decoding.excludes.grounded else None
    names = NewNames(allowed)
    return Constraint(decoding.rung, lambda: _edit(context, names, decoding.layout))


def _edit(context: GrammarContext, names: NewNames, layout: Layout) -> Stages:
    writing = Writing(layout, names)
    declared = declarations(domain_of(context.domain))
    objects, facts = objects_of(context.problem), facts_of(context.problem)
    build = partial(
        object_changes,
        declared=declared,
        objects=objects,
        facts=facts,
        names=names,
        shown=len(context.names.objects),
    )
    part = _Changes(writing, build, objects, made_up=names.allowed is None)
    yield from part.write("objects")

    changes = json.loads(writing.text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    old_facts = [_renamed(fact, changes["replace"]) for fact in facts]
    build = partial(fact_changes, declared=declared, things=things, facts=old_facts)
    part = _Changes(writing, build, {}, made_up=False)
    yield from part.write("facts")
    yield from _delete_facts(writing, part.first, old_facts, changes["delete"])


def _delete_facts(
    writing: Writing, first: int, facts: Iterable[str], deleted: Iterable[str]
) -> Stages:
    """Adds the facts about deleted objects that the part from the offset `first` on
    neither replaces nor deletes.
    """
    edited = {named.text for named in _all_named(writing.text, first)}
    gone = {name.lower() for name in deleted}
    left = []
    for fact in facts:
        _predicate, *terms = words(fact.lower())
        if fact not in edited and not gone.isdisjoint(terms):
            left.append(fact)
    if left:
        cut = _end_before(writing.text, writing.text.rindex("]"))
        is_empty = writing.text[cut - 1] == "["
        writing.cut(cut)
        rest = partial(deletions, facts=left, first=is_empty)
        yield from writing.write("facts", rest)


@dataclass(frozen=True)
class _Named:
    """A name or fact in a part: one of the problem (`old`), or a new one.

    `heading` is the list that has it, and `says` is what the list says about it. If two
    lists say the same about a name, the second is merely redundant; if they say
    different things, the second is wrong. The text before `cut` has neither the name
    nor the other half of its pair. `open` says that its line has no type yet.
    """

    heading: str
    text: str
    old: bool
    cut: int
    says: object = None
    open: bool = False

    def key(self, objects: Collection[str]) -> tuple[bool, str]:
        """Identifies a name. PDDL ignores the case of names; old ones are spelled as in
        the problem.
        """
        old = self.old or (self.heading == "add" and self.text in objects)
        return old, self.text if old else self.text.lower()


class _Changes:
    """One of the two parts. A wrong name is rolled back with all text after it, and
    each time at least one more is kept. `made_up` says that the model invents names,
    which must not be loops. `objects` maps the objects of the problem to their types.
    """

    def __init__(
        self,
        writing: Writing,
        build: "partial[str]",
        objects: Mapping[str, str],
        *,
        made_up: bool,
    ) -> None:
        self.writing, self.objects, self.made_up = writing, objects, made_up
        self.build = build
        self.first = len(writing.text)

    def write(self, name: str) -> Stages:
        begin = partial(self.build, so_far=PartialEdit())
        yield from self.writing.write(name, begin, [self._review])

    def _review(self, broken: bool) -> Resample | None:
        text = self.writing.text
        seen: dict[tuple[bool, str], _Named] = {}
        every = list(_all_named(text, self.first))
        for named in every:
            key = named.key(self.objects)
            earlier = seen.get(key)
            if self._is_loop(named, key) or (earlier and self._differs(named, earlier)):
                kept = [before for before in seen.values() if before.cut < named.cut]
                return self._from(named.cut, named.heading, kept)
            seen[key] = named
        if not broken:
            return None
        return self._from(len(text), every[-1].heading, every, closed=True)

    def _is_loop(self, named: _Named, key: tuple[bool, str]) -> bool:
        is_old, _ = key
        new = self.made_up and not is_old
        return new and self.writing.names.avoid_loop(named.text)

    def _differs(self, named: _Named, earlier: _Named) -> bool:
        """Whether a name contradicts an earlier one. An object that replaces another
        one keeps its type, and "add" may declare it with this type before.
        """
        says = named.says
        match earlier.heading, named:
            case "add", _Named("replace", old=False, says=(_, str(replaced))):
                says = self.objects[replaced]
        return says != earlier.says and not named.open

    def _from(
        self, cut: int, heading: str, before: Sequence[_Named], *, closed: bool = False
    ) -> Resample:
        """Returns the resampling of the text after `cut`, in the list `heading`."""
        text = self.writing.text[:cut]
        last_line = [named.text for named in _all_named(text, self.first) if named.open]
        so_far = PartialEdit(
            heading,
            text[-1],
            new=frozenset(named.text for named in before if not named.old),
            old=frozenset(named.text for named in before if named.old),
            closed=closed,
            line=tuple(last_line),
        )
        return Resample(cut, partial(self.build, so_far=so_far))


def _all_named(text: str, first: int) -> Iterator[_Named]:
    """Yields the names and facts after the offset `first`, from left to right; the last
    string may be open.
    """
    is_open = text.count('"', first) % 2 == 1
    whole = text + '"' if is_open else text
    heading = ""
    replaced: tuple[int, str] | None = None  # offset and text of a pair's first string
    for string in _STRING.finditer(whole, first):
        begin, line = string.start(), json.loads(string[0])
        is_heading = string[2] is not None
        if is_heading:
            heading, replaced = line, None
        elif heading == "delete":
            cut = _end_before(text, begin)
            yield _Named(heading, line, True, cut, says="delete")
        elif heading == "replace" and replaced is None:
            replaced = begin, line
            cut = _end_before(text, begin)
            yield _Named(heading, line, True, cut, says=replaced)
        else:
            untyped = is_open and string.end() > len(text)
            yield from _new_names(text, heading, begin, line, replaced, untyped=untyped)
            replaced = None


def _new_names(
    text: str,
    heading: str,
    begin: int,
    line: str,
    replaced: tuple[int, str] | None,
    *,
    untyped: bool,
) -> Iterator[_Named]:
    """Yields the fact of a string, or the names of a string such as "a b - room", which
    begins at the offset `begin`. The `cut` of the first name is before the string, or
    before the string that it replaces; the `cut` of a later name is before that name.
    """
    first = replaced[0] if replaced else begin
    if line.startswith("("):
        yield _Named(heading, line, False, _end_before(text, first))
        return
    for entry in typed_names(list_of(f"({line})")):
        is_first = entry.word.offset <= 1
        cut = _end_before(text, first if is_first else begin + entry.word.offset)
        says = type_of(entry) if heading == "add" else replaced
        yield _Named(heading, entry.word.text, False, cut, says=says, open=untyped)


def _end_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t\r\n,"))


def _objects_after(
    objects: Mapping[str, str], changes: Mapping[str, Any]
) -> dict[str, str]:
    """Returns name → type of the objects, as `pddl.edit.apply` has them before it edits
    facts.
    """
    after = {}
    for name, kind in objects.items():
        if name not in changes["delete"]:
            after[changes["replace"].get(name, name)] = kind
    for line in changes["add"]:
        for entry in typed_names(list_of(f"({line})")):
            after[entry.word.text] = type_of(entry)
    return after


def _renamed(fact: str, replaced: Mapping[str, str]) -> str:
    predicate, *terms = words(fact)
    now = [replaced.get(term, term) for term in terms]
    return f"({' '.join([predicate, *now])})"


@dataclass(frozen=True)
class PartialEdit:
    """The state of a part that was cut in the list `heading`, after the character
    `last`.

    `new` has the names or facts that were added, and `old` those that were replaced or
    deleted. All fields are empty if the part has not begun. `closed` says that the list
    must not gain more entries. `line` has the names of the list's last line if that
    line has no type yet.
    """

    heading: str = ""
    last: str = ""
    new: frozenset[str] = frozenset()
    old: frozenset[str] = frozenset()
    closed: bool = False
    line: tuple[str, ...] = ()


def object_changes(
    rules: Rules,
    so_far: PartialEdit,
    declared: Declarations,
    objects: Mapping[str, str],
    facts: Iterable[str],
    names: NewNames,
    shown: int,
) -> str:
    """Returns the grammar of the part "objects", to its end. `shown` is the number of
    names in the prompt, which limits the lengths of lists. Objects may be added again
    with their type, and replaced by themselves.
    """
    name = names.thing([*objects, *declared.things, *so_far.new])
    new = rules.terminal(name) if name else ""
    line_end = _line_end(rules, declared.types, new)
    old = {name: objects[name] for name in objects if name not in so_far.old}
    not_added = [name for name in old if name not in so_far.new]
    kept = _not_to_be_renamed(objects, facts)
    renamed = [name for name in not_added if name.lower() not in kept]
    by_new = _pairs(rules, "_pair", [(renamed, new)])
    by_itself = [([name], rules.names([name])) for name in renamed]
    pairs = [by_new, _pairs(rules, "_same", by_itself)]
    lines = [f"{new} {line_end}" if new else "", *_lines_again(rules, old, new)]
    lists = {
        "add": _List(_entry(rules, "_line", lines), most_lines(shown)),
        "replace": _List(rules.shared([pair for pair in pairs if pair]), MOST_REPLACED),
        "delete": _List(_old(rules, not_added), len(not_added)),
    }

    known = {objects[name] for name in so_far.line if name in objects}
    before = line_end
    if not so_far.heading:
        so_far, before = _begin(rules, "{", "objects")
    elif so_far.last in '[{"':
        before = ""
    elif known or so_far.closed:
        more = "" if so_far.closed else new
        before = _line_end(rules, known or declared.types, more, "_end_of_line")
    return f"{before} {_rest(rules, lists, so_far)} {_mark(rules, '}')}"


@dataclass(frozen=True)
class _List:
    """The rule for the entries of a list ("" if there can be none), and the limit of
    their number.
    """

    entry: str
    most: int


def _lines_again(rules: Rules, objects: Mapping[str, str], new: str) -> list[str]:
    """Returns rules for lines with existing objects, which may have new names among
    them. The first existing object determines the type of the line. New names before it
    have one rule for all types, so that they can be parsed in only one way.
    """
    by_kind = grouped((kind, name) for name, kind in objects.items())
    again = []
    for number, (kind, names) in enumerate(by_kind.items()):
        known = rules.names(names)
        name = f"({known} | {new})" if new else known
        end = _line_end(rules, [kind], name, f"_line_end_{number}")
        again.append(f"{known} {end}")
    own = rules.rule("_again", again)
    if not own or not new:
        return [own]
    blank = rules.terminal(_BLANK)
    new_first = f"{new} ({blank} {new}) ~ 0 .. {MOST_NAMES - 2} {blank} {own}"
    return [own, new_first]


def fact_changes(
    rules: Rules,
    so_far: PartialEdit,
    declared: Declarations,
    things: Mapping[str, str],
    facts: Iterable[str],
) -> str:
    """Returns the grammar from "init" to the end of the answer. Facts are about
    `things` (name → type).
    """
    pools = pool_of(declared, things)
    atom = atoms(rules, declared.predicates, pools, spelling=IN_A_STRING)
    quoted = f"{atom} {rules.terminal(_CLOSING_QUOTE)}" if atom else ""
    old = [fact for fact in facts if fact not in so_far.old]
    lists = {
        "add": _List(_entry(rules, "_added", [quoted]), most_facts(len(things))),
        "replace": _List(_pairs(rules, "_pair", [(old, atom)]), MOST_REPLACED),
        "delete": _List(_old(rules, old), len(old)),
    }
    before, end = "", _mark(rules, "}")
    if not so_far.heading:
        so_far, before = _begin(rules, ",", "init")
    return f"{before} {_rest(rules, lists, so_far)} {end} {end}"


def deletions(rules: Rules, facts: Iterable[str], *, first: bool) -> str:
    """Returns a terminal for these facts at the end of the last list and for the end of
    the answer. `first` says that the list is empty so far.
    """
    listed = ", ".join(map(json.dumps, facts))
    text = listed if first else f", {listed}"
    return rules.terminal(json.dumps(text + "]}}"))


def words(fact: str) -> list[str]:
    return fact.strip("()").split()


def _rest(rules: Rules, lists: Mapping[str, _List], so_far: PartialEdit) -> str:
    """The lists, or the rest of them after `so_far`."""

    def to_its_end(name: str, *, first: bool) -> str:
        listed, end = lists[name], _mark(rules, _BRACKETS[name][1])
        if not listed.entry or (so_far.closed and name == so_far.heading):
            return end
        more = f"({_mark(rules, ',')} {listed.entry}) ~ 0 .. {listed.most - 1}"
        return f"[{listed.entry} {more}] {end}" if first else f"{more} {end}"

    rest, begun = [], so_far.heading == ""
    for name in lists:
        if name == so_far.heading:
            rest.append(to_its_end(name, first=so_far.last in "[{"))
            begun = True
        elif begun:
            heading = _heading(rules, name, _BRACKETS[name][0])
            rest.append(f"{heading} {to_its_end(name, first=True)}")
    return f" {_mark(rules, ',')} ".join(rest)


def _line_end(
    rules: Rules, types: Iterable[str], name: str, rule: str = "_line_end"
) -> str:
    """The rest of a line such as "a b - room" after a name. `name` is a terminal, or a
    choice of terminals, for further names; it is "" if there can be none.
    """
    more = f"({rules.terminal(_BLANK)} {name}) ~ 0 .. {MOST_NAMES - 1}" if name else ""
    dash, kind = rules.terminal('" - "'), rules.names(types)
    closing = rules.terminal(_CLOSING_QUOTE)
    return rules.rule(rule, [f"{more} {dash} {kind} {closing}"])


def _entry(rules: Rules, name: str, rests: Iterable[str]) -> str:
    """A string of a list with its opening quote; the `rests` have the closing quote."""
    quote = _mark(rules, '"')
    return rules.rule(name, [f"{quote} {rest}" for rest in rests if rest])


def _pairs(
    rules: Rules, name: str, pairs: Iterable[tuple[Collection[str], str]]
) -> str:
    """The rule `name` for a pair such as "old": "new"; "" if there can be none. Each of
    `pairs` has old names or facts, and the terminal or rule of what may replace them.
    """
    colon, quote = _mark(rules, ":"), _mark(rules, '"')
    closing = rules.terminal(_CLOSING_QUOTE)
    choices = [
        f"{_old(rules, old)} {colon} {quote} {new} {closing}"
        for old, new in pairs
        if old and new
    ]
    return rules.rule(name, choices)


def _old(rules: Rules, names: Collection[str]) -> str:
    """The terminal for one of the existing names or facts, in quotes; "" if there is
    none.
    """
    blanks = _ANY_BLANKS if rules.layout == "any" else ""
    return (
        rules.terminal(f'/{blanks}"/ {one_of(names)} {_CLOSING_QUOTE}') if names else ""
    )


def _not_to_be_renamed(objects: Collection[str], facts: Iterable[str]) -> set[str]:
    """The names, in lower case, that some fact spells differently than `:objects`
    does.
    """
    terms = (term for fact in facts for term in words(fact)[1:])
    return {term.lower() for term in terms if term not in objects}


def _begin(rules: Rules, before: str, name: str) -> tuple[PartialEdit, str]:
    """The beginning of a part: `before`, its name and a bracket. Under an exact layout,
    the forced prefix has this text up to the space after the colon, and the grammar
    begins the first list.
    """
    if rules.layout == "any":
        return PartialEdit(), f"{_mark(rules, before)} {_heading(rules, name, '{')}"
    blank = " " if before == "," else ""
    rules.forced_prefix = f'{before}{blank}"{name}":'
    return PartialEdit("add", "["), rules.terminal(r'/ \{"add": \[/')


def _heading(rules: Rules, name: str, bracket: str) -> str:
    if rules.layout == "any":
        between = f"{_ANY_BLANKS}:{_ANY_BLANKS}"
        return rules.terminal(rf'/{_ANY_BLANKS}"{name}"{between}\{bracket}/')
    return rules.terminal(rf'/"{name}": \{bracket}/')


def _mark(rules: Rules, character: str) -> str:
    """One character, perhaps after white space. Exact layouts put a space after colon
    and comma.
    """
    escaped = re.escape(character)
    if rules.layout == "any":
        return rules.terminal(f"/{_ANY_BLANKS}{escaped}/")
    after = " " if character in ",:" else ""
    return rules.terminal(f"/{escaped}{after}/")

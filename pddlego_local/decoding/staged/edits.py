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
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import NewNames, one_of
from pddlego_local.decoding.layout import Layout, list_of, typed_names
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import Rung
from pddlego_local.decoding.session import Constraint, Stages
from pddlego_local.decoding.staged.atoms import IN_A_STRING, atoms, pool_of
from pddlego_local.decoding.staged.declarations import (
    Declarations,
    declarations,
    type_of,
)
from pddlego_local.decoding.staged.limits import most_facts, most_lines
from pddlego_local.decoding.staged.reading import domain_of
from pddlego_local.decoding.staged.writing import Part, Resample, Writing
from pddlego_local.pddl.edit import facts_of, objects_of

# The limits of the rung "syntax".
MOST_NAMES = 10
MOST_REPLACED = 10

_BRACKETS = {"add": "[]", "replace": "{}", "delete": "[]"}
_ANY_BLANKS = r"[ \t\r\n]{0,10}"
_BLANK, _CLOSING_QUOTE = '" "', r'"\""'
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?=(\s*:\s*[\[{])?)')


def edit(
    rung: Rung, form: Form[Fields], context: GrammarContext, layout: Layout
) -> Constraint:
    """Constrains an edit, {"objects": changes, "init": changes}."""
    allowed = context.names.objects if rung.grounded else None
    return Constraint(rung.name, lambda: _edit(context, NewNames(allowed), layout))


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
    yield from _Part(writing, build, objects, made_up=names.allowed is None).write(
        "objects"
    )
    changes = json.loads(writing.text + "}")["objects"]
    things = declared.things | _objects_after(objects, changes)
    old_facts, first = list(_renamed(facts, changes["replace"])), len(writing.text)
    build = partial(fact_changes, declared=declared, things=things, facts=old_facts)
    yield from _Part(writing, build, {}, made_up=False).write("facts")
    edited = {entry.text for entry in _entries(writing.text, first)}
    deleted = {name.lower() for name in changes["delete"]}
    about = (
        fact for fact in old_facts if not deleted.isdisjoint(words(fact.lower())[1:])
    )
    if left := [fact for fact in about if fact not in edited]:
        cut = _end_before(writing.text, writing.text.rindex("]"))
        rest = partial(deletions, facts=left, first=writing.text[cut - 1] == "[")
        writing.cut(cut)
        yield from writing.write("facts", rest)


@dataclass(frozen=True)
class _Entry:
    """A name or fact in a part: one of the problem (`old`), or a new one.

    `heading` is the list that has the entry, and `says` is what the list says about it.
    Two entries for a name that say the same are merely redundant; if they say different
    things, the second is wrong. The text before `cut` has neither the entry nor the
    other half of its pair. `open` says that the line of the entry has no type yet.
    """

    heading: str
    text: str
    old: bool
    cut: int
    says: object = None
    open: bool = False


class _Part:
    """One of the two parts. A wrong entry is rolled back with all text after it, and
    each time at least one more entry is kept. `made_up` says that the model invents
    names, which must not be loops. `objects` maps the objects of the problem to their
    types.
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

    def write(self, name: str) -> Part:
        begin = partial(self.build, so_far=PartialEdit())
        yield from self.writing.write(name, begin, [self._review])

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
        return (
            self._from(len(text), entries[-1].heading, entries, closed=True)
            if broken
            else None
        )

    def _is_wrong(self, entry: _Entry, earlier: _Entry) -> bool:
        """Whether an entry contradicts an earlier one. An object that replaces another
        one keeps its type, and "add" may declare it with this type before.
        """
        says = entry.says
        match earlier.heading, entry:
            case "add", _Entry("replace", old=False, says=(_, str(replaced))):
                says = self.objects[replaced]
        return says != earlier.says and not entry.open

    def _from(
        self, cut: int, heading: str, before: Iterable[_Entry], *, closed: bool = False
    ) -> Resample:
        """Returns the resampling of the text after `cut`, in the list `heading`."""
        entries, text = list(before), self.writing.text[:cut]
        so_far = PartialEdit(
            heading,
            text[-1],
            new=frozenset(entry.text for entry in entries if not entry.old),
            old=frozenset(entry.text for entry in entries if entry.old),
            closed=closed,
            line=tuple(
                entry.text for entry in _entries(text, self.first) if entry.open
            ),
        )
        return Resample(cut, partial(self.build, so_far=so_far))


def _entries(text: str, first: int) -> Iterator[_Entry]:
    """Yields the entries after the offset `first`, from left to right; the last string
    may be open. The `cut` of the first name of a string "a b - room" is before the
    string, and the `cut` of a later name is before that name.
    """
    heading, key = "", None  # `key` has the offset and text of a pair's first string
    is_open = text.count('"', first) % 2 == 1
    whole = text + '"' if is_open else text
    for string in _STRING.finditer(whole, first):
        start, line = string.start(), json.loads(string[0])
        if string[2]:
            heading, key = line, None
        elif heading == "delete" or (heading == "replace" and key is None):
            key = start, line
            says: object = heading if heading == "delete" else key
            yield _Entry(heading, line, True, _end_before(text, start), says)
        else:
            entry = start if key is None else key[0]
            says, key = key, None
            if line.startswith("("):
                yield _Entry(heading, line, False, _end_before(text, entry))
                continue
            for name in typed_names(list_of(f"({line})")):
                word, untyped = name.word, is_open and string.end() > len(text)
                cut = start + word.offset if word.offset > 1 else entry
                says = type_of(name) if heading == "add" else says
                yield _Entry(
                    heading, word.text, False, _end_before(text, cut), says, untyped
                )


def _end_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t\r\n,"))


def _objects_after(
    objects: Mapping[str, str], changes: Mapping[str, Any]
) -> dict[str, str]:
    """Returns name → type of the objects, as `pddl.edit.apply` has them before it edits
    facts.
    """
    replaced, deleted = changes["replace"], changes["delete"]
    after = {
        replaced.get(n, n): kind for n, kind in objects.items() if n not in deleted
    }
    for line in changes["add"]:
        after |= {
            entry.word.text: type_of(entry)
            for entry in typed_names(list_of(f"({line})"))
        }
    return after


def _renamed(facts: Iterable[str], replaced: Mapping[str, str]) -> Iterator[str]:
    for predicate, *terms in map(words, facts):
        yield (
            f"({' '.join([predicate, *(replaced.get(term, term) for term in terms)])})"
        )


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
    old = [name for name in objects if name not in so_far.old]
    left = [name for name in old if name not in so_far.new]  # not added again before
    kept = _not_to_be_renamed(objects, facts)
    renamed = [name for name in left if name.lower() not in kept]
    pair = _pairs(rules, "_pair", [(renamed, new)])
    same = _pairs(rules, "_same", [([name], rules.names([name])) for name in renamed])
    pair = rules.shared([rule for rule in (pair, same) if rule])
    lines = [f"{new} {line_end}" if new else ""]
    lines += _lines_again(rules, {name: objects[name] for name in old}, new)
    lists = {
        "add": (
            _entry(rules, "_line", lines),
            most_lines(shown),
        ),
        "replace": (pair, MOST_REPLACED),
        "delete": (_old(rules, left), len(left)),
    }
    known = {objects[name] for name in so_far.line if name in objects}
    if not so_far.heading:
        so_far, before = _begin(rules, "{", "objects")
    elif so_far.last in '[{"':
        before = ""
    elif known or so_far.closed:
        more = "" if so_far.closed else new
        before = _line_end(rules, known or declared.types, more, "_end_of_line")
    else:
        before = line_end
    return f"{before} {_rest(rules, lists, so_far)} {_mark(rules, '}')}"


def _lines_again(rules: Rules, objects: Mapping[str, str], new: str) -> list[str]:
    """Returns rules for lines with existing objects, which may have new names among
    them. The first existing object determines the type of the line. New names before it
    have one rule for all types, so that they can be parsed in only one way.
    """
    blank, again = rules.terminal(_BLANK), list[str]()
    for number, kind in enumerate(dict.fromkeys(objects.values())):
        known = rules.terminal(
            one_of(name for name, own in objects.items() if own == kind)
        )
        name = f"({known} | {new})" if new else known
        again.append(f"{known} {_line_end(rules, [kind], name, f'_line_end_{number}')}")
    own = rules.rule("_again", again) if again else ""
    return [
        own,
        f"{new} ({blank} {new}) ~ 0 .. {MOST_NAMES - 2} {blank} {own}"
        * bool(new and own),
    ]


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
        "add": (
            _entry(rules, "_added", [quoted]),
            most_facts(len(things)),
        ),
        "replace": (_pairs(rules, "_pair", [(old, atom)]), MOST_REPLACED),
        "delete": (_old(rules, old), len(old)),
    }
    before, end = "", _mark(rules, "}")
    if not so_far.heading:
        so_far, before = _begin(rules, ",", "init")
    return f"{before} {_rest(rules, lists, so_far)} {end} {end}"


def deletions(rules: Rules, facts: Iterable[str], *, first: bool) -> str:
    """Returns a terminal for these facts at the end of the last list and for the end of
    the answer. `first` says that the list is empty so far.
    """
    text = f"{'' if first else ', '}{', '.join(map(json.dumps, facts))}]}}}}"
    return rules.terminal(json.dumps(text))


def words(fact: str) -> list[str]:
    return fact.strip("()").split()


def _rest(
    rules: Rules, lists: Mapping[str, tuple[str, int]], so_far: PartialEdit
) -> str:
    """The lists, or the rest of them. `lists` has the rule for the entries of each list
    ("" if there can be none), and the limit of their number.
    """

    def to_its_end(name: str, *, first: bool) -> str:
        entry, most = lists[name]
        end = _mark(rules, _BRACKETS[name][1])
        if not entry or (so_far.closed and name == so_far.heading):
            return end
        more = f"({_mark(rules, ',')} {entry}) ~ 0 .. {most - 1}"
        return f"[{entry} {more}] {end}" if first else f"{more} {end}"

    names = list(lists)
    left = [
        f"{_heading(rules, name, _BRACKETS[name][0])} {to_its_end(name, first=True)}"
        for name in names[names.index(so_far.heading) + 1 if so_far.heading else 0 :]
    ]
    if so_far.heading:
        left.insert(0, to_its_end(so_far.heading, first=so_far.last in "[{"))
    return f" {_mark(rules, ',')} ".join(left)


def _line_end(
    rules: Rules, types: Iterable[str], name: str, rule: str = "_line_end"
) -> str:
    """The rest of a line such as "a b - room" after a name. `name` is a terminal, or a
    choice of terminals, for further names; it is "" if there can be none.
    """
    more = f"({rules.terminal(_BLANK)} {name}) ~ 0 .. {MOST_NAMES - 1}" if name else ""
    dash, kind = rules.terminal('" - "'), rules.names(types)
    return rules.rule(rule, [f"{more} {dash} {kind} {rules.terminal(_CLOSING_QUOTE)}"])


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
        first = rules.terminal(f"/{_ANY_BLANKS}{re.escape(before)}/")
        return PartialEdit(), f"{first} {_heading(rules, name, '{')}"
    rules.forced_prefix = f'{before}{" " if before == "," else ""}"{name}":'
    return PartialEdit("add", "["), rules.terminal(r'/ \{"add": \[/')


def _heading(rules: Rules, name: str, bracket: str) -> str:
    blanks, after = (_ANY_BLANKS, _ANY_BLANKS) if rules.layout == "any" else ("", " ")
    return rules.terminal(rf'/{blanks}"{name}"{blanks}:{after}\{bracket}/')


def _mark(rules: Rules, character: str) -> str:
    """One character, perhaps after white space. Exact layouts put a space after colon
    and comma.
    """
    if rules.layout == "any":
        return rules.terminal(f"/{_ANY_BLANKS}{re.escape(character)}/")
    return rules.terminal(f"/{re.escape(character)}{' ' if character in ',:' else ''}/")

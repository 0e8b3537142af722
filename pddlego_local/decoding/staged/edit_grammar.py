"""The grammars of the two parts of an edit, each from its beginning or from where it
was cut.

    {"objects": {"add": ["a b - room"], "replace": {"c": "d"}, "delete": ["e"]},
     "init": {"add": ["(at a)"], "replace": {…}, "delete": […]}}

Strings have single spaces, as on the rung "syntax"; the layout determines the white
space between strings.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from pddlego_local.decoding.grammars.builder import Rules, one_of
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.edit_reading import words
from pddlego_local.decoding.staged.formulas import IN_A_STRING, atoms, pool_of
from pddlego_local.decoding.staged.limits import LEAST_FACTS, MOST_FACTS_PER_THING
from pddlego_local.decoding.staged.writing import NewNames

# The limits of the rung "syntax".
MOST_NAMES = 10
MOST_REPLACED = 10

_BRACKETS = {"add": ("[", "]"), "replace": ("{", "}"), "delete": ("[", "]")}
_ANY_BLANKS = r"[ \t\r\n]{0,10}"
_BLANK = '" "'
_CLOSING_QUOTE = r'"\""'


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
    new: Set[str] = frozenset()
    old: Set[str] = frozenset()
    closed: bool = False
    line: Sequence[str] = ()


class _List(NamedTuple):
    """The rule for the entries of a list ("" if there can be none), and the limit of
    their number.
    """

    entry: str
    most: int


class _Pairs(NamedTuple):
    """Names or facts of the problem, and the terminal of what may replace them."""

    old: Collection[str]
    new: str


@dataclass(frozen=True)
class ObjectChanges:
    """The part "objects". `objects` maps the objects of the problem to their types, and
    `facts` are its facts. `shown` is the number of names in the prompt, which limits
    the lengths of lists.
    """

    declared: Declarations
    objects: Mapping[str, str]
    facts: Iterable[str]
    names: NewNames
    shown: int

    def grammar(self, rules: Rules, so_far: PartialEdit) -> str:
        """Returns the grammar of the rest of the part. Objects may be added again with
        their type, and replaced by themselves.
        """
        taken = [*self.objects, *self.declared.things, *so_far.new]
        name = self.names.thing(taken)
        new = rules.terminal(name) if name else ""
        line_end = _line_end(rules, self.declared.types, new)
        lists = self._lists(rules, so_far, new, line_end)

        known = {self.objects[name] for name in so_far.line if name in self.objects}
        before = line_end  # of a line that has no type yet
        if not so_far.heading:
            so_far, before = _begin(rules, "{", "objects")
        elif so_far.last in '[{"':
            before = ""
        elif known or so_far.closed:
            types = known or self.declared.types
            more = "" if so_far.closed else new
            before = _line_end(rules, types, more, "_end_of_line")
        rest = _rest(rules, lists, so_far)
        end = _mark(rules, "}")
        return f"{before} {rest} {end}"

    def _lists(
        self, rules: Rules, so_far: PartialEdit, new: str, line_end: str
    ) -> dict[str, _List]:
        old: dict[str, str] = {}
        for name, kind in self.objects.items():
            if name not in so_far.old:
                old[name] = kind
        not_added = [name for name in old if name not in so_far.new]
        fixed = _spelled_otherwise(self.objects, self.facts)
        renamed = [name for name in not_added if name.lower() not in fixed]

        by_new = _pairs(rules, "_pair", [_Pairs(renamed, new)])
        each_by_itself = [_Pairs([name], rules.names([name])) for name in renamed]
        by_itself = _pairs(rules, "_same", each_by_itself)
        pairs = [rule for rule in (by_new, by_itself) if rule]

        lines = [f"{new} {line_end}"] if new else []
        lines += _lines_again(rules, old, new)
        line = _entry(rules, "_line", lines)
        return {
            "add": _List(line, max(LEAST_FACTS, 2 * self.shown)),
            "replace": _List(rules.shared(pairs), MOST_REPLACED),
            "delete": _List(_old(rules, not_added), len(not_added)),
        }


@dataclass(frozen=True)
class FactChanges:
    """The part "init", and the end of the answer. Facts are about `things` (name →
    type); `facts` are those of the problem.
    """

    declared: Declarations
    things: Mapping[str, str]
    facts: Iterable[str]

    def grammar(self, rules: Rules, so_far: PartialEdit) -> str:
        """Returns the grammar of the rest of the part, to the end of the answer."""
        pool = pool_of(self.declared, self.things)
        atom = atoms(rules, self.declared.predicates, pool, spelling=IN_A_STRING)
        quoted = f"{atom} {rules.terminal(_CLOSING_QUOTE)}" if atom else ""
        old = [fact for fact in self.facts if fact not in so_far.old]
        added = _entry(rules, "_added", [quoted])
        replaced = _pairs(rules, "_pair", [_Pairs(old, atom)])
        most_facts = max(LEAST_FACTS, MOST_FACTS_PER_THING * len(self.things))
        lists = {
            "add": _List(added, most_facts),
            "replace": _List(replaced, MOST_REPLACED),
            "delete": _List(_old(rules, old), len(old)),
        }
        end = _mark(rules, "}")
        before = ""
        if not so_far.heading:
            so_far, before = _begin(rules, ",", "init")
        rest = _rest(rules, lists, so_far)
        return f"{before} {rest} {end} {end}"


def deletions(rules: Rules, facts: Iterable[str], *, first: bool) -> str:
    """Returns a terminal for these facts at the end of the last list and for the end of
    the answer. `first` says that the list is empty so far.
    """
    listed = ", ".join(json.dumps(fact) for fact in facts)
    text = listed if first else f", {listed}"
    return rules.terminal(json.dumps(text + "]}}"))


# ---- The lists of a part


def _begin(rules: Rules, before: str, name: str) -> tuple[PartialEdit, str]:
    """The beginning of a part: `before`, its name and a bracket. Under an exact layout,
    the forced prefix has this text up to the space after the colon, and the grammar
    begins the first list.
    """
    if rules.layout == "any":
        mark = _mark(rules, before)
        heading = _heading(rules, name, "{")
        return PartialEdit(), f"{mark} {heading}"
    blank = " " if before == "," else ""
    rules.forced_prefix = f'{before}{blank}"{name}":'
    return PartialEdit("add", "["), rules.terminal(r'/ \{"add": \[/')


def _rest(rules: Rules, lists: Mapping[str, _List], so_far: PartialEdit) -> str:
    """The lists, or the rest of them after `so_far`."""
    rest: list[str] = []
    for name, listed in lists.items():
        opening, closing = _BRACKETS[name]
        if name == so_far.heading:
            is_empty = so_far.last in "[{"
            if so_far.closed:
                listed = _List("", 0)
            rest.append(_entries(rules, listed, closing, first=is_empty))
        elif rest or not so_far.heading:
            heading = _heading(rules, name, opening)
            entries = _entries(rules, listed, closing, first=True)
            rest.append(f"{heading} {entries}")
    comma = _mark(rules, ",")
    return f" {comma} ".join(rest)


def _entries(rules: Rules, listed: _List, closing: str, *, first: bool) -> str:
    """The entries of a list to its closing bracket. `first` says that it is empty so
    far.
    """
    end = _mark(rules, closing)
    if not listed.entry:
        return end
    comma = _mark(rules, ",")
    more = f"({comma} {listed.entry}) ~ 0 .. {listed.most - 1}"
    if first:
        return f"[{listed.entry} {more}] {end}"
    return f"{more} {end}"


def _entry(rules: Rules, name: str, rests: Iterable[str]) -> str:
    """A string of a list with its opening quote; the `rests` have the closing quote."""
    quote = _mark(rules, '"')
    return rules.rule(name, [f"{quote} {rest}" for rest in rests if rest])


def _pairs(rules: Rules, name: str, pairs: Iterable[_Pairs]) -> str:
    """The rule `name` for a pair such as "old": "new"; "" if there can be none."""
    colon = _mark(rules, ":")
    quote = _mark(rules, '"')
    closing = rules.terminal(_CLOSING_QUOTE)
    choices = []
    for pair in pairs:
        if pair.old and pair.new:
            old = _old(rules, pair.old)
            choices.append(f"{old} {colon} {quote} {pair.new} {closing}")
    return rules.rule(name, choices)


def _old(rules: Rules, names: Collection[str]) -> str:
    """The terminal for one of the existing names or facts, in quotes; "" if there is
    none.
    """
    if not names:
        return ""
    blanks = _ANY_BLANKS if rules.layout == "any" else ""
    return rules.terminal(f'/{blanks}"/ {one_of(names)} {_CLOSING_QUOTE}')


def _spelled_otherwise(objects: Collection[str], facts: Iterable[str]) -> set[str]:
    """The names, in lower case, that some fact spells differently than `:objects`
    does. They cannot be renamed.
    """
    found = set()
    for fact in facts:
        _predicate, *terms = words(fact)
        for term in terms:
            if term not in objects:
                found.add(term.lower())
    return found


# ---- Lines of objects


def _line_end(
    rules: Rules, types: Iterable[str], name: str, rule: str = "_line_end"
) -> str:
    """The rest of a line such as "a b - room" after a name. `name` is a terminal, or a
    choice of terminals, for further names; it is "" if there can be none.
    """
    more = ""
    if name:
        more = f"({rules.terminal(_BLANK)} {name}) ~ 0 .. {MOST_NAMES - 1}"
    dash = rules.terminal('" - "')
    kind = rules.names(types)
    closing = rules.terminal(_CLOSING_QUOTE)
    return rules.rule(rule, [f"{more} {dash} {kind} {closing}"])


def _lines_again(rules: Rules, objects: Mapping[str, str], new: str) -> list[str]:
    """Returns rules for lines with existing objects, which may have new names among
    them. The first existing object determines the type of the line. New names before it
    have one rule for all types, so that they can be parsed in only one way.
    """
    by_kind: dict[str, list[str]] = {}
    for name, kind in objects.items():
        by_kind.setdefault(kind, []).append(name)
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


# ---- Signs of JSON


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

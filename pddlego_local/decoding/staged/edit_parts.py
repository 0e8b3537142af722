"""The grammars of the two parts of an edit: changes to the objects, changes to the facts (see
`edits`). Strings hold single blanks, as at the rung "syntax"; between them any white space may be.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import new_name, one_of
from pddlego_local.decoding.staged.atoms import Pools
from pddlego_local.decoding.staged.declarations import Declarations

# As many as the rung "syntax" allows.
MOST_LINES = 80  # the first edit of a large ALFWorld room adds 55 objects
MOST_NAMES = 10
MOST_REPLACED = 10
MOST_FACTS = 60

_BLANKS = r"[ \t\r\n]{0,10}"
_BLANK, _CLOSING_QUOTE = '" "', r'"\""'


@dataclass(frozen=True)
class Begun:
    """Where a part was cut: in the list `heading`, after the character `last`.

    `new` and `old` are the names that were added, and those (or facts) that were replaced or
    deleted. Of a part that is not begun all are empty.
    """

    heading: str = ""
    last: str = ""
    new: frozenset[str] = frozenset()
    old: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _List:
    """One of the three lists of a part. `entry` is the rule of what it holds, "" for nothing."""

    name: str
    brackets: str
    entry: str
    most: int

    def whole(self, rules: Rules) -> str:
        heading = rules.terminal(rf'/{_BLANKS}"{self.name}"{_BLANKS}:{_BLANKS}\{self.brackets[0]}/')
        return f"{heading} {self.rest(rules, first=True)}"

    def rest(self, rules: Rules, *, first: bool) -> str:
        """To the end of the list, from its beginning or after an entry."""
        end = _mark(rules, self.brackets[1])
        if not self.entry:
            return end
        more = f"({_mark(rules, ',')} {self.entry}) ~ 0 .. {self.most - 1}"
        return f"[{self.entry} {more}] {end}" if first else f"{more} {end}"


def object_changes(
    begun: Begun,
    declared: Declarations,
    objects: Mapping[str, str],
    facts: Iterable[str],
    allowed: Sequence[str] | None,
) -> Grammar:
    """From "objects" to its end. New names are of the `allowed` ones; None allows any."""
    rules = Rules()
    name = new_name(allowed, [*objects, *declared.things, *begun.new])
    new = rules.terminal(name) if name else ""
    line_end = _line_end(rules, declared, new)
    old = [name for name in objects if name not in begun.old]
    kept = _not_to_be_renamed(objects, facts)
    pair = _pair(rules, [name for name in old if name.lower() not in kept], new)
    lists = (
        _List("add", "[]", _entry(rules, "_line", new, line_end), MOST_LINES),
        _List("replace", "{}", pair, MOST_REPLACED),
        _List("delete", "[]", _old(rules, old), MOST_LINES),
    )
    opening = rules.terminal(rf'/\{{{_BLANKS}"objects"{_BLANKS}:{_BLANKS}\{{/')
    before = opening if not begun.heading else "" if begun.last in '[{"' else line_end
    start = f"{before} {_from(rules, lists, begun)} {_mark(rules, '}')}"
    return rules.grammar("objects", start)


def fact_changes(
    begun: Begun, declared: Declarations, things: Mapping[str, str], facts: Iterable[str]
) -> Grammar:
    """From "init" to the end of the answer; facts are about `things`, name → type."""
    rules = Rules()
    atom = rules.rule("_atom", _atoms(rules, declared, things))
    old = [fact for fact in facts if fact not in begun.old]
    lists = (
        _List("add", "[]", _entry(rules, "_added", atom), MOST_FACTS),
        _List("replace", "{}", _pair(rules, old, atom), MOST_REPLACED),
        _List("delete", "[]", _old(rules, old), MOST_FACTS),
    )
    opening = rules.terminal(rf'/{_BLANKS},{_BLANKS}"init"{_BLANKS}:{_BLANKS}\{{/')
    end = _mark(rules, "}")
    before = "" if begun.heading else opening
    return rules.grammar("facts", f"{before} {_from(rules, lists, begun)} {end} {end}")


def deletions(facts: Iterable[str], *, first: bool) -> Grammar:
    """These facts at the end of the last list, and the end of the answer."""
    rules = Rules()
    text = f"{'' if first else ', '}{', '.join(map(json.dumps, facts))}]}}}}"
    return rules.grammar("facts", rules.terminal(json.dumps(text)))


def words(fact: str) -> list[str]:
    return fact.strip("()").split()


def _from(rules: Rules, lists: Sequence[_List], begun: Begun) -> str:
    """The lists, or what is left of them."""
    position = [entry.name for entry in lists].index(begun.heading) if begun.heading else -1
    left = [entry.whole(rules) for entry in lists[position + 1 :]]
    if begun.heading:
        left.insert(0, lists[position].rest(rules, first=begun.last in "[{"))
    return f" {_mark(rules, ',')} ".join(left)


def _line_end(rules: Rules, declared: Declarations, new: str) -> str:
    """What follows a name of "a b - room"."""
    more = f"({rules.terminal(_BLANK)} {new}) ~ 0 .. {MOST_NAMES - 1}" if new else ""
    dash, kind = rules.terminal('" - "'), rules.names(declared.types)
    return rules.rule("_line_end", [f"{more} {dash} {kind} {rules.terminal(_CLOSING_QUOTE)}"])


def _entry(rules: Rules, name: str, first: str, rest: str = "") -> str:
    """A string of a list, from its opening quote; `rest` has the closing one."""
    quote = _mark(rules, '"')
    end = rest or rules.terminal(_CLOSING_QUOTE)
    return rules.rule(name, [f"{quote} {first} {end}"] if first else [])


def _pair(rules: Rules, old: Collection[str], new: str) -> str:
    """ "old": "new" """
    if not old or not new:
        return ""
    colon, quote = _mark(rules, ":"), _mark(rules, '"')
    closing = rules.terminal(_CLOSING_QUOTE)
    return rules.rule("_pair", [f"{_old(rules, old)} {colon} {quote} {new} {closing}"])


def _old(rules: Rules, names: Collection[str]) -> str:
    """The terminal for one of the names or facts that are there, in quotes; "" if there is none."""
    return rules.terminal(f'/{_BLANKS}"/ {one_of(names)} {_CLOSING_QUOTE}') if names else ""


def _atoms(rules: Rules, declared: Declarations, things: Mapping[str, str]) -> list[str]:
    """Facts without the blanks and comments that a file may have."""
    pool = Pools(declared, things)
    blank, end = rules.terminal(_BLANK), rules.terminal('")"')
    alternatives = []
    for predicate, types in declared.predicates:
        if all(pool(kind) for kind in types):
            head = rules.terminal(f'"({predicate}"')
            terms = "".join(f" {blank} {rules.names(pool(kind))}" for kind in types)
            alternatives.append(f"{head}{terms} {end}")
    return alternatives


def _not_to_be_renamed(objects: Collection[str], facts: Iterable[str]) -> set[str]:
    """What `pddl.edit.apply` would rename in the wrong places, in lower case: names that predicates
    have too, and names that a fact spells otherwise than `:objects` does."""
    kept = set()
    for predicate, *terms in map(words, facts):
        kept |= {predicate.lower(), *(term.lower() for term in terms if term not in objects)}
    return kept


def _mark(rules: Rules, character: str) -> str:
    """One character, perhaps after blanks."""
    return rules.terminal(f"/{_BLANKS}{re.escape(character)}/")

"""Layouts: how an answer is written where that carries no meaning.

    any    any blanks, comments, keywords in either case
    line   keywords in lower case, one blank between words and none elsewhere, no comments; JSON
           with ", " and ": "
    lines  as line, with one section, action part, declared predicate and fact of a PDDL file a
           line, two blanks of indentation a level

Under the last two no character is free, given what is said: the grammars of a layout accept exactly
what is printed here. Names keep their spelling.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pddlego_local.core.nouns import Action
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Node, Word, read
from pddlego_local.pddl.task import TypedName
from pddlego_local.pddl.typed_list import read_typed_list

Layout = Literal["any", "line", "lines"]
ExactLayout = Literal["line", "lines"]

REQUIREMENTS = "(:requirements :strips :typing)"
"""What a domain of the rungs "typed" and "grounded" says of itself. Fast Downward needs none of it;
nine in ten recorded domains say this."""

_OPERATORS = frozenset(
    {"and", "or", "not", "imply", "forall", "exists", "when", "increase", "either"}
)
_OF_ENTRIES = frozenset({":predicates", ":functions", ":init"})
_ACTION_PARTS = frozenset({":parameters", ":precondition", ":effect"})


@dataclass(frozen=True)
class Printer:
    """Prints PDDL files and answers in a layout.

    Actions of the `schemas` get their name and parameters as the prompt spells them. `tight` is
    for the rungs "typed" and "grounded": a domain has the section REQUIREMENTS and a problem none;
    a domain's lists stand in one order before its actions; types and objects are listed, if only as
    "(:objects)".
    """

    layout: ExactLayout
    schemas: Iterable[Action] = ()
    tight: bool = False

    def answer(self, values: Mapping[str, Any]) -> str:
        """An answer's JSON; the strings "df" and "pf" are PDDL files. Raises as `file`."""
        printed = {
            key: self.file(value) if key in ("df", "pf") else value for key, value in values.items()
        }
        return json.dumps(printed, ensure_ascii=False)

    def file(self, text: str) -> str:
        """A domain or problem. Raises ValueError if the text is not one list in parentheses."""
        faults: list[str] = []
        block = read(text, lambda _offset, fault: faults.append(fault))
        if block is None or faults:
            raise ValueError("; ".join(faults))
        title, sections = block.items[:2], list(map(self._section, block.items[2:]))
        if self.tight:
            sections = _tightened(sections)
        between = "\n  " if self.layout == "lines" else " "
        return f"({between.join([' '.join(map(_title, title)), *sections])})"

    def _section(self, section: Node) -> str:
        if isinstance(section, Word) or section.head not in _OF_ENTRIES | {":action"}:
            everything = isinstance(section, Block) and section.head == ":metric"
            return line_of(section, lower=everything)
        if section.head == ":action":
            return self._action(section)
        pieces = [
            (isinstance(item, Block), line_of(item, lower=isinstance(item, Word)))
            for item in section.items
        ]
        return self._in_lines(pieces)

    def _action(self, action: Block) -> str:
        items = action.items
        schema = next((one for one in self.schemas if _has_header(action, one)), None)
        pieces = [
            (isinstance(item, Word) and item.name in _ACTION_PARTS, line_of(item)) for item in items
        ]
        if schema:
            parameters = line_of(list_of(schema.parameters))
            pieces[1:4] = [(False, schema.name), (True, ":parameters"), (False, parameters)]
        return self._in_lines(pieces)

    def _in_lines(self, pieces: Iterable[tuple[bool, str]]) -> str:
        """A section; True stands before what has a line of its own under "lines"."""
        own = "\n    " if self.layout == "lines" else " "
        return f"({''.join((own if first else ' ') + text for first, text in pieces)[1:]})"


def _title(node: Node) -> str:
    """`define`, or `(domain NAME)`."""
    if isinstance(node, Word):
        return node.name
    return f"({' '.join([node.head, *map(line_of, node.items[1:])])})"


def line_of(node: Node, *, lower: bool = False) -> str:
    """On one line; with `lower` all words in lower case, not only the keywords."""
    if isinstance(node, Word):
        return node.name if lower or node.text.startswith(":") else node.text
    words = [line_of(item, lower=lower or node.head == "increase") for item in node.items]
    if node.head in _OPERATORS:
        words[0] = node.head
    return f"({' '.join(words)})"


def _has_header(action: Block, schema: Action) -> bool:
    """Whether it has the schema's name and, type by type, its parameters."""
    match action.items[1:4]:
        case [Word(name=name), Word(name=":parameters"), Block() as parameters]:
            return name == schema.name.lower() and (
                _typed(parameters) == _typed(list_of(schema.parameters))
            )
    return False


def list_of(text: str) -> Block:
    """The one list in parentheses that a text is."""
    block = read(text, lambda _offset, _fault: None)
    assert block is not None
    return block


def typed_names(listed: Block) -> list[TypedName]:
    """Of "(?a ?b - room)"; none where that cannot be read."""
    return read_typed_list(listed.items, FaultLog("domain", "")) or []


def _typed(parameters: Block) -> list[tuple[str, list[str]]]:
    """Each variable with its type, in lower case."""
    entries = typed_names(parameters)
    return [(entry.word.text, [kind.name for kind in entry.types]) for entry in entries]


def _tightened(sections: list[str]) -> list[str]:
    rest = [text for text in sections if not text.startswith(("(:requirements", "(:functions)"))]
    if not any(text.startswith("(:domain ") for text in rest):
        if not any(text.startswith("(:types") for text in rest):
            rest.insert(0, "(:types)")
        actions = (n for n, text in enumerate(rest) if text.startswith("(:action"))
        first = next(actions, len(rest))
        lists = sorted(rest[:first], key=lambda text: (text[:3] != "(:t", text[:3] != "(:c"))
        return [REQUIREMENTS, *lists, *rest[first:]]
    if not any(text.startswith("(:objects") for text in rest):
        rest.insert(1, "(:objects)")
    return rest

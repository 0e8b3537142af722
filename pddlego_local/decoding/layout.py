"""Layouts: the spaces, line breaks, comments and letter case of an answer, which carry
no meaning.

    any    any white space and comments; keywords in either case
    line   keywords in lower case, one space between words and none elsewhere, no
           comments; JSON with ", " and ": "
    lines  as "line", but each section, action part, declared predicate and fact of a
           PDDL file is on a line of its own, indented by two spaces per level

Under "line" and "lines", the content of an answer determines its every character: the
grammars of these layouts accept exactly what this module prints. Names keep their
spelling.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pddlego_local.core.nouns import Action
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import read_typed_list
from pddlego_local.pddl.reader import Block, Node, Word, read
from pddlego_local.pddl.task import TypedName

Layout = Literal["any", "line", "lines"]
ExactLayout = Literal["line", "lines"]

REQUIREMENTS = "(:requirements :strips :typing)"
"""The requirements of every domain under "typed" and "grounded". Fast Downward does not
need them; nine in ten recorded domains have them.
"""

_OPERATORS = frozenset(
    {"and", "or", "not", "imply", "forall", "exists", "when", "increase", "either"}
)
_OF_ENTRIES = frozenset({":predicates", ":functions", ":init"})
_ACTION_PARTS = frozenset({":parameters", ":precondition", ":effect"})


@dataclass(frozen=True)
class Printer:
    """Prints PDDL files and answers in a layout.

    The name and parameters of an action of `schemas` are printed as the prompt spells
    them. `as_staged` prints a file as "typed" and "grounded" write it: a domain has the
    section REQUIREMENTS, and a problem has none; the other lists of a domain are before
    its actions, in a fixed order; the sections of types and objects are never omitted,
    even if they are as empty as "(:objects)".
    """

    layout: ExactLayout
    schemas: Iterable[Action] = ()
    as_staged: bool = False

    def answer(self, values: Mapping[str, Any]) -> str:
        """Returns the JSON of an answer; the strings of the keys "df" and "pf" are
        printed as PDDL files. Raises ValueError as `file` does.
        """
        printed = {}
        for key, value in values.items():
            is_file = key in ("df", "pf")
            printed[key] = self.file(value) if is_file else value
        return json.dumps(printed, ensure_ascii=False)

    def file(self, text: str) -> str:
        """Returns a domain or problem in the layout. Raises ValueError if the text is
        not a single list in parentheses.
        """
        faults: list[str] = []
        block = read(text, lambda _offset, fault: faults.append(fault))
        if block is None or faults:
            raise ValueError("; ".join(faults))
        title = " ".join(map(_title, block.items[:2]))
        sections = [self._section(section) for section in block.items[2:]]
        if self.as_staged:
            sections = _as_staged(sections)
        between = "\n  " if self.layout == "lines" else " "
        text = between.join([title, *sections])
        return f"({text})"

    def _section(self, section: Node) -> str:
        if isinstance(section, Word):
            return line_of(section)
        if section.head == ":action":
            return self._action(section)
        if section.head == ":metric":
            return line_of(section, lower=True)
        if section.head not in _OF_ENTRIES:
            return line_of(section)
        text = ""
        for item in section.items:
            is_word = isinstance(item, Word)
            before = " " if is_word else self._new_line
            text += before + line_of(item, lower=is_word)
        return f"({text[1:]})"

    def _action(self, action: Block) -> str:
        pieces = [line_of(item) for item in action.items]
        for schema in self.schemas:
            if _has_header(action, schema):
                parameters = line_of(list_of(schema.parameters))
                pieces[1:4] = [schema.name, ":parameters", parameters]
                break
        text = ""
        for piece in pieces:
            before = self._new_line if piece in _ACTION_PARTS else " "
            text += before + piece
        return f"({text[1:]})"

    @property
    def _new_line(self) -> str:
        """What is before a piece of a section that has a line of its own."""
        return "\n    " if self.layout == "lines" else " "


def _title(node: Node) -> str:
    """Returns `define`, or a title such as `(domain NAME)`."""
    if isinstance(node, Word):
        return node.name
    words = [node.head]
    for item in node.items[1:]:
        words.append(line_of(item))
    return f"({' '.join(words)})"


def line_of(node: Node, *, lower: bool = False) -> str:
    """Returns a node on one line; with `lower`, all words are in lower case, not only
    keywords.
    """
    if isinstance(node, Word):
        return node.name if lower or node.text.startswith(":") else node.text
    lower = lower or node.head == "increase"
    words = [line_of(item, lower=lower) for item in node.items]
    if node.head in _OPERATORS:
        words[0] = node.head
    return f"({' '.join(words)})"


def _has_header(action: Block, schema: Action) -> bool:
    """Returns whether an action has the name of the schema and the same typed
    parameters.
    """
    match action.items[1:4]:
        case [Word(name=name), Word(name=":parameters"), Block() as parameters]:
            has_name = name == schema.name.lower()
            return has_name and _typed(parameters) == _typed(list_of(schema.parameters))
    return False


def list_of(text: str) -> Block:
    """Parses a text that is a single list in parentheses."""
    block = read(text, lambda _offset, _fault: None)
    assert block is not None
    return block


def typed_names(listed: Block) -> list[TypedName]:
    """Returns the typed names of a list such as "(?a ?b - room)"; none if it cannot be
    read.
    """
    return read_typed_list(listed.items, FaultLog("domain", "")) or []


def _typed(parameters: Block) -> list[tuple[str, list[str]]]:
    """Returns each variable with its types, the types in lower case."""
    typed = []
    for entry in typed_names(parameters):
        kinds = [kind.name for kind in entry.types]
        typed.append((entry.word.text, kinds))
    return typed


def _as_staged(sections: list[str]) -> list[str]:
    """Returns the sections of a file as "typed" and "grounded" write them."""
    left_out = ("(:requirements", "(:functions)")
    rest = [text for text in sections if not text.startswith(left_out)]
    is_problem = _has(rest, "(:domain ")
    if is_problem:
        if not _has(rest, "(:objects"):
            rest.insert(1, "(:objects)")
        return rest
    if not _has(rest, "(:types"):
        rest.insert(0, "(:types)")
    first_action = 0
    while first_action < len(rest) and not rest[first_action].startswith("(:action"):
        first_action += 1
    lists = sorted(rest[:first_action], key=_order_of_list)
    return [REQUIREMENTS, *lists, *rest[first_action:]]


def _has(sections: list[str], beginning: str) -> bool:
    return any(section.startswith(beginning) for section in sections)


def _order_of_list(section: str) -> int:
    """Types come first, then constants, then the other lists."""
    if section.startswith("(:t"):
        return 0
    if section.startswith("(:c"):
        return 1
    return 2

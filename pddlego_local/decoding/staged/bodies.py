"""Conditions and effects as grammars, with quantifiers.

Which variables may be used under a quantifier is clear when its header is written, and not before.
So a part may end with a header, "(exists (?r - room)", and what is left of it is the next stage's.
Every piece of grammar is therefore two: the whole of it, and its beginnings that end so. An operand
of `and` or `or` that comes twice is rolled back, which leaves a part open in the same way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import name_except
from pddlego_local.decoding.staged.atoms import (
    Arguments,
    Facts,
    Pools,
    atoms,
    atoms_except,
    by_predicate,
)
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import MOST_OPERANDS
from pddlego_local.pddl.reader import Block, Node, Word

More = Literal["anything", "facts", "nothing"]
"""What an `and` or `or` may gain after an operand was taken back; "facts" are denied ones too."""

DEPTH = 3
MOST_QUANTIFIERS = 2  # one inside the other


@dataclass(frozen=True)
class Piece:
    """`whole` is the text of an expression, `begun` of its beginnings; "" where there is none."""

    whole: str
    begun: str = ""

    def then(self, following: "Piece") -> "Piece":
        later = f"{self.whole} {following.begun}" if self.whole and following.begun else ""
        whole = f"{self.whole} {following.whole}" if self.whole and following.whole else ""
        return Piece(whole, _either(self.begun, later))

    def start(self, rules: Rules) -> str:
        """The start of a stage that is this piece."""
        return rules.shared([text for text in (self.whole, self.begun) if text]) or NOTHING.whole


NOTHING = Piece("()")
"""No text at all."""


def either(rules: Rules, pieces: Iterable[Piece]) -> Piece:
    """One of the pieces, as rules of their own."""
    listed = list(pieces)
    return Piece(
        rules.shared([piece.whole for piece in listed if piece.whole]),
        rules.shared([piece.begun for piece in listed if piece.begun]),
    )


def many(piece: Piece, most: int = MOST_OPERANDS, least: int = 0) -> Piece:
    if not piece.whole or most < 1:
        return Piece(NOTHING.whole if least == 0 else "", piece.begun if most > 0 else "")
    before = f"{piece.whole} ~ 0 .. {most - 1}"
    return Piece(
        f"{piece.whole} ~ {least} .. {most}", f"{before} {piece.begun}" if piece.begun else ""
    )


def _either(*texts: str) -> str:
    choices = [text for text in texts if text]
    return f"({' | '.join(choices)})" if len(choices) > 1 else "".join(choices)


class Scope:
    """What may be written where `terms` (name → type) can be used.

    `quantifiers` is how many may still stand one inside the other.
    """

    def __init__(
        self, rules: Rules, declared: Declarations, terms: Mapping[str, str], quantifiers: int
    ) -> None:
        self.rules, self.declared, self.terms = rules, declared, terms
        self.quantifiers = quantifiers
        self._pools = Pools(declared, terms)
        self._atoms = atoms(rules, declared.predicates, self._pools)
        self._conditions: dict[int, Piece] = {}

    def with_variable(self, name: str, kind: str) -> "Scope":
        terms = {**self.terms, name: kind}
        return Scope(self.rules, self.declared, terms, self.quantifiers - 1)

    def condition(self, depth: int = DEPTH) -> Piece:
        """A condition with operators nested `depth` deep."""
        if depth not in self._conditions:
            self._conditions[depth] = either(self.rules, self._forms_of_condition(depth))
        return self._conditions[depth]

    def added_condition(self, said: Sequence[Node], more: More) -> Piece:
        """One more operand beside those `said`: no fact of them again."""
        true, denied = self._literals_except(said)
        others = self._operators(DEPTH) if more == "anything" else [denied]
        return either(self.rules, [true, *others])

    def _forms_of_condition(self, depth: int) -> list[Piece]:
        return [Piece(self._atoms), *self._operators(depth)]

    def _operators(self, depth: int) -> list[Piece]:
        forms = [self.header("_EXISTS"), self.header("_FORALL")]
        if len(self.terms) > 1:
            every = self.rules.names(self.terms)
            forms.append(Piece(self.rules.terminal(f"_EQUALS _B1 {every} _B1 {every} _C")))
        if depth == 0:
            return [*forms, Piece(f"_NOT {self._atoms} _C" if self._atoms else "")]
        below = self.condition(depth - 1)
        end = Piece("_C")
        return [
            *forms,
            Piece("_AND").then(many(below)).then(end),
            Piece("_OR").then(many(below)).then(end),
            Piece("_NOT").then(below).then(end),
            Piece("_IMPLY").then(below).then(below).then(end),
        ]

    def _literals_except(self, said: Sequence[Node]) -> tuple[Piece, Piece]:
        true, denied = literals(said)
        other = atoms_except(self.rules, self.declared.predicates, self._pools, true)
        others = atoms_except(self.rules, self.declared.predicates, self._pools, denied)
        return Piece(other), Piece(f"_NOT {others} _C" if others else "")

    def header(self, quantifier: str) -> Piece:
        """ "(exists (?r - room)", where the stage ends."""
        if self.quantifiers == 0:
            return Piece("")
        variable = name_except(term[1:] for term in self.terms if term.startswith("?"))
        kinds = self.rules.names(self.declared.known_types)
        return Piece("", self.rules.terminal(f'{quantifier} "?" {variable} _DASH {kinds} _C'))

    def change(self) -> Piece:
        """A fact that becomes true or false."""
        return Piece(
            self.rules.shared([self._atoms, f"_NOT {self._atoms} _C"]) if self._atoms else ""
        )

    def changes(self) -> Piece:
        listed = Piece("_AND").then(many(self.change(), least=1)).then(Piece("_C"))
        return either(self.rules, [self.change(), listed])

    def conditional(self) -> Piece:
        antecedent = either(self.rules, [self.condition(), Piece("_EMPTY")])
        return Piece("_WHEN").then(antecedent).then(self.changes()).then(Piece("_C"))

    def added_change(self, said: Sequence[Node]) -> Piece:
        return either(self.rules, self._literals_except(said))

    def effect_item(self) -> Piece:
        forms = [self.change(), self.conditional(), self.header("_FORALL")]
        return either(self.rules, forms)

    def added_effect_item(self, said: Sequence[Node], more: More) -> Piece:
        """As `added_condition`, of an effect."""
        others = [self.conditional(), self.header("_FORALL")] if more == "anything" else []
        return either(self.rules, [*self._literals_except(said), *others])

    def effect(self) -> Piece:
        """At least one change, or one that may become one."""
        listed = Piece("_AND").then(many(self.effect_item(), least=1)).then(Piece("_C"))
        return either(self.rules, [self.effect_item(), listed])

    def under_forall(self) -> Piece:
        """What stands under "(forall (?r - room)" in an effect."""
        return either(self.rules, [self.changes(), self.conditional()])


def rest_of_condition(scope: Scope, open_: Sequence[Block], more: More = "anything") -> Piece:
    """What is left of a condition whose blocks `open_` are not closed, the innermost last: it ends
    with a quantifier's header, or after an operand of `and` or `or`, which then gains `more`.
    """
    if not open_:
        return NOTHING
    block, inner = open_[0], open_[1:]
    end = Piece("_C")
    if block.head in ("exists", "forall"):
        below = scope.with_variable(*_quantified(block))
        if not inner:
            return below.condition().then(end)
        return rest_of_condition(below, inner, more).then(end)
    rest = rest_of_condition(scope, inner, more)
    if block.head in ("and", "or"):
        said = _said(block, inner)
        added = scope.added_condition(said, "anything" if inner else more)
        return rest.then(_several(added, block, inner, more)).then(end)
    if block.head == "imply" and len(block.items) == 2:
        return rest.then(scope.condition()).then(end)
    return rest.then(end)


def rest_of_effect(
    scope: Scope, open_: Sequence[Block], more: More = "anything", *, quantified: bool = False
) -> Piece:
    """As `rest_of_condition`, of an effect, which may stand under a quantifier."""
    if not open_:
        return NOTHING
    block, inner = open_[0], open_[1:]
    end = Piece("_C")
    if block.head == "forall":
        below = scope.with_variable(*_quantified(block))
        if not inner:
            return below.under_forall().then(end)
        rest = rest_of_effect(below, inner, more, quantified=True)
        return rest.then(end)
    if block.head == "when" and len(block.items) == 2:
        rest = rest_of_condition(scope, inner, more)
        return rest.then(scope.changes()).then(end)
    if block.head == "when":
        return rest_of_effect(scope, inner, more, quantified=True).then(end)
    rest = rest_of_effect(scope, inner, more, quantified=quantified)
    said = _said(block, inner)
    if quantified:
        added = scope.added_change(said)
    else:
        added = scope.added_effect_item(said, "anything" if inner else more)
    return rest.then(_several(added, block, inner, more)).then(end)


def _several(added: Piece, block: Block, inner: Sequence[Block], more: More) -> Piece:
    if more == "nothing" and not inner:
        return NOTHING
    return many(added, MOST_OPERANDS + 1 - len(block.items))


def literals(items: Iterable[Node]) -> tuple[Facts, Facts]:
    """The facts among the operands of `and`, and those that are denied."""
    true: list[Arguments] = []
    denied: list[Arguments] = []
    for item in items:
        kept, atom = true, item
        if isinstance(item, Block) and item.head == "not" and len(item.items) == 2:
            kept, atom = denied, item.items[1]
        if isinstance(atom, Block):
            words = tuple(word.name for word in atom.items if isinstance(word, Word))
            if len(words) == len(atom.items):
                kept.append(words)
    return by_predicate(true), by_predicate(denied)


def _said(block: Block, inner: Sequence[Block]) -> list[Node]:
    """The operands that are complete."""
    return [item for item in block.items[1:] if not inner or item is not inner[0]]


def _quantified(block: Block) -> tuple[str, str]:
    variables = block.items[1]
    assert isinstance(variables, Block)
    words = [word.text for word in variables.items if isinstance(word, Word)]
    return words[0], words[-1]

"""The grammars of conditions and effects, with quantifiers.

The variable of a quantifier is only known when the header is written. So a stage may
end with a header, such as "(exists (?r - room)", and the next stage writes the rest.
Each piece of grammar therefore has two sides: the whole expression, and its beginnings
that end with a header. An `and` or `or` in which the model repeats itself is cut, which
leaves an expression unfinished in the same way. The nesting depth of operators is
counted from the outermost one, across stages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import name_except
from pddlego_local.decoding.staged.atoms import Facts, atoms, pool_of
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import MOST_NESTED, MOST_OPERANDS
from pddlego_local.pddl.reader import Block, Node, Word

Kind = Literal["condition", "effect", "changes"]
"""The kind of a body; "changes" is an effect under a quantifier or `when`."""

DEPTH = 3  # operators that one stage may nest
MOST_QUANTIFIERS = 2  # that may be nested


@dataclass(frozen=True)
class Piece:
    """The grammar of an expression.

    `complete` derives whole expressions ("" if none is possible), and each of `partial`
    derives beginnings at which a stage may end. They are separate so that the brackets
    of the grammar nest no deeper than its rules, even if many blocks are open.
    """

    complete: str
    partial: tuple[str, ...] = ()

    def then(self, *following: "Piece | str") -> "Piece":
        """Returns this piece followed by others."""
        complete, partial = self.complete, list(self.partial)
        for item in following:
            after = item if isinstance(item, Piece) else Piece(item)
            if not complete:
                break
            partial += [f"{complete} {text}" for text in after.partial]
            complete = f"{complete} {after.complete}" if after.complete else ""
        return Piece(complete, tuple(partial))

    def start(self, rules: Rules) -> str:
        """Returns the expansion of the start rule of a stage that consists of this
        piece.
        """
        texts = [text for text in (self.complete, *self.partial) if text]
        return rules.shared(texts) or NOTHING.complete


NOTHING = Piece("()")
"""The empty text."""
_NONE = Piece("")
"""No valid expression here, unlike NOTHING."""


def either(rules: Rules, pieces: Iterable[Piece]) -> Piece:
    """Returns a choice among the pieces, for which it adds rules."""
    listed = list(pieces)
    partial = rules.shared([text for piece in listed for text in piece.partial])
    whole = rules.shared([piece.complete for piece in listed if piece.complete])
    return Piece(whole, (partial,) if partial else ())


def many(piece: Piece, most: int = MOST_OPERANDS, least: int = 0) -> Piece:
    """Returns a sequence of `least` to `most` such pieces."""
    none = NOTHING.complete if least == 0 else ""
    if most < 1:
        return Piece(none)
    if not piece.complete:
        return Piece(none, piece.partial)
    before = f"{piece.complete} ~ 0 .. {most - 1}"
    partial = tuple(f"{before} {text}" for text in piece.partial)
    return Piece(f"{piece.complete} ~ {least} .. {most}", partial)


class Scope:
    """Builds the grammars of expressions that may use `terms` (name → type).

    `quantifiers` is the number of quantifiers that may still be nested.
    """

    def __init__(
        self,
        rules: Rules,
        declared: Declarations,
        terms: Mapping[str, str],
        quantifiers: int = MOST_QUANTIFIERS,
    ) -> None:
        self.rules, self.declared, self.terms = rules, declared, terms
        self.quantifiers = quantifiers
        self._pools = pool_of(declared, terms)
        self._atoms = atoms(rules, declared.predicates, self._pools)
        self._conditions: dict[int, Piece] = {}

    def condition(self, depth: int = DEPTH) -> Piece:
        """Returns a condition with operators nested at most `depth` deep."""
        if depth not in self._conditions:
            forms = [Piece(self._atoms), *self._operators(depth)]
            self._conditions[depth] = either(self.rules, forms)
        return self._conditions[depth]

    def _operators(self, depth: int) -> list[Piece]:
        forms = [self._header("_EXISTS"), self._header("_FORALL")]
        if len(self.terms) > 1:
            every = self.rules.names(self.terms)
            forms.append(
                Piece(self.rules.terminal(f"_EQUALS _B1 {every} _B1 {every} _C"))
            )
        if depth == 0:
            return [*forms, _denial(self._atoms)]
        below = self.condition(depth - 1)
        return [
            *forms,
            Piece("_AND").then(many(below), "_C"),
            Piece("_OR").then(many(below), "_C"),
            Piece("_NOT").then(below, "_C"),
            Piece("_IMPLY").then(below, below, "_C"),
        ]

    def _header(self, quantifier: str) -> Piece:
        """A header such as "(exists (?r - room)", with which the stage ends."""
        if self.quantifiers == 0:
            return _NONE
        variable = name_except(term[1:] for term in self.terms if term.startswith("?"))
        kinds = self.rules.names(self.declared.known_types)
        header = self.rules.terminal(f'{quantifier} "?" {variable} _DASH {kinds} _C')
        return Piece("", (header,))

    def effect(self) -> Piece:
        """Returns an effect with at least one change, or a header that a change must
        follow.
        """
        listed = Piece("_AND").then(many(self._effect_item(), least=1), "_C")
        return either(self.rules, [self._effect_item(), listed])

    def _effect_item(self) -> Piece:
        return either(
            self.rules, [self._change(), self._conditional(), self._header("_FORALL")]
        )

    def _change(self) -> Piece:
        """A fact that becomes true or false."""
        if not self._atoms:
            return _NONE
        return Piece(self.rules.shared([self._atoms, _denial(self._atoms).complete]))

    def _changes(self) -> Piece:
        listed = Piece("_AND").then(many(self._change(), least=1), "_C")
        return either(self.rules, [self._change(), listed])

    def _conditional(self) -> Piece:
        antecedent = either(self.rules, [self.condition(), Piece("_EMPTY")])
        return Piece("_WHEN").then(antecedent, self._changes(), "_C")

    def rest(
        self,
        open_: Sequence[Block],
        *,
        closed: bool,
        kind: Kind = "condition",
        around: int = 0,
    ) -> Piece:
        """Returns the rest of a body whose blocks `open_` are not closed (the innermost
        is last).

        The text so far ends with a quantifier's header. If `closed`, it ends after an
        operand of `and` or `or` instead, which gains no other one. `around` is the
        number of operators around these blocks.
        """
        if not open_:
            return NOTHING
        block, inner = open_[0], open_[1:]
        if block.head in ("exists", "forall"):
            under = self._under(block)
            return under._rest_under(inner, closed, kind, around).then("_C")
        within = around + 1
        if block.head == "when":
            if len(block.items) == 2:
                antecedent = self.rest(inner, closed=closed, around=within)
                return antecedent.then(self._changes(), "_C")
            kind = "changes"
        rest = self.rest(inner, closed=closed, kind=kind, around=within)
        if block.head in ("and", "or") and not (closed and not inner):
            operand = self._operand(kind, _depth_left(within))
            left = MOST_OPERANDS + 1 - len(block.items)
            return rest.then(many(operand, left), "_C")
        if block.head == "imply" and len(block.items) == 2:
            return rest.then(self.condition(_depth_left(within)), "_C")
        return rest.then("_C")

    def _under(self, quantified: Block) -> "Scope":
        """The scope that also has the variable of a header such as "(exists (?r -
        room)".
        """
        variables = quantified.items[1]
        assert isinstance(variables, Block)
        words = [word.text for word in variables.items if isinstance(word, Word)]
        terms = {**self.terms, words[0]: words[-1]}
        return Scope(self.rules, self.declared, terms, self.quantifiers - 1)

    def _rest_under(
        self, open_: Sequence[Block], closed: bool, kind: Kind, around: int
    ) -> Piece:
        """The rest of a body after a quantifier's header."""
        if open_:
            inner: Kind = "condition" if kind == "condition" else "changes"
            return self.rest(open_, closed=closed, kind=inner, around=around)
        if kind == "condition":
            return self.condition(_depth_left(around))
        return either(self.rules, [self._changes(), self._conditional()])

    def _operand(self, kind: Kind, depth: int) -> Piece:
        """One more operand of an `and` or `or`."""
        if kind == "condition":
            return self.condition(depth)
        return self._effect_item() if kind == "effect" else self._change()


def _depth_left(around: int) -> int:
    """How deep operators may nest inside `around` other operators."""
    return max(min(DEPTH, MOST_NESTED - around), 0)


def _denial(atom: str) -> Piece:
    return Piece(f"_NOT {atom} _C" if atom else "")


def literals(items: Iterable[Node]) -> tuple[Facts, Facts]:
    """Returns the facts among the operands of an `and` or `or`, and the facts that they
    negate.
    """
    true: set[tuple[str, ...]] = set()
    denied: set[tuple[str, ...]] = set()
    for item in items:
        if not isinstance(item, Block):
            continue
        is_denial = item.head == "not" and len(item.items) == 2
        atom = item.items[1] if is_denial else item
        if not isinstance(atom, Block):
            continue
        words = [word.name for word in atom.items if isinstance(word, Word)]
        if len(words) == len(atom.items):
            facts = denied if is_denial else true
            facts.add(tuple(words))
    return true, denied

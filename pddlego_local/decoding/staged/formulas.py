"""The grammars of formulas: atoms, and conditions and effects with quantifiers.

A whole atom is one terminal, with names of the right type as arguments: the decoder's
lexer matches a terminal letter by letter, while with a rule its parser would try every
word of the vocabulary.

The variable of a quantifier is only known when the header is written. So a stage may
end with a header, such as "(exists (?r - room)", and the next stage writes the rest.
Each piece of grammar therefore has two sides: the whole expression, and its beginnings
that end with a header. An `and` or `or` in which the model repeats itself is cut, which
leaves an expression unfinished in the same way. The nesting depth of operators is
counted from the outermost one, across stages.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pddlego_local.decoding.grammars.builder import Rules, name_except, one_of
from pddlego_local.decoding.staged.declarations import Declarations, Signature
from pddlego_local.decoding.staged.limits import MOST_NESTED, MOST_OPERANDS
from pddlego_local.pddl.reader import Block, Word

# ---- Atoms

Arguments = tuple[str, ...]
Facts = Set[tuple[str, ...]]
"""Facts such as ("at", "kitchen"), in lower case."""


class Spelling(NamedTuple):
    """The terminals of an atom's brackets, and of the spaces in it."""

    opening: str = "_O"
    blank: str = "_B1"
    closing: str = "_C"


_IN_LISTS = Spelling()
OF_FACTS = Spelling(opening="_ENTRY_O")
IN_A_STRING = Spelling('"("', '" "', '")"')

Pool = Callable[[str], frozenset[str]]
"""A function from a type to the names that may be arguments of this type."""


def pool_of(declared: Declarations, terms: Mapping[str, str]) -> Pool:
    """Returns the pool of `terms` (name → type), which are variables, constants and
    objects. Each type is looked up once.
    """
    return functools.cache(lambda kind: declared.of_type(kind, terms.items()))


def atoms(
    rules: Rules,
    predicates: Iterable[Signature],
    pool: Pool,
    excluded: Facts = frozenset(),
    spelling: Spelling = _IN_LISTS,
) -> str:
    """Returns a terminal for an atom of any predicate that has a name for each
    argument, without the `excluded` atoms; "" if there is no such atom.

    The arguments of a predicate are read from left to right. Names after which the same
    excluded atoms are still possible share one alternative.
    """

    @functools.cache
    def arguments(types: Arguments, out: frozenset[Arguments]) -> str:
        """Returns a terminal for arguments of these types; "" if there are none. `out`
        has the remaining arguments of the excluded atoms that are still possible.
        """
        names_before: dict[frozenset[Arguments], list[str]] = {}
        for name in sorted(pool(types[0])):
            rests = _rests(out, name)
            names_before.setdefault(rests, []).append(name)
        if len(types) == 1:
            allowed = names_before.get(frozenset())
            return rules.names(allowed) if allowed else ""
        choices = []
        for rests, names in names_before.items():
            following = arguments(types[1:], rests)
            if following:
                choices.append(f"{one_of(names)} {spelling.blank} {following}")
        return rules.terminal(" | ".join(choices)) if choices else ""

    alternatives = []
    for predicate in predicates:
        out = _rests(excluded, predicate.name)
        name = one_of([predicate.name])
        if predicate.types:
            following = arguments(predicate.types, out)
            if following:
                alternatives.append(f"{name} {spelling.blank} {following}")
        elif not out:
            alternatives.append(name)
    if not alternatives:
        return ""
    atom = " | ".join(alternatives)
    return rules.terminal(f"{spelling.opening} ({atom}) {spelling.closing}")


def _rests(facts: Facts, word: str) -> frozenset[Arguments]:
    """What follows the word in those of the facts that begin with it."""
    return frozenset([fact[1:] for fact in facts if fact[0] == word.lower()])


# ---- Conditions and effects

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
        complete = self.complete
        partial = list(self.partial)
        for item in following:
            after = item if isinstance(item, Piece) else Piece(item)
            if not complete:
                break
            for beginning in after.partial:
                partial.append(f"{complete} {beginning}")
            complete = f"{complete} {after.complete}" if after.complete else ""
        return Piece(complete, tuple(partial))

    def start(self, rules: Rules) -> str:
        """Returns the expansion of the start rule of a stage that consists of this
        piece.
        """
        texts = [self.complete] if self.complete else []
        texts += self.partial
        return rules.shared(texts) or NOTHING.complete


NOTHING = Piece("()")
"""The empty text."""
_NONE = Piece("")
"""No valid expression here, unlike NOTHING."""


def either(rules: Rules, pieces: Iterable[Piece]) -> Piece:
    """Returns a choice among the pieces, for which it adds rules."""
    complete: list[str] = []
    partial: list[str] = []
    for piece in pieces:
        if piece.complete:
            complete.append(piece.complete)
        partial += piece.partial
    beginning = rules.shared(partial)
    whole = rules.shared(complete)
    return Piece(whole, (beginning,) if beginning else ())


def many(piece: Piece, most: int = MOST_OPERANDS, least: int = 0) -> Piece:
    """Returns a sequence of `least` to `most` such pieces."""
    none = NOTHING.complete if least == 0 else ""
    if most < 1:
        return Piece(none)
    if not piece.complete:
        return Piece(none, piece.partial)
    before = f"{piece.complete} ~ 0 .. {most - 1}"
    partial = [f"{before} {beginning}" for beginning in piece.partial]
    return Piece(f"{piece.complete} ~ {least} .. {most}", tuple(partial))


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
        self.rules = rules
        self.declared = declared
        self.terms = terms
        self.quantifiers = quantifiers
        self._atoms = atoms(rules, declared.predicates, pool_of(declared, terms))
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
            term = self.rules.names(self.terms)
            equality = self.rules.terminal(f"_EQUALS _B1 {term} _B1 {term} _C")
            forms.append(Piece(equality))
        if depth == 0:
            forms.append(_denial(self._atoms))
            return forms
        below = self.condition(depth - 1)
        forms += [
            Piece("_AND").then(many(below), "_C"),
            Piece("_OR").then(many(below), "_C"),
            Piece("_NOT").then(below, "_C"),
            Piece("_IMPLY").then(below, below, "_C"),
        ]
        return forms

    def _header(self, quantifier: str) -> Piece:
        """A header such as "(exists (?r - room)", with which the stage ends."""
        if self.quantifiers == 0:
            return _NONE
        taken = [term[1:] for term in self.terms if term.startswith("?")]
        variable = name_except(taken)
        kinds = self.rules.names(self.declared.known_types)
        header = self.rules.terminal(f'{quantifier} "?" {variable} _DASH {kinds} _C')
        return Piece("", (header,))

    def effect(self) -> Piece:
        """Returns an effect with at least one change, or a header that a change must
        follow.
        """
        item = self._effect_item()
        listed = Piece("_AND").then(many(item, least=1), "_C")
        return either(self.rules, [item, listed])

    def _effect_item(self) -> Piece:
        forms = [self._change(), self._conditional(), self._header("_FORALL")]
        return either(self.rules, forms)

    def _change(self) -> Piece:
        """A fact that becomes true or false."""
        if not self._atoms:
            return _NONE
        denial = _denial(self._atoms)
        return Piece(self.rules.shared([self._atoms, denial.complete]))

    def _changes(self) -> Piece:
        change = self._change()
        listed = Piece("_AND").then(many(change, least=1), "_C")
        return either(self.rules, [change, listed])

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
        block, *inner = open_
        within = around + 1
        operands = len(block.items) - 1
        if block.head in ("exists", "forall"):
            under = self._under(block)
            return under._rest_under(inner, closed, kind, around).then("_C")
        if block.head == "when" and operands == 1:
            antecedent = self.rest(inner, closed=closed, around=within)
            return antecedent.then(self._changes(), "_C")
        if block.head == "when":
            changes = self.rest(inner, closed=closed, kind="changes", around=within)
            return changes.then("_C")
        rest = self.rest(inner, closed=closed, kind=kind, around=within)
        gains_no_other = closed and not inner
        if block.head in ("and", "or") and not gains_no_other:
            operand = self._operand(kind, _depth_left(within))
            left = MOST_OPERANDS - operands
            return rest.then(many(operand, left), "_C")
        if block.head == "imply" and operands == 1:
            return rest.then(self.condition(_depth_left(within)), "_C")
        return rest.then("_C")

    def _under(self, quantified: Block) -> "Scope":
        """The scope that also has the variable of a header such as "(exists (?r -
        room)".
        """
        listed = quantified.items[1]
        assert isinstance(listed, Block)
        variable, *_dash, kind = listed.items
        assert isinstance(variable, Word) and isinstance(kind, Word)
        terms = {**self.terms, variable.text: kind.text}
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
        if kind == "effect":
            return self._effect_item()
        return self._change()


def _depth_left(around: int) -> int:
    """How deep operators may nest inside `around` other operators."""
    left = max(MOST_NESTED - around, 0)
    return min(DEPTH, left)


def _denial(atom: str) -> Piece:
    return Piece(f"_NOT {atom} _C" if atom else "")

"""The grammar of each part of a domain, from what the parts before it declare (see `pddl`).

Each function adds a stage's rules, and gives the start that stands for the stage.
"""

from collections.abc import Collection, Sequence

from pddlego_local.decoding.grammars.builder import Rules, rest_of_list, some, typed_list
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.staged.bodies import (
    MOST_QUANTIFIERS,
    NOTHING,
    More,
    Piece,
    Scope,
    either,
    many,
    rest_of_condition,
    rest_of_effect,
)
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import (
    MOST_CONSTANTS,
    MOST_PARAMETERS,
    MOST_PREDICATES,
    MOST_TYPES,
    PREDICATES_AT_ONCE,
)
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.pddl.reader import Block, Word

_END = Piece("_C")


def types(rules: Rules, names: NewNames, *, opening: bool = True) -> str:
    """The beginning of the answer, or what follows "(domain", to the end of `:types`."""
    begin = rules.begin("_OPEN_DOMAIN") if opening else ""
    title = rules.terminal(f"_B1 {names.any()} _C")
    listed = typed_list(rules, names.type(()), names.any(), MOST_TYPES)
    return f"{begin} {title} _REQUIREMENTS {rules.terminal(f'_TYPES {listed}')}"


def more_types(rules: Rules, names: NewNames, taken: Collection[str], typed: bool) -> str:
    most = MOST_TYPES - len(taken)
    return rules.terminal(rest_of_list(rules, names.type(taken), names.any(), most, typed))


def declarations(rules: Rules, names: NewNames, declared: Declarations) -> str:
    """Constants and predicates."""
    listed = typed_list(rules, names.thing(()), one_of(declared.types), MOST_CONSTANTS)
    constants = rules.terminal(f"_CONSTANTS {listed}")
    return f"[{constants}] {predicates(rules, names, declared)}"


def more_constants(
    rules: Rules,
    names: NewNames,
    declared: Declarations,
    taken: Collection[str],
    typed: bool,
) -> str:
    name, most = names.thing(taken), MOST_CONSTANTS - len(taken)
    rest = rest_of_list(rules, name, one_of(declared.types), most, typed)
    return f"{rules.terminal(rest)} {predicates(rules, names, declared)}"


def predicates(rules: Rules, names: NewNames, declared: Declarations) -> str:
    """All of `:predicates`."""
    return f"_PREDICATES {more_predicates(rules, names, declared, ())}"


def more_predicates(
    rules: Rules, names: NewNames, declared: Declarations, taken: Collection[str]
) -> str:
    """To the end of `:predicates`, or to where they are looked at."""
    variables = f"({names.variable()} {_type(declared)}) ~ 0 .. {MOST_PARAMETERS}"
    predicate = rules.terminal(f"_ENTRY_O {names.predicate(taken)} {variables} _C")
    listed = rules.rule("_predicate", [predicate, *rules.comment])
    left = max(MOST_PREDICATES - len(taken), 0)
    few = f"{some(listed, min(left, PREDICATES_AT_ONCE - 1))} _C"
    if left < PREDICATES_AT_ONCE:
        return few
    return rules.shared([few, some(listed, PREDICATES_AT_ONCE, PREDICATES_AT_ONCE)])


def more_parameters(
    rules: Rules,
    names: NewNames,
    declared: Declarations,
    taken: Collection[str],
    variables: Collection[str],
    typed: bool,
) -> str:
    """The rest of a predicate that has these `variables`, and the predicates after it."""
    kind, left = _type(declared), max(MOST_PARAMETERS - len(variables), 0)
    more = f"({names.variable(variables)} {kind}) ~ 0 .. {left}"
    rest = rules.terminal(f"{'' if typed else kind} {more} _C")
    return f"{rest} {more_predicates(rules, names, declared, taken)}"


def added_predicate(
    rules: Rules, names: NewNames, declared: Declarations, schemas: Sequence[ActionSchema]
) -> str:
    """One more predicate at the end, of a kind that an action can change."""
    name = names.predicate([name for name, _ in declared.predicates])
    kinds = {kind for action in schemas for _, kind in action.parameters}
    fitting = [t for t in declared.known_types if any(declared.fits(kind, t) for kind in kinds)]
    parameter = f"{names.variable()} _DASH {one_of(fitting)}" if fitting else ""
    return f"{rules.terminal(f'_ENTRY_O {name} {parameter} _C')} _C"


def can_change(action: ActionSchema, declared: Declarations) -> bool:
    """Whether some predicate can take the action's variables and the constants."""
    terms = [*action.parameters, *declared.things.items()]
    return any(
        all(declared.of_type(kind, terms) for kind in kinds) for _, kinds in declared.predicates
    )


def actions(rules: Rules, declared: Declarations, schemas: Sequence[ActionSchema]) -> str:
    """At least one action, in any order, to the end of the domain or a quantifier's header."""
    begin = Piece(rules.begin("_ACTION") or "()")
    bodies = _bodies(rules, declared, schemas)
    return begin.then(bodies).then(_more(rules, bodies, len(schemas) - 1)).start(rules)


def more_actions(rules: Rules, declared: Declarations, schemas: Sequence[ActionSchema]) -> str:
    """Those that are left, each at most once."""
    return _more(rules, _bodies(rules, declared, schemas), len(schemas)).start(rules)


def rest_of_action(
    rules: Rules,
    declared: Declarations,
    action: ActionSchema,
    others: Sequence[ActionSchema],
    open_: Sequence[Block],
    more: More,
) -> str:
    """What is left of an action whose blocks `open_` are not closed, the innermost of which gains
    `more`, and the actions after it."""
    scope = _scope(rules, declared, action)
    slot = [item.name for item in open_[0].items if isinstance(item, Word)][-1]
    if slot == ":effect":
        rest = rest_of_effect(scope, open_[1:], more)
    else:
        after = Piece("_EFFECT").then(scope.effect())
        rest = rest_of_condition(scope, open_[1:], more).then(after)
    listed = _more(rules, _bodies(rules, declared, others), len(others))
    return rest.then(_END).then(listed).start(rules)


def _more(rules: Rules, bodies: Piece, most: int) -> Piece:
    """At most so many actions, and the end of the domain."""
    listed = either(rules, [Piece("_ACTION").then(bodies)])
    return (many(listed, most) if bodies.whole and most > 0 else NOTHING).then(_END)


def _bodies(rules: Rules, declared: Declarations, schemas: Sequence[ActionSchema]) -> Piece:
    """One of the actions, from its name on."""
    return either(rules, [_body(rules, declared, action) for action in schemas])


def _body(rules: Rules, declared: Declarations, action: ActionSchema) -> Piece:
    scope = _scope(rules, declared, action)
    condition = either(rules, [scope.condition(), Piece("_EMPTY")])
    precondition = either(rules, [Piece("_PRECONDITION").then(condition), NOTHING])
    effect = Piece("_EFFECT").then(scope.effect())
    header = Piece(rules.terminal(action.header(rules.layout)))
    return header.then(precondition).then(effect).then(_END)


def _type(declared: Declarations) -> str:
    return f"(_DASH {one_of(declared.known_types)})?"


def _scope(rules: Rules, declared: Declarations, action: ActionSchema) -> Scope:
    terms = dict(action.parameters) | declared.things
    return Scope(rules, declared, terms, MOST_QUANTIFIERS)

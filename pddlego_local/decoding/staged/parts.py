"""The grammar of each part of an answer, from what the parts before it declare (see `pddl`)."""

from collections.abc import Collection, Sequence

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammars.builder import Rules, some
from pddlego_local.decoding.grammars.terminals import (
    RESERVED,
    name_except,
    new_name,
    one_of,
)
from pddlego_local.decoding.staged.atoms import Pools, atoms
from pddlego_local.decoding.staged.bodies import (
    MOST_QUANTIFIERS,
    Piece,
    Scope,
    either,
    literally,
    many,
    rest_of_condition,
    rest_of_effect,
)
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.pddl.reader import Block, Word

OPEN_PROBLEM = "_OPEN_PROBLEM"
NEXT_PROBLEM = "_NEXT_PROBLEM"

MOST_TYPES = 60
MOST_CONSTANTS = 100
MOST_PREDICATES = 60
MOST_PARAMETERS = 8
MOST_OBJECTS = 400
MOST_FACTS = 600

_NOT_A_TYPE = ("number", "either")
_END = literally("_C")


def types() -> Grammar:
    """The beginning of the answer, to the end of `:types`."""
    rules = Rules()
    listed = _typed_list(name_except(_NOT_A_TYPE), "NAME", MOST_TYPES)
    of_types = rules.terminal(f"_TYPES {listed}")
    return rules.grammar("types", f"_OPEN_DOMAIN [_REQUIREMENTS] {of_types}")


def more_types(taken: Collection[str], typed: bool) -> Grammar:
    rules = Rules()
    name = name_except([*_NOT_A_TYPE, *taken])
    return rules.grammar("types", rules.terminal(_rest(name, "NAME", MOST_TYPES, typed)))


def added_types(missing: Sequence[str]) -> Grammar:
    return Rules().grammar("types", f'"{"".join(f" {kind}" for kind in missing)})"')


def declarations(
    declared: Declarations, allowed: Sequence[str] | None, *, required: bool
) -> Grammar:
    """Requirements if they are still `required`, constants and predicates."""
    rules = Rules()
    listed = _typed_list(new_name(allowed, ()), one_of(declared.types), MOST_CONSTANTS)
    constants = rules.terminal(f"_CONSTANTS {listed}")
    requirements = "[_REQUIREMENTS]" if required else ""
    predicates = f"_PREDICATES {_predicates(rules, declared, ())} _C"
    return rules.grammar("predicates", f"{requirements} [{constants}] {predicates}")


def more_constants(
    declared: Declarations, allowed: Sequence[str] | None, taken: Collection[str], typed: bool
) -> Grammar:
    rules = Rules()
    rest = _rest(new_name(allowed, taken), one_of(declared.types), MOST_CONSTANTS, typed)
    predicates = f"_PREDICATES {_predicates(rules, declared, ())} _C"
    return rules.grammar("predicates", f"{rules.terminal(rest)} {predicates}")


def more_predicates(declared: Declarations, taken: Collection[str]) -> Grammar:
    rules = Rules()
    return rules.grammar("predicates", f"{_predicates(rules, declared, taken)} _C")


def added_predicate(declared: Declarations, schemas: Sequence[ActionSchema]) -> Grammar:
    """One more predicate, of a kind that an action can change."""
    rules = Rules()
    name = name_except([*RESERVED, *(name for name, _ in declared.predicates)])
    kinds = {kind for action in schemas for _, kind in action.parameters}
    fitting = [t for t in declared.known_types if any(declared.fits(kind, t) for kind in kinds)]
    added = rules.terminal(f"_O {name} (_VARIABLE _DASH {one_of(fitting)})? _C")
    return rules.grammar("predicates", f"{added} _C")


def can_change(action: ActionSchema, declared: Declarations) -> bool:
    """Whether some predicate can take the action's variables and the constants."""
    terms = [*action.parameters, *declared.things.items()]
    return any(
        all(declared.of_type(kind, terms) for kind in kinds) for _, kinds in declared.predicates
    )


def actions(declared: Declarations, schemas: Sequence[ActionSchema], least: int) -> Grammar:
    """The actions, in any order, to the end of the domain or a quantifier's header."""
    rules = Rules()
    listed = many(_actions(rules, declared, schemas), len(schemas), least)
    return _stage(rules, "actions", listed.then(_END))


def rest_of_action(
    declared: Declarations,
    action: ActionSchema,
    others: Sequence[ActionSchema],
    open_: Sequence[Block],
) -> Grammar:
    """What is left of an action whose blocks `open_` are not closed, and the actions after it."""
    rules = Rules()
    scope = _scope(rules, declared, action)
    slot = [item.name for item in open_[0].items if isinstance(item, Word)][-1]
    if slot == ":effect":
        rest = rest_of_effect(scope, open_[1:])
    else:
        after = literally("_EFFECT").then(scope.effect())
        rest = rest_of_condition(scope, open_[1:]).then(after)
    listed = many(_actions(rules, declared, others), len(others))
    return _stage(rules, "actions", rest.then(_END).then(listed).then(_END))


def objects(declared: Declarations, allowed: Sequence[str] | None, opening: str) -> Grammar:
    """The problem's head and objects, to the beginning of `:init`."""
    rules = Rules()
    listed = _typed_list(new_name(allowed, declared.things), one_of(declared.types), MOST_OBJECTS)
    of_domain = rules.terminal(f"_OF_DOMAIN {one_of([declared.domain_name])} _C")
    names = rules.terminal(f"_OBJECTS {listed}")
    return rules.grammar("objects", f"{opening} {of_domain} [_REQUIREMENTS] [{names}] _INIT")


def more_objects(
    declared: Declarations, allowed: Sequence[str] | None, taken: Collection[str], typed: bool
) -> Grammar:
    rules = Rules()
    rest = _rest(new_name(allowed, taken), one_of(declared.types), MOST_OBJECTS, typed)
    return rules.grammar("objects", f"{rules.terminal(rest)} _INIT")


def added_object(
    declared: Declarations, name: str, types: Sequence[str], *, first: bool, typed: bool
) -> Grammar:
    """A name of the terminal `name` with one of the `types`, at the end of the list."""
    rules = Rules()
    head = "_OBJECTS" if first else "" if typed else f"_DASH {rules.names(declared.types)}"
    added = rules.terminal(f"_B1 {name} _DASH {one_of(types)}")
    return rules.grammar("objects", f"{head} {added} _C _INIT")


def facts(declared: Declarations) -> Grammar:
    rules = Rules()
    return rules.grammar("facts", f"{_facts(rules, declared)} _C")


def no_more_facts() -> Grammar:
    """Nothing but the end of `:init`."""
    return Rules().grammar("facts", "_C")


def facts_and_goal(declared: Declarations) -> Grammar:
    """To the end of the answer, or a quantifier's header in the goal."""
    rules = Rules()
    before = literally(f"{_facts(rules, declared)} _C _GOAL")
    goal = _goal_scope(rules, declared).condition()
    return _stage(rules, "facts", before.then(goal).then(literally("_C _CLOSE")))


def rest_of_goal(declared: Declarations, open_: Sequence[Block]) -> Grammar:
    rules = Rules()
    rest = rest_of_condition(_goal_scope(rules, declared), open_[1:])
    return _stage(rules, "facts", rest.then(literally("_C _CLOSE")))


def _typed_list(name: str, kind: str, most: int) -> str:
    """Names, perhaps with a type, and comments, to the closing bracket: all of it one terminal, for
    the blank behind a name may begin its type or the next name. `name` may be ""."""
    return f"({_entry(name, kind)} | _COMMENT) ~ 0 .. {most} _C" if name else "_C"


def _rest(name: str, kind: str, most: int, typed: bool) -> str:
    """What may follow the last entry of a typed list, which has a type already or not."""
    return f"{'' if typed else f'(_DASH {kind})?'} {_typed_list(name, kind, most)}"


def _entry(name: str, kind: str) -> str:
    return f"_B1 {name} (_DASH {kind})?"


def _predicates(rules: Rules, declared: Declarations, taken: Collection[str]) -> str:
    variable = f"(_VARIABLE (_DASH {one_of(declared.known_types)})?) ~ 0 .. {MOST_PARAMETERS}"
    predicate = rules.terminal(f"_O {name_except([*RESERVED, *taken])} {variable} _C")
    return some(rules.rule("_predicate", [predicate, "_COMMENT"]), MOST_PREDICATES)


def _facts(rules: Rules, declared: Declarations) -> str:
    fact = atoms(rules, declared.predicates, Pools(declared, declared.things))
    return some(rules.rule("_fact", [fact, "_COMMENT"] if fact else []), MOST_FACTS)


def _goal_scope(rules: Rules, declared: Declarations) -> Scope:
    return Scope(rules, declared, declared.things, MOST_QUANTIFIERS)


def _scope(rules: Rules, declared: Declarations, action: ActionSchema) -> Scope:
    terms = dict(action.parameters) | declared.things
    return Scope(rules, declared, terms, MOST_QUANTIFIERS)


def _stage(rules: Rules, name: str, piece: Piece) -> Grammar:
    return rules.grammar(name, rules.shared([text for text in (piece.whole, piece.begun) if text]))


def _actions(rules: Rules, declared: Declarations, schemas: Sequence[ActionSchema]) -> Piece:
    """One of the actions."""
    return either(rules, [_action(rules, declared, action) for action in schemas])


def _action(rules: Rules, declared: Declarations, action: ActionSchema) -> Piece:
    scope = _scope(rules, declared, action)
    condition = either(rules, [scope.condition(), literally("_EMPTY")])
    precondition = either(rules, [literally("_PRECONDITION").then(condition), literally("()")])
    effect = literally("_EFFECT").then(scope.effect())
    return literally(rules.terminal(action.header)).then(precondition).then(effect).then(_END)

"""The grammar of each part of a problem, from what the domain and the parts before it declare (see
`pddl`). Each function adds a stage's rules, and gives the start that stands for the stage.
"""

from collections.abc import Collection, Sequence

from pddlego_local.decoding.grammars.builder import Rules, rest_of_list, some, typed_list
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.staged.atoms import OF_FACTS, Facts, Pools, atoms, atoms_except
from pddlego_local.decoding.staged.bodies import (
    MOST_QUANTIFIERS,
    More,
    Piece,
    Scope,
    rest_of_condition,
)
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import facts_at_once, most_facts
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.pddl.reader import Block

_END_OF_ANSWER = Piece("_C _CLOSE")


def objects(
    rules: Rules, names: NewNames, declared: Declarations, most: int, opening: str = ""
) -> str:
    """The problem's head and objects. `opening` is the terminal that the problem begins with; ""
    where that is written."""
    begin = rules.begin(opening) if opening else ""
    title = rules.terminal(f"_B1 {names.any()} _C")
    of_domain = rules.terminal(f"_OF_DOMAIN {one_of([declared.domain_name])} _C")
    name = names.thing(declared.things)
    listed = rules.terminal(f"_OBJECTS {typed_list(rules, name, one_of(declared.types), most)}")
    return f"{begin} {title} {of_domain} {listed}"


def more_objects(
    rules: Rules,
    names: NewNames,
    declared: Declarations,
    taken: Collection[str],
    typed: bool,
    most: int,
) -> str:
    name, left = names.thing(taken), most + len(declared.things) - len(taken)
    return rules.terminal(rest_of_list(rules, name, one_of(declared.types), left, typed))


def added_object(
    rules: Rules, declared: Declarations, name: str, types: Sequence[str], *, typed: bool
) -> str:
    """A name of the terminal `name` with one of the `types`, at the end of the list."""
    before = "" if typed else f"_DASH {one_of(declared.types)}"
    return rules.terminal(f"{before} _B1 {name} _DASH {one_of(types)} _C")


def facts(rules: Rules, declared: Declarations) -> str:
    """All of `:init`."""
    begin = rules.begin("_INIT")
    return f"{begin} {some(_fact(rules, declared, {}), most_facts(len(declared.things)))} _C"


def more_facts(rules: Rules, declared: Declarations, said: Facts, count: int) -> str:
    """What may follow `count` facts in `:init`; none of those `said` comes again."""
    left = max(most_facts(len(declared.things)) - count, 0)
    return f"{some(_fact(rules, declared, said), left)} _C"


def facts_and_goal(rules: Rules, declared: Declarations) -> str:
    """To the end of the answer, to where facts are looked at, or to a quantifier's header."""
    begin = Piece(rules.begin("_INIT") or "()")
    return begin.then(_facts_and_goal(rules, declared, {}, 0)).start(rules)


def more_facts_and_goal(rules: Rules, declared: Declarations, said: Facts, count: int) -> str:
    """What may follow `count` facts; none of those `said` comes again."""
    return _facts_and_goal(rules, declared, said, count).start(rules)


def any_goal(rules: Rules, declared: Declarations) -> str:
    """From the goal to the end of the answer."""
    return _goal(rules, declared).start(rules)


def rest_of_goal(rules: Rules, declared: Declarations, open_: Sequence[Block], more: More) -> str:
    """Of a goal whose blocks `open_` are not closed, the innermost of which gains `more`."""
    rest = rest_of_condition(_goal_scope(rules, declared), open_[1:], more)
    return rest.then(_END_OF_ANSWER).start(rules)


def _facts_and_goal(rules: Rules, declared: Declarations, said: Facts, count: int) -> Piece:
    fact = _fact(rules, declared, said)
    left = max(most_facts(len(declared.things)) - count, 0)
    end = Piece("_C").then(_goal(rules, declared))
    most = facts_at_once(len(declared.things))
    whole = Piece(some(fact, min(left, most - 1)) or "()").then(end)
    if left < most or not fact:
        return whole
    full = some(fact, most, most)
    return Piece(whole.whole, rules.shared([text for text in (whole.begun, full) if text]))


def _fact(rules: Rules, declared: Declarations, said: Facts) -> str:
    pools = Pools(declared, declared.things)
    if said:
        fact = atoms_except(rules, declared.predicates, pools, said, spelling=OF_FACTS)
    else:
        fact = atoms(rules, declared.predicates, pools, spelling=OF_FACTS)
    return rules.rule("_fact", [fact, *rules.comment] if fact else [])


def _goal(rules: Rules, declared: Declarations) -> Piece:
    condition = _goal_scope(rules, declared).condition()
    return Piece("_GOAL").then(condition).then(_END_OF_ANSWER)


def _goal_scope(rules: Rules, declared: Declarations) -> Scope:
    return Scope(rules, declared, declared.things, MOST_QUANTIFIERS)

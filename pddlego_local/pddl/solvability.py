"""Explains why a task that the planner accepts has no plan, or an empty one.

The first test uses predicates alone. The second test uses the facts that are reachable
under delete relaxation, where a fact stays true once it is true. Actions become rules
that say which facts they need and which they make true or false. The result errs on one
side only: conditions under `when`, `or` and quantifiers are taken as met, so a fact
that is unreachable here is unreachable for the planner. The work is bounded: a task
beyond the bounds gets no second test.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.symbols import Symbols, by_name
from pddlego_local.pddl.task import (
    ActionDefinition,
    Condition,
    Domain,
    Literal,
    Problem,
    TypedName,
)

MOST_ACTIONS = 200
MOST_PARTS = 60  # parameters of one action, and literals of its precondition
MOST_STEPS = 20_000  # facts and objects tried; about 20 ms
MOST_FACTS_SHOWN = 5
OUT_OF_REACH = "no action can make"
NOT_IN_INIT = " and the fact is not in `:init`"
LONGEST_CHAIN = 4  # of actions, each of which needs an effect of the next one

Fact = tuple[str, ...]
"""("at", "kitchen"), or ("not at", "kitchen") for its negation: no name contains a
space.
"""
Binding = Mapping[str, str]


class TooLarge(Exception):
    """The task is too large to be explored within the bounds."""


def fact_of(literal: Literal, binding: Binding | None = None) -> Fact:
    """Returns the literal as a fact, with its variables replaced by their values in
    `binding`.
    """
    predicate, *terms = literal.atom.key
    if binding:
        terms = [binding.get(term, term) for term in terms]
    return (f"not {predicate}" if literal.negated else predicate, *terms)


def unified(
    pattern: Fact, fact: Fact, variables: Mapping[str, TypedName]
) -> dict[str, str] | None:
    """Returns the variable binding that makes `pattern` equal `fact`, or None if there
    is none.

    "" in the fact stands for any object.
    """
    binding: dict[str, str] = {}
    for term, value in zip(pattern[1:], fact[1:], strict=True):
        if value in ("", term):
            continue
        if term not in variables or binding.setdefault(term, value) != value:
            return None
    return binding


class Rule:
    """An action as a rule of the delete relaxation.

    `needs` are the positive conditions, which bind variables. `tests` are evaluated
    when all variables are bound: equalities and negated facts.
    """

    def __init__(self, action: ActionDefinition) -> None:
        required = [
            lit
            for lit in action.precondition.literals
            if lit.required and not lit.scope
        ]
        self.action = action
        self.variables = by_name(action.parameters)
        self.tests = [
            lit for lit in required if lit.negated or lit.atom.predicate.name == "="
        ]
        self.needs = [literal for literal in required if literal not in self.tests]
        self.effects = action.effect.changes
        self.needed_names = {fact_of(literal)[0] for literal in required}
        self.effect_names = {fact_of(literal)[0] for literal in self.effects}


def _is_readable(domain: Domain, symbols: Symbols) -> bool:
    """Whether rules describe the task completely and within bounds: no derived
    predicates, no misleading names, and not too many parts for the recursion.
    """
    predicates = [predicate.word.name for predicate in domain.predicates or ()]
    changes = [change for action in domain.actions for change in action.effect.changes]
    parts = [
        part for a in domain.actions for part in (a.parameters, a.precondition.literals)
    ]
    return (
        not domain.axioms
        and symbols.types.comparable
        and len(domain.actions) <= MOST_ACTIONS
        and len(set(predicates)) == len(predicates)
        and all(name[0] != "?" for name in symbols.objects)
        and all(
            quantified.name[0] == "?"
            for change in changes
            for quantified in change.scope
        )
        and all(len(part) <= MOST_PARTS for part in parts)
    )


class Relaxation:
    """The facts reachable under delete relaxation, for a pair without syntax or symbol
    faults.
    """

    def __init__(self, domain: Domain, problem: Problem, symbols: Symbols) -> None:
        """Raises TooLarge if the task cannot be described by rules within the
        bounds.
        """
        if not _is_readable(domain, symbols):
            raise TooLarge
        self.symbols = symbols
        self.init = {fact.atom.key for fact in problem.init if not fact.negated}
        self.rules = [Rule(action) for action in domain.actions]
        self.reached = defaultdict[str, dict[Fact, None]](
            dict
        )  # by predicate, in order
        self._of_type: dict[frozenset[str], dict[str, None]] = {}
        self._steps = len(self.init)

    def holds(self, fact: Fact) -> bool:
        """Returns whether the fact has been reached so far. An equality is simply
        evaluated.
        """
        name = fact[0].removeprefix("not ")
        if name == "=":
            return (fact[1] == fact[2]) == (name == fact[0])
        false_at_first = name != fact[0] and (name, *fact[1:]) not in self.init
        return false_at_first or fact in self.init or fact in self.reached[fact[0]]

    def reach(self, targets: Iterable[Fact]) -> list[Fact]:
        """Explores until all `targets` are reached. Returns the unreachable ones.

        May be called only once. Raises TooLarge.
        """
        missing = [fact for fact in targets if not self.holds(fact)]
        rules = self._relevant(missing)
        new, first = sorted(self.init), True
        while missing and (new or first):
            delta = defaultdict[str, list[Fact]](list)
            for fact in new:
                delta[fact[0]].append(fact)
                self.reached[fact[0]][fact] = None
            found = [
                fact for rule in rules for fact in self._effects(rule, delta, first)
            ]
            new = [
                fact
                for fact in dict.fromkeys(found)
                if fact not in self.reached[fact[0]]
            ]
            first = False
            missing = [
                fact for fact in missing if fact not in new and not self.holds(fact)
            ]
        return missing

    def objects_for(self, variable: TypedName) -> dict[str, None]:
        """Returns the objects that the variable may stand for, in order of
        declaration.
        """
        types = variable.type_names
        if types not in self._of_type:
            objects = self.symbols.objects
            self._steps += len(objects)
            self._of_type[types] = self.symbols.types.instances(types, objects.values())
        return self._of_type[types]

    def matches(
        self,
        rule: Rule,
        need: Literal,
        binding: Binding,
        facts: Iterable[Fact] | None = None,
    ) -> Iterator[Binding]:
        """Yields the extensions of `binding` that make `need` one of `facts`.

        If `facts` is None, all facts that have been reached are tried.
        """
        pattern = fact_of(need, binding)
        if facts is None and not any(term in rule.variables for term in pattern[1:]):
            self._step()
            if self.holds(pattern):
                yield binding
            return
        for fact in self.reached[pattern[0]] if facts is None else facts:
            self._step()
            found = unified(pattern, fact, rule.variables)
            if found is not None and all(
                value in self.objects_for(rule.variables[term])
                for term, value in found.items()
            ):
                yield {**binding, **found}

    def _relevant(self, goals: Iterable[Fact]) -> list[Rule]:
        """The rules with an effect that the goals or another such rule need, by
        predicate names.
        """
        names = {fact[0] for fact in goals}
        rules: list[Rule] = []
        while new := [
            r for r in self.rules if r not in rules and r.effect_names & names
        ]:
            rules += new
            names.update(*(rule.needed_names for rule in new))
        return rules

    def _effects(
        self, rule: Rule, delta: dict[str, list[Fact]], first: bool
    ) -> Iterator[Fact]:
        """The effects of the rule for all bindings in which a fact of `delta` meets a
        condition.
        """
        if not all(self.objects_for(variable) for variable in rule.variables.values()):
            return
        if any(fact_of(test)[0] in delta for test in rule.tests) or (
            first and not rule.needs
        ):
            yield from self._results(rule, self.joined(rule, rule.needs, {}))
            return
        for number, need in enumerate(rule.needs):
            others = rule.needs[:number] + rule.needs[number + 1 :]
            for binding in self.matches(
                rule, need, {}, delta.get(need.atom.predicate.name, ())
            ):
                yield from self._results(rule, self.joined(rule, others, binding))

    def joined(
        self, rule: Rule, needs: list[Literal], binding: Binding
    ) -> Iterator[Binding]:
        """Yields the extensions of `binding` under which all `needs` have been
        reached.
        """
        if not needs:
            yield binding
            return
        free = [
            sum(t in rule.variables for t in fact_of(need, binding)[1:])
            for need in needs
        ]
        chosen = free.index(min(free))
        others = needs[:chosen] + needs[chosen + 1 :]
        for extended in self.matches(rule, needs[chosen], binding):
            yield from self.joined(rule, others, extended)

    def _results(self, rule: Rule, bindings: Iterator[Binding]) -> Iterator[Fact]:
        for binding in bindings:
            for tested in self._bound(rule.tests, binding, rule.variables):
                if not all(self.holds(fact_of(test, tested)) for test in rule.tests):
                    continue
                for effect in rule.effects:
                    yield from self._instances(rule, effect, tested)

    def _instances(
        self, rule: Rule, effect: Literal, binding: Binding
    ) -> Iterator[Fact]:
        scope = by_name(effect.scope)
        outside = {term: value for term, value in binding.items() if term not in scope}
        for full in self._bound([effect], outside, {**rule.variables, **scope}):
            self._step()
            yield fact_of(effect, full)

    def _bound(
        self,
        literals: list[Literal],
        binding: Binding,
        variables: Mapping[str, TypedName],
    ) -> Iterator[Binding]:
        """Extends `binding` to all variables of the literals, by every object of their
        types.
        """
        terms = dict.fromkeys(t for literal in literals for t in literal.atom.key[1:])
        free = [term for term in terms if term in variables and term not in binding]
        if not free:
            yield binding
            return
        for name in self.objects_for(variables[free[0]]):
            self._step()
            yield from self._bound(literals, {**binding, free[0]: name}, variables)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLarge


def why_no_plan(
    domain: Domain, problem: Problem, symbols: Symbols, texts: tuple[str, str]
) -> tuple[Fault, ...]:
    """Returns, in order, warnings about why the plan is missing or empty. The pair must
    have no syntax or symbol faults.
    """
    domain_log, problem_log = (
        FaultLog("domain", texts[0]),
        FaultLog("problem", texts[1]),
    )
    changes = [change for action in domain.actions for change in action.effect.changes]
    added = {c.atom.predicate.name for c in changes if not c.negated} | symbols.derived
    deleted = {c.atom.predicate.name for c in changes if c.negated} | symbols.derived
    init = {fact.atom.key for fact in problem.init if not fact.negated}
    possible = added | {key[0] for key in init} | {"="}
    valued = {value.function[0] for value in problem.values}
    for action in domain.actions:
        _warn_of_action(action, possible, valued, domain_log)
    goal = problem.goal
    if goal is not None and symbols.derived.isdisjoint(
        literal.atom.predicate.name for literal in goal.literals
    ):
        unmet = [literal for literal in goal.literals if not _holds(literal, init)]
        if goal.plain and not unmet and problem.goal_block is not None:
            problem_log.warn(problem.goal_block, _of_a_goal_that_is_true(goal))
        required = [literal for literal in unmet if literal.required]
        changed = {True: deleted, False: added}
        hopeless = [
            one
            for one in required
            if one.atom.predicate.name not in changed[one.negated]
        ]
        for literal in hopeless:
            done, more = ("deletes", "") if literal.negated else ("adds", NOT_IN_INIT)
            _warn_of(
                literal,
                f"no action {done} `{literal.atom.predicate}`{more}",
                problem_log,
            )
        if not hopeless:
            _warn_of_unreached(required, domain, problem, symbols, problem_log)
    return domain_log.in_order() + problem_log.in_order()


def _holds(literal: Literal, init: set[tuple[str, ...]]) -> bool:
    key = literal.atom.key
    true = key[1] == key[2] if key[0] == "=" and len(key) == 3 else key in init
    return true != literal.negated


def _warn_of_action(
    action: ActionDefinition, possible: set[str], valued: set[str], log: FaultLog
) -> None:
    never = f"action `{action.word}` can never be used"
    for literal in action.precondition.literals if action.precondition.plain else ():
        predicate = literal.atom.predicate
        if not literal.negated and predicate.name not in possible:
            why = f"no action adds `{predicate}` and `:init` has no such fact"
            log.warn(literal.atom.block, f"{never}: {why}")
    function = action.effect.cost and action.effect.cost.predicate
    if function and not function.name.isdigit() and function.name not in valued:
        value = f"no value `(= ({function} …) number)`"
        log.warn(function, f"{never}: `:init` gives its cost `{function}` {value}")


def _warn_of(literal: Literal, reason: str, log: FaultLog) -> None:
    """Warns that a literal of the goal is unreachable."""
    truth = "false" if literal.negated else "true"
    log.warn(literal.atom.block, f"{OUT_OF_REACH} `{literal.atom}` {truth}: {reason}")


def _of_a_goal_that_is_true(goal: Condition) -> str:
    if not goal.literals:
        return (
            "the goal asks for nothing, so it already holds and the plan is empty: "
            "name the facts that are to be made true"
        )
    facts = [f"`{literal}`" for literal in goal.literals]
    shown = [*facts[:MOST_FACTS_SHOWN], *["…"] * (len(facts) > MOST_FACTS_SHOWN)]
    holds = "already holds" if len(facts) == 1 else "already hold"
    return (
        f"the goal {', '.join(shown)} {holds} in `:init`, so the plan is empty: "
        "ask for something that is not true yet, or correct `:init`"
    )


def _warn_of_unreached(
    literals: list[Literal],
    domain: Domain,
    problem: Problem,
    symbols: Symbols,
    log: FaultLog,
) -> None:
    """Warns of each unreachable literal of the goal, or of none if the task is too
    large.
    """
    try:
        relaxation = Relaxation(domain, problem, symbols)
        missing = set(relaxation.reach(map(fact_of, literals)))
        unreached = [literal for literal in literals if fact_of(literal) in missing]
        reasons = [_reason(relaxation, fact_of(literal)) for literal in unreached]
    except TooLarge:
        return
    for literal, reason in zip(unreached, reasons, strict=True):
        _warn_of(literal, reason, log)


def _reason(relaxation: Relaxation, fact: Fact) -> str:
    """The chain of unreachable conditions behind an unreachable fact: an action that
    might add the fact needs another unreachable fact, and so on. May raise TooLarge.
    """
    chain, seen, end = dict[str, None](), set[Fact](), "nothing makes that true"
    while fact not in seen and len(chain) < LONGEST_CHAIN:
        seen.add(fact)
        attempts = sorted(
            _attempts(relaxation, fact), key=lambda attempt: bool(attempt[2])
        )
        if not attempts:
            break
        rule, binding, misfit = attempts[0]
        unmet = None if misfit else next(_unmet(relaxation, rule, binding), None)
        while not (misfit or unmet) and (only := _only_way(relaxation, rule, binding)):
            binding, unmet = only, next(_unmet(relaxation, rule, only), None)
        if unmet is None:
            why = misfit or "finds no objects that meet all its conditions"
            end = f"`{rule.action.word}` {why}"
            break
        chain[f"`{rule.action.word}` needs `{_shown(unmet, binding, relaxation)}`"] = (
            None
        )
        name, *terms = fact_of(unmet, binding)
        fact = (name, *("" if term in rule.variables else term for term in terms))
    return ", and ".join(filter(None, [", ".join(chain), end]))


def _attempts(
    relaxation: Relaxation, fact: Fact
) -> Iterator[tuple[Rule, Binding, str]]:
    """The rules that might add a fact ("" stands for any object), each with the binding
    from the fact and a message about a parameter whose type does not fit ("" if all
    fit).
    """
    for rule in relaxation.rules:
        for effect in rule.effects:
            variables = rule.variables | by_name(effect.scope)
            pattern = fact_of(effect)
            found = unified(pattern, fact, variables) if pattern[0] == fact[0] else None
            if found is None:
                continue
            odd = [
                v
                for t, v in found.items()
                if v not in relaxation.objects_for(variables[t])
            ]
            misfits = (variables[t] for t, v in found.items() if v in odd)
            own = {
                term: value for term, value in found.items() if term in rule.variables
            }
            yield rule, own, next(map(_misfit, misfits), "")


def _misfit(variable: TypedName) -> str:
    types = " or ".join(f"`{word}`" for word in variable.types)
    return f"takes for `{variable.word}` nothing but a {types}"


def _only_way(relaxation: Relaxation, rule: Rule, binding: Binding) -> Binding | None:
    """The binding extended by the only fact that meets some condition of the rule."""
    for need in rule.needs:
        ways = list(relaxation.matches(rule, need, binding))
        if len(ways) == 1 and ways[0] != binding:
            return ways[0]
    return None


def _unmet(relaxation: Relaxation, rule: Rule, binding: Binding) -> Iterator[Literal]:
    """The conditions of a rule that no reachable fact meets, each taken alone."""
    for need in rule.needs:
        if next(relaxation.matches(rule, need, binding), None) is None:
            yield need
    for test in rule.tests:
        fact = fact_of(test, binding)
        if not any(
            term in rule.variables for term in fact[1:]
        ) and not relaxation.holds(fact):
            yield test


def _shown(literal: Literal, binding: Binding, relaxation: Relaxation) -> str:
    objects = relaxation.symbols.objects
    bound = {name: str(objects[value].word) for name, value in binding.items()}
    terms = [bound.get(term.name, str(term)) for term in literal.atom.terms]
    atom = f"({' '.join([str(literal.atom.predicate), *terms])})"
    return f"(not {atom})" if literal.negated else atom

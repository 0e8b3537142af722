"""What could ever become true if nothing true were ever undone: the delete relaxation.

Actions become rules: which facts they need, and which they make true or false. It errs on one
side only. Conditions under `when`, `or` and quantifiers count as met, so what is out of reach here
is out of reach of the planner. The work is bounded: TooLarge is raised beyond it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pddlego_local.pddl.symbols import Symbols, by_name
from pddlego_local.pddl.task import ActionDefinition, Domain, Literal, Problem, TypedName

MOST_ACTIONS = 200
MOST_PARTS = 60  # parameters of one action, and literals of its precondition
MOST_STEPS = 20_000  # facts and objects tried; about 20 ms

Fact = tuple[str, ...]
"""("at", "kitchen"), or ("not at", "kitchen") for its falsity: no name contains a blank."""
Binding = Mapping[str, str]


class TooLarge(Exception):
    """The task is not to be explored within the bounds."""


def fact_of(literal: Literal, binding: Binding | None = None) -> Fact:
    """The literal as a fact, with the values of the binding for its variables."""
    predicate, *terms = literal.atom.key
    if binding:
        terms = [binding.get(term, term) for term in terms]
    return (f"not {predicate}" if literal.negated else predicate, *terms)


def unified(pattern: Fact, fact: Fact, variables: Mapping[str, TypedName]) -> dict[str, str] | None:
    """What the variables of the pattern stand for if it is the fact, in which "" is any object."""
    binding: dict[str, str] = {}
    for term, value in zip(pattern[1:], fact[1:], strict=True):
        if value in ("", term):
            continue
        if term not in variables or binding.setdefault(term, value) != value:
            return None
    return binding


class Rule:
    """An action without its deletions. `needs` are the positive conditions, which bind variables;
    `tests` come when all are bound: equality, and that a fact is false."""

    def __init__(self, action: ActionDefinition) -> None:
        required = [lit for lit in action.precondition.literals if lit.required and not lit.scope]
        self.action = action
        self.variables = by_name(action.parameters)
        self.tests = [lit for lit in required if lit.negated or lit.atom.predicate.name == "="]
        self.needs = [literal for literal in required if literal not in self.tests]
        self.effects = action.effect.changes
        self.needed_names = {fact_of(literal)[0] for literal in required}
        self.effect_names = {fact_of(literal)[0] for literal in self.effects}


def _is_readable(domain: Domain, symbols: Symbols) -> bool:
    """Whether rules tell all that can happen: no derived predicates, no names that stand for
    something else than they seem to, no more parts than a recursion should go through."""
    predicates = [predicate.word.name for predicate in domain.predicates or ()]
    changes = [change for action in domain.actions for change in action.effect.changes]
    parts = [part for a in domain.actions for part in (a.parameters, a.precondition.literals)]
    return (
        not domain.axioms
        and symbols.types.comparable
        and len(domain.actions) <= MOST_ACTIONS
        and len(set(predicates)) == len(predicates)
        and all(name[0] != "?" for name in symbols.objects)
        and all(quantified.name[0] == "?" for change in changes for quantified in change.scope)
        and all(len(part) <= MOST_PARTS for part in parts)
    )


class Relaxation:
    """The facts that are reachable, for a pair without faults of syntax and symbols."""

    def __init__(self, domain: Domain, problem: Problem, symbols: Symbols) -> None:
        """Raises TooLarge."""
        if not _is_readable(domain, symbols):
            raise TooLarge
        self.symbols = symbols
        self.init = {fact.atom.key for fact in problem.init if not fact.negated}
        self.rules = [Rule(action) for action in domain.actions]
        self.reached: dict[Fact, None] = dict.fromkeys(sorted(self.init))
        self.reached_with: defaultdict[str, list[Fact]] = defaultdict(list)  # by the predicate
        self._of_type: dict[frozenset[str], dict[str, None]] = {}
        self._steps = len(self.init)

    def holds(self, fact: Fact) -> bool:
        """Whether the fact is reachable as far as the exploration has come; equality is decided."""
        name = fact[0].removeprefix("not ")
        if name == "=":
            return (fact[1] == fact[2]) == (name == fact[0])
        return fact in self.reached or (name != fact[0] and (name, *fact[1:]) not in self.init)

    def reach(self, targets: Iterable[Fact]) -> list[Fact]:
        """Explores until all `targets` are reached; those that are out of reach. To be called
        once. Raises TooLarge."""
        missing = [fact for fact in targets if not self.holds(fact)]
        rules = self._relevant(missing)
        new, first = list(self.reached), True
        while missing and (new or first):
            delta: defaultdict[str, list[Fact]] = defaultdict(list)
            for fact in new:
                delta[fact[0]].append(fact)
                self.reached_with[fact[0]].append(fact)
            new = []
            for fact in (f for rule in rules for f in self._consequences(rule, delta, first)):
                if fact not in self.reached:
                    self.reached[fact] = None
                    new.append(fact)
            first = False
            missing = [fact for fact in missing if not self.holds(fact)]
        return missing

    def objects_for(self, variable: TypedName) -> dict[str, None]:
        """The objects that the variable may stand for, in the order of their declaration."""
        types = variable.type_names
        if types not in self._of_type:
            objects = self.symbols.objects
            self._steps += len(objects)
            self._of_type[types] = self.symbols.types.instances(types, objects.values())
        return self._of_type[types]

    def matches(
        self, rule: Rule, need: Literal, binding: Binding, facts: Iterable[Fact] | None = None
    ) -> Iterator[Binding]:
        """The bindings, each an extension of `binding`, that make the need one of `facts`, or of
        all that have been reached."""
        pattern = fact_of(need, binding)
        if facts is None and not any(term in rule.variables for term in pattern[1:]):
            self._step()
            if self.holds(pattern):
                yield binding
            return
        for fact in self.reached_with[pattern[0]] if facts is None else facts:
            self._step()
            found = unified(pattern, fact, rule.variables)
            if found is not None and all(
                value in self.objects_for(rule.variables[term]) for term, value in found.items()
            ):
                yield {**binding, **found}

    def _relevant(self, goals: Iterable[Fact]) -> list[Rule]:
        """The rules with an effect among the goals, or one that such a rule needs, by names."""
        names = {fact[0] for fact in goals}
        rules: list[Rule] = []
        while new := [r for r in self.rules if r not in rules and r.effect_names & names]:
            rules += new
            names.update(*(rule.needed_names for rule in new))
        return rules

    def _consequences(
        self, rule: Rule, delta: dict[str, list[Fact]], first: bool
    ) -> Iterator[Fact]:
        """The effects of the rule, applied where one of `delta` meets a condition of it."""
        if not all(self.objects_for(variable) for variable in rule.variables.values()):
            return
        if any(fact_of(test)[0] in delta for test in rule.tests) or (first and not rule.needs):
            yield from self._results(rule, self.joined(rule, rule.needs, {}))
            return
        for number, need in enumerate(rule.needs):
            others = rule.needs[:number] + rule.needs[number + 1 :]
            for binding in self.matches(rule, need, {}, delta.get(need.atom.predicate.name, ())):
                yield from self._results(rule, self.joined(rule, others, binding))

    def joined(self, rule: Rule, needs: list[Literal], binding: Binding) -> Iterator[Binding]:
        """The extensions of `binding` under which all the needs are reached."""
        if not needs:
            yield binding
            return
        free = [sum(t in rule.variables for t in fact_of(need, binding)[1:]) for need in needs]
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

    def _instances(self, rule: Rule, effect: Literal, binding: Binding) -> Iterator[Fact]:
        scope = by_name(effect.scope)
        outside = {term: value for term, value in binding.items() if term not in scope}
        for full in self._bound([effect], outside, {**rule.variables, **scope}):
            self._step()
            yield fact_of(effect, full)

    def _bound(
        self, literals: list[Literal], binding: Binding, variables: Mapping[str, TypedName]
    ) -> Iterator[Binding]:
        """`binding` extended to all variables of the literals, by every object of their types."""
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

"""Why a fact is out of reach: the chain of actions and conditions down to a dead end."""

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego_local.pddl.relaxation import Binding, Fact, Relaxation, Rule, fact_of, unified
from pddlego_local.pddl.symbols import by_name
from pddlego_local.pddl.task import Literal, TypedName

LONGEST_CHAIN = 4  # actions followed before the reason is cut short
MOST_ACTIONS = 3  # that one message tells of


@dataclass(slots=True)
class _Attempt:
    """A rule that has a fact as its effect if its variables are bound so; `misfit` is one of them
    whose type does not allow that."""

    rule: Rule
    binding: Binding
    misfit: TypedName | None = None


class Obstacles:
    """Says in words why facts are out of reach once an exploration has ended.

    May raise TooLarge, as the exploration may.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation

    def of(self, literal: Literal) -> str:
        """The second half of "no action can make … true: …", for a literal without variables."""
        fact = fact_of(literal)
        attempts = self._attempts(fact)
        if not attempts:
            verb = "deletes it" if literal.negated else "adds it"
            return f"no action {verb}" + ("" if literal.negated else " and it is not in `:init`")
        if len(attempts) == 1:
            return self._only(attempts[0], (fact,))
        reasons = [
            f"`{attempt.rule.action.word}` could, but {self._because(attempt, None)}"
            for attempt in attempts[:MOST_ACTIONS]
        ]
        return "; ".join(reasons) + ("; …" if len(attempts) > MOST_ACTIONS else "")

    def _attempts(self, fact: Fact) -> list[_Attempt]:
        """One attempt for each action that might add `fact`, where "" stands for any object."""
        attempts = []
        for rule in self.relaxation.rules:
            attempted = (self._attempt(rule, effect, fact) for effect in rule.effects)
            tried = [attempt for attempt in attempted if attempt is not None]
            if tried:
                attempts.append(min(tried, key=lambda attempt: attempt.misfit is not None))
        return attempts

    def _attempt(self, rule: Rule, effect: Literal, fact: Fact) -> _Attempt | None:
        pattern = fact_of(effect)
        if pattern[0] != fact[0]:
            return None
        scope = by_name(effect.scope)
        variables = rule.variables | scope
        binding = unified(pattern, fact, variables)
        if binding is None:
            return None
        for term, value in binding.items():
            if value not in self.relaxation.objects_for(variables[term]):
                return _Attempt(rule, binding, misfit=variables[term])
        return _Attempt(rule, {t: value for t, value in binding.items() if t not in scope})

    def _only(self, attempt: _Attempt, chain: tuple[Fact, ...]) -> str:
        return f"only `{attempt.rule.action.word}` could, and {self._because(attempt, chain)}"

    def _because(self, attempt: _Attempt, chain: tuple[Fact, ...] | None) -> str:
        """Why the attempt fails; with `chain`, the facts that led here, what stands behind it."""
        variable = attempt.misfit
        if variable is not None:
            value = self._spelled(attempt.binding[variable.name])
            return f"its `{variable.word}` must be {_types(variable)}, which `{value}` is not"
        for variable in attempt.rule.variables.values():
            if not self.relaxation.objects_for(variable):
                return f"there is no object for its `{variable.word}`, {_types(variable)}"
        unmet = next(self._unmet(attempt), None)
        if unmet is not None:
            return self._unmet_because(attempt, unmet, chain)
        return self._apart(attempt, chain)

    def _unmet_because(
        self, attempt: _Attempt, need: Literal, chain: tuple[Fact, ...] | None
    ) -> str:
        """Why a condition is never met, followed to the actions that might have met it."""
        rule, shown = attempt.rule, self._shown(need, attempt.binding)
        if need.atom.predicate.name == "=":
            return f"it needs `{shown}`, which is not so"
        pattern = fact_of(need, attempt.binding)
        fact = (pattern[0], *("" if term in rule.variables else term for term in pattern[1:]))
        others = self._attempts(fact)
        only_itself = len(others) == 1 and others[0].rule is rule and not any(fact[1:])
        if not others or only_itself or (chain and fact in chain):
            return f"it needs `{shown}`" + self._nowhere(rule, need, pattern, bool(others))
        if chain is None or len(others) > 1 or len(chain) == LONGEST_CHAIN:
            return f"it needs `{shown}`, which no action can bring about either"
        return f"it needs `{shown}`; for that, {self._only(others[0], (*chain, fact))}"

    def _nowhere(self, rule: Rule, need: Literal, pattern: Fact, in_circle: bool) -> str:
        """What there is to say of a condition that nothing but itself could bring about."""
        if need.negated:
            before = " before" if in_circle else ""
            return f", but `:init` says otherwise and no action deletes it{before}"
        misfit = self._misfit(rule, pattern)
        if misfit is not None:
            variable, value = misfit
            value = self._spelled(value)
            return f" with `{variable.word}` {_types(variable)}, which `{value}` is not"
        if in_circle:
            return ", of which there is none in `:init` to begin with"
        if any(term in rule.variables for term in pattern[1:]):
            return ", and no such fact is in `:init` and no action adds one"
        return ", which is not in `:init` and which no action adds"

    def _misfit(self, rule: Rule, pattern: Fact) -> tuple[TypedName, str] | None:
        """A variable of the pattern and the object that only its type keeps out."""
        for fact in self.relaxation.reached_with[pattern[0]]:
            unlike = [(t, v) for t, v in zip(pattern[1:], fact[1:], strict=True) if t != v]
            for term, value in unlike if all(t in rule.variables for t, _ in unlike) else ():
                variable = rule.variables[term]
                if value not in self.relaxation.objects_for(variable):
                    return variable, value
        return None

    def _unmet(self, attempt: _Attempt) -> Iterator[Literal]:
        """The conditions of the attempt that no reachable fact meets, each by itself."""
        rule, binding = attempt.rule, attempt.binding
        for need in rule.needs:
            if next(self.relaxation.matches(rule, need, binding), None) is None:
                yield need
        for test in rule.tests:
            fact = fact_of(test, binding)
            is_bound = not any(term in rule.variables for term in fact[1:])
            if is_bound and not self.relaxation.holds(fact):
                yield test

    def _apart(self, attempt: _Attempt, chain: tuple[Fact, ...] | None) -> str:
        """Why conditions that can each be met are never met at once.

        Where only one fact meets a condition, its objects are put for the variables, and another
        condition may turn out to be unmet; else two conditions are named that exclude each other.
        """
        rule, binding = attempt.rule, attempt.binding
        pair: tuple[Literal, Literal] | None = None
        for need in rule.needs:
            ways = list(self.relaxation.matches(rule, need, binding))
            if len(ways) == 1 and ways[0] != binding:
                fixed = _Attempt(rule, ways[0])
                condition, only = self._shown(need, binding), self._shown(need, ways[0])
                because = self._because(fixed, chain)
                return f"of `{condition}` only `{only}` can ever hold, so {because}"
            for literal in (*rule.needs, *rule.tests):
                tried = (_Attempt(rule, way) for way in ways)
                if pair is None and all(literal in self._unmet(attempt) for attempt in tried):
                    pair = need, literal
        if pair is None:
            return "no choice of objects meets all its conditions at once"
        first, second = (self._shown(literal, binding) for literal in pair)
        return f"it needs both `{first}` and `{second}`, which never hold for the same objects"

    def _shown(self, literal: Literal, binding: Binding) -> str:
        terms = [
            self._spelled(binding[term.name]) if term.name in binding else str(term)
            for term in literal.atom.terms
        ]
        atom = "(" + " ".join([str(literal.atom.predicate), *terms]) + ")"
        return f"(not {atom})" if literal.negated else atom

    def _spelled(self, name: str) -> str:
        return str(self.relaxation.symbols.objects[name].word)


def _types(variable: TypedName) -> str:
    names = " or ".join(f"`{word}`" for word in variable.types) or "`object`"
    return f"of the type {names}"

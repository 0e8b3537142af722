"""The ground task of Fast Downward's translator as an oracle for the judge of
states.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, Task
from pddlego_local.planner.warm import find_fast_downward

LIMIT_S = 120
SCRIPT = Path(__file__).with_name("ground.py")
MOST_SUCCESSORS = 10  # that are compared in one state

Literals = Sequence[tuple[bool, Fact]]


def grounding_of(domain: str, problem: str, most_actions: int) -> "Grounding | None":
    """Returns the ground task, or None if it has more actions or takes too long."""
    translator = find_fast_downward().translator
    command = [sys.executable, str(SCRIPT), str(translator), str(most_actions)]
    given = json.dumps([domain, problem])
    try:
        done = subprocess.run(
            command,
            input=given,
            encoding="utf-8",
            capture_output=True,
            timeout=LIMIT_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    found = json.loads(done.stdout)
    return None if found is None else Grounding(found)


@dataclass(frozen=True)
class GroundAction:
    """One of several ground actions of a name. Effects have conditions of their own."""

    needs: Literals
    adds: Sequence[tuple[Literals, Fact]]
    deletes: Sequence[tuple[Literals, Fact]]
    cost: int

    def after(self, facts: Set[Fact], true: Set[Fact]) -> frozenset[Fact]:
        """Returns the facts after the action; `true` are those with derived ones."""
        added = {fact for needs, fact in self.adds if _hold(needs, true)}
        deleted = {fact for needs, fact in self.deletes if _hold(needs, true)}
        return frozenset((facts - deleted) | added)


class Grounding:
    """The ground actions and axioms. Facts that no action can reach are not in it."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.fluents = {tuple(fact) for fact in found["fluents"]}
        self._goal = None if found["goal"] is None else _literals(found["goal"])
        self._actions = defaultdict[Fact, list[GroundAction]](list)
        for name, needs, adds, deletes, cost in found["actions"]:
            action = GroundAction(
                _literals(needs), _effects(adds), _effects(deletes), cost
            )
            self._actions[tuple(name.strip("()").split())].append(action)
        self._layers = defaultdict[int, list[tuple[Literals, Fact]]](list)
        self._heads = set[Fact]()
        for layer, condition, fact in found["axioms"]:
            self._layers[layer].append((_literals(condition), tuple(fact)))
            self._heads.add(tuple(fact))

    def difference(self, task: Task, state: State, possible: Sequence[Fact]) -> str:
        """Returns in what the judge differs about a state, or about what an action
        changes in it, "" if in nothing. Actions that change nothing are not in the
        ground task.
        """
        facts = state.facts & self.fluents
        true = self._with_derived(facts)
        named = {fact for fact in self._heads if "@" not in fact[0]}
        if odd := (true ^ state.derived) & named:
            return f"the translator differs about the derived {min(odd)}"
        if (self._goal is not None and _hold(self._goal, true)) != task.is_goal(state):
            return "the translator differs about the goal"
        theirs = {
            name
            for name, actions in self._actions.items()
            if any(_hold(action.needs, true) for action in actions)
        }
        if missing := theirs - set(possible):
            why = task.refusal(state, min(missing))
            return f"the judge says that {min(missing)} is impossible: {why}"
        for name in possible:
            successors = task.successors(state, name)
            changes = any(after.facts != state.facts for after in successors)
            if name not in theirs and changes:
                return f"the judge says that {name} is possible"
        for name in sorted(theirs)[:: len(theirs) // MOST_SUCCESSORS + 1]:
            their_successors = {
                (action.after(facts, true), action.cost)
                for action in self._actions[name]
                if _hold(action.needs, true)
            }
            our_successors = {
                (after.facts & self.fluents, after.cost - state.cost)
                for after in task.successors(state, name)
            }
            if their_successors != our_successors:
                return f"the translator differs about what {name} changes"
        return ""

    def _with_derived(self, facts: Set[Fact]) -> set[Fact]:
        true = set(facts)
        for layer in sorted(self._layers):
            before = -1
            while before < len(true):
                before = len(true)
                axioms = self._layers[layer]
                true |= {fact for needs, fact in axioms if _hold(needs, true)}
        return true


def _literals(condition: Iterable[Any]) -> Literals:
    return [(negated, tuple(fact)) for negated, fact in condition]


def _effects(pairs: Iterable[Any]) -> list[tuple[Literals, Fact]]:
    return [(_literals(condition), tuple(fact)) for condition, fact in pairs]


def _hold(condition: Literals, true: Set[Fact]) -> bool:
    return all((fact in true) != negated for negated, fact in condition)

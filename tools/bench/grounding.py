"""The ground task of Fast Downward's translator as an oracle for the judge of
states.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
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
    command = [
        sys.executable,
        str(SCRIPT),
        str(find_fast_downward().translator),
        str(most_actions),
    ]
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


class Grounding:
    """The ground actions and axioms. Facts that no action can reach are not in it."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.fluents = {tuple(fact) for fact in found["fluents"]}
        self._goal = None if found["goal"] is None else _literals(found["goal"])
        self._actions = defaultdict[Fact, list[Any]](list)
        for name, needs, adds, deletes, cost in found["actions"]:
            key = tuple(name.strip("()").split())
            changes = [
                [(_literals(c), tuple(f)) for c, f in part] for part in (adds, deletes)
            ]
            self._actions[key].append((_literals(needs), *changes, cost))
        self._layers = defaultdict[int, list[tuple[Literals, Fact]]](list)
        for layer, condition, fact in found["axioms"]:
            self._layers[layer].append((_literals(condition), tuple(fact)))

        self._heads = {fact for axioms in self._layers.values() for _, fact in axioms}

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
            for name, every in self._actions.items()
            if any(_hold(a[0], true) for a in every)
        }
        if missing := theirs - set(possible):
            why = task.refusal(state, min(missing))
            return f"the judge says that {min(missing)} is impossible: {why}"
        for name in possible:
            ours = [*task.successors(state, name)]
            if name not in theirs and any(one.facts != state.facts for one in ours):
                return f"the judge says that {name} is possible"
        for name in sorted(theirs)[:: len(theirs) // MOST_SUCCESSORS + 1]:
            ways = [a for a in self._actions[name] if _hold(a[0], true)]
            after = {(frozenset(self._after(a, facts, true)), a[3]) for a in ways}
            ours = [*task.successors(state, name)]
            if after != {
                (one.facts & self.fluents, one.cost - state.cost) for one in ours
            }:
                return f"the translator differs about what {name} changes"
        return ""

    def _after(self, action: Any, facts: Set[Fact], true: Set[Fact]) -> Set[Fact]:
        _, adds, deletes, _ = action
        added = {fact for condition, fact in adds if _hold(condition, true)}
        deleted = {fact for condition, fact in deletes if _hold(condition, true)}
        return (facts - deleted) | added

    def _with_derived(self, facts: Set[Fact]) -> set[Fact]:
        true = set(facts)
        for layer in sorted(self._layers):
            new = True
            while new:
                found = {
                    fact for needs, fact in self._layers[layer] if _hold(needs, true)
                }
                new = bool(found - true)
                true |= found
        return true


def _literals(condition: Iterable[Any]) -> Literals:
    return [(negated, tuple(fact)) for negated, fact in condition]


def _hold(condition: Literals, true: Set[Fact]) -> bool:
    return all((fact in true) != negated for negated, fact in condition)

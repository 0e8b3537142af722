"""The rule-based reference formalizer: not a language model.

It answers as a perfect model would, from the same memory: the PDDL, the edit, the
sub-goals, the next action. It shows the best possible result of every environment and
tests every method without weights. The rules of an environment are in
`environments/<name>/reference.py`:

    formalize(memory, goal="", offered=())            for the task, or for one sub-goal
                                                      in words;
        -> (domain, problem)                          `offered`: the commands to choose
                                                      from, if any
    otherwise(memory) -> iterable of (domain,         optional: what to plan for if
        problem)                                      there is no plan for the task
    problem(memory) -> str                            for the hand-written domain
    subgoals(memory) -> tuple[str, ...]               what remains to be done, in words
    parallel(memory) -> tuple of tuple[str, ...]      optional: the same in groups that
                                                      may each be done in any order
    contents(memory) -> (closed, items)               only if the environment has
                                                      `wanted` things
    command(planned) -> str | None                    the game's command for a planned
                                                      action
"""

import json
import math
import time
from dataclasses import field
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Sampling, Turns
from pddlego_local.decoding.forms import PARALLEL_GOALS
from pddlego_local.decoding.question import (
    AnyQuestion,
    Drawn,
    GrammarContext,
    WholeAnswerModel,
)
from pddlego_local.environments import family
from pddlego_local.pddl.edit import difference
from pddlego_local.planner import FastDownward, Limits


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class ReferenceFormalizer(WholeAnswerModel):
    """The rule-based model, which is deterministic and uses no tokens.

    To name an action, it plans with the PDDL that it would write and takes the plan's
    first action. Whether there is a plan for the task is asked of a fast search with a
    short limit, since it is asked before every answer.
    """

    _planner: FastDownward = field(
        default_factory=FastDownward, init=False, repr=False, compare=False
    )

    _fast: FastDownward = field(
        default_factory=lambda: FastDownward(
            search="lama_first", limits=Limits(cpu_s=10)
        ),
        init=False,
        repr=False,
        compare=False,
    )

    def identity(self) -> dict[str, str]:
        return {"backend": "reference", "note": "rule-based, not a language model"}

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        """Answers a question by rules.

        Raises ConfigError for an environment or a form without rules, and for your own
        prompt.
        """
        if not question.context.environment:
            raise ConfigError(
                "model=reference knows only the questions of games; choose a language"
                " model"
            )
        began = time.perf_counter()
        rules = family.reference(question.context.environment)
        text = json.dumps(self._answer(question, rules))
        return Drawn(Completion(text, "stop", 0, 0, time.perf_counter() - began))

    def close(self) -> None:
        self._planner.close()
        self._fast.close()

    def _answer(self, question: AnyQuestion, rules: Any) -> dict[str, Any]:
        context = question.context
        memory = context.memory
        match question.form.name:
            case "pddl":
                domain, problem = self._files(rules, memory)
                return {"df": domain, "pf": problem}
            case "domain":
                return {"df": rules.formalize(memory)[0]}
            case "problem" if context.own_goal:
                # The domain came from the reference itself.
                return {"pf": self._files(rules, memory)[1]}
            case "problem":
                return {"pf": rules.problem(memory)}
            case "edit":
                return difference(context.problem, rules.problem(memory))
            case "seen":
                closed, items = rules.contents(memory)
                return {"closed": list(closed), "items": list(items)}
            case "command":
                return {"action": self._next_command(context, rules)}
            case "move":
                return {"kind": "act", "text": self._next_command(context, rules)}
            case "goals":
                goals = self._goals(rules, question)
                return {"goals": goals or ["wait: all is done"]}
            case "choice" if not context.subgoal:
                return self._nearest(context, rules)
            case "choice":
                return self._choice(context, rules)
            case "text":
                text = "The reference formalizer has nothing to say about this."
                return {"text": text}
        raise ConfigError(
            "model=reference has no rules for answers of the form"
            f" {question.form.name!r}"
        )

    def _goals(self, rules: Any, question: AnyQuestion) -> list[str]:
        """Returns the sub-goals, with "also" before those that may come before the one
        that they follow, if the question asks for that.
        """
        memory = question.context.memory
        parallel = getattr(rules, "parallel", None)
        if question.form is not PARALLEL_GOALS or parallel is None:
            return list(rules.subgoals(memory))
        return [
            f"also {goal}" if number else goal
            for group in parallel(memory)
            for number, goal in enumerate(group)
        ]

    def _files(self, rules: Any, memory: Turns) -> tuple[str, str]:
        """Returns the files for the task, or if it has no plan yet, those among the
        rules' others with the shortest plan.
        """
        files: tuple[str, str] = rules.formalize(memory)
        others = getattr(rules, "otherwise", None)
        if others is None or self._fast.plan(*files).plan:
            return files
        plans = {other: self._fast.plan(*other).plan for other in others(memory)}
        reachable = [other for other, plan in plans.items() if plan]
        return min(reachable, key=lambda other: len(plans[other]), default=files)

    def _choice(self, context: GrammarContext, rules: Any) -> dict[str, Any]:
        """Chooses a numbered command for the sub-goal of the question.

        The number 0 means unreachable; the number after the last command means done.
        """
        commands, goal = context.commands, context.subgoal
        if goal not in rules.subgoals(context.memory):
            return {"reason": f"Done: {goal}.", "number": len(commands) + 1}
        plan = self._plan(rules, context, goal)
        # If two receptacles share a spot, the game offers no command to go from one to
        # the other.
        for command in map(rules.command, plan):
            if command in commands:
                return {
                    "reason": f"Next for: {goal}.",
                    "number": commands.index(command) + 1,
                }
        return {"reason": f"Nothing here leads to: {goal}.", "number": 0}

    def _nearest(self, context: GrammarContext, rules: Any) -> dict[str, Any]:
        """Chooses the sub-goal with the shortest plan to it, or to what may show it."""
        lengths = []
        for goal in context.commands:
            lengths.append(len(self._plan(rules, context, goal)) or math.inf)
        return {
            "reason": "Its plan is shortest.",
            "number": lengths.index(min(lengths)),
        }

    def _plan(self, rules: Any, context: GrammarContext, goal: str) -> tuple[str, ...]:
        """Returns a plan for a sub-goal, or if there is none yet, the shortest plan for
        the rules' others; () if those have none either.
        """
        memory = context.memory
        files = rules.formalize(memory, goal, context.commands)
        plan = self._planner.plan(*files).plan
        others = getattr(rules, "otherwise", None)
        if plan or others is None:
            return plan
        plans = [self._planner.plan(*other).plan for other in others(memory)]
        return min(filter(None, plans), key=len, default=())

    def _next_command(self, context: GrammarContext, rules: Any) -> str:
        plan = self._planner.plan(*self._files(rules, context.memory)).plan
        command: str | None = rules.command(plan[0]) if plan else None
        return command or "look around"

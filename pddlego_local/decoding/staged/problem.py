"""The stages of a problem: objects, then initial facts and goal.

The grammar of each stage is made from the declarations of the domain and of the text so
far.
"""

from collections.abc import Hashable
from functools import partial

from pddlego_local.decoding.grammars.builder import Rules, one_of, some, typed_list
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Stages
from pddlego_local.decoding.staged import goals, limits
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.formulas import (
    OF_FACTS,
    Piece,
    Scope,
    atoms,
    pool_of,
)
from pddlego_local.decoding.staged.reading import (
    end_before,
    open_blocks,
    problem_in,
)
from pddlego_local.decoding.staged.writing import Entry, Writing, keyed
from pddlego_local.pddl.state import goal_already_true
from pddlego_local.pddl.task import Problem


class ProblemStages:
    """Writes a problem for the domain `declared`. A method that takes `rules` adds the
    rules for what may follow the text so far, and returns the expansion of the start
    rule.
    """

    def __init__(
        self, writing: Writing, declared: Declarations, context: GrammarContext
    ) -> None:
        self.writing = writing
        self.names = writing.names
        self.declared = declared
        shown = len(context.names.objects)
        self.most_objects = max(limits.MOST_OBJECTS, 2 * shown)

    def stages(self, opening: str, *, unmet: bool) -> Stages:
        """Yields the stages of the problem, which begins with the terminal `opening`.
        `unmet` says that the initial facts must not make the goal true.
        """
        yield from self._objects(opening)
        yield from self._facts_and_goal()
        if unmet and goal_already_true(self.declared.domain, self._written):
            yield from self._other_goal()

    @property
    def _written(self) -> Problem:
        return problem_in(self.writing.text)

    @property
    def _things(self) -> Declarations:
        return self.declared.with_objects(self._written)

    # ---- Objects

    def _objects(self, opening: str) -> Stages:
        constants: dict[Hashable, Hashable] = {}
        for name, kind in self.declared.things.items():
            constants[name.lower()] = frozenset({kind.lower()})
        listed = self.writing.listed(
            lambda: keyed(self._written.objects),
            self._more_objects,
            taken=constants,
            made_up=self.names.allowed is None,
        )
        title = self.writing.title(self._title_and_objects)
        begin = partial(self._title_and_objects, opening=opening)
        yield from self.writing.write("objects", begin, [title, listed])

    def _title_and_objects(self, rules: Rules, opening: str = "") -> str:
        """From the terminal `opening`, or from after "(problem", to the end of
        `:objects`.
        """
        begin = rules.begin(opening)
        title = rules.terminal(f"_B1 {self.names.any()} _C")
        domain = one_of([self.declared.domain_name])
        of_domain = rules.terminal(f"_OF_DOMAIN {domain} _C")
        name = self.names.thing(())
        types = one_of(self.declared.types)
        objects = typed_list(rules, name, types, self.most_objects)
        listed = rules.terminal(f"_OBJECTS {objects}")
        return f"{begin} {title} {of_domain} {listed}"

    def _more_objects(self, rules: Rules) -> str:
        objects = [entry.name for entry in self._written.objects]
        name = self.names.thing([*self.declared.things, *objects])
        types = one_of(self.declared.types)
        left = self.most_objects - len(objects)
        return self.writing.rest_of_list(rules, name, types, left)

    # ---- Facts and goal

    def _facts_and_goal(self) -> Stages:
        facts = self.writing.closed(self._facts, self._goal_alone, in_blocks=True)
        reviews = [facts, self.writing.bodies(self._rest_of_goal)]
        begin = self._begin_facts_and_goal
        yield from self.writing.write("facts", begin, reviews, names=False)

    def _facts(self) -> list[Entry]:
        facts = self._written.init
        return [Entry(fact.atom.key, fact.atom.predicate) for fact in facts]

    def _begin_facts_and_goal(self, rules: Rules) -> str:
        """From `:init` to the end of the answer or of a quantifier's header."""
        begin = rules.begin("_INIT")
        things = self._things.things
        pool = pool_of(self.declared, things)
        fact = atoms(rules, self.declared.predicates, pool, spelling=OF_FACTS)
        entry = rules.rule("_fact", [fact, *rules.comment]) if fact else ""
        most_facts = max(limits.LEAST_FACTS, limits.MOST_FACTS_PER_THING * len(things))
        listed = some(entry, most_facts)
        facts = Piece(f"{begin} {listed} _C")
        return facts.then(self._goal(rules)).start(rules)

    def _goal(self, rules: Rules) -> Piece:
        return Piece("_GOAL").then(self._scope(rules).condition(), "_C _CLOSE")

    def _goal_alone(self, rules: Rules) -> str:
        return self._goal(rules).start(rules)

    def _rest_of_goal(self, rules: Rules, *, closed: bool) -> str:
        _define, _goal, *open_ = open_blocks(self.writing.text)
        rest = self._scope(rules).rest(open_, closed=closed)
        return rest.then("_C _CLOSE").start(rules)

    def _scope(self, rules: Rules) -> Scope:
        return Scope(rules, self.declared, self._things.things)

    # ---- A goal that is not already true

    def _other_goal(self) -> Stages:
        """Rolls back the goal, and resamples it with at least one fact that is not true
        yet.
        """
        written = self._written
        things = self._things
        if written.goal:
            begin = written.goal.block.offset
            self.writing.cut(end_before(self.writing.text, begin, block=True))
        true = {fact.atom.key for fact in written.init}

        def rest(rules: Rules, *, closed: bool) -> str:
            operands = open_blocks(self.writing.text)[-1].items[1:]
            return goals.rest_of_goal(rules, things, true, operands)

        goal = partial(goals.goal, declared=things, true=true)
        reviews = [self.writing.bodies(rest)]
        yield from self.writing.write("goal", goal, reviews, names=False)

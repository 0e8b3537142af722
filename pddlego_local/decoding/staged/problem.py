"""The stages of a problem: objects, then initial facts and goal.

`GrammarContext.goal` says which goals are excluded:

any    none
unmet  goals that the initial facts already make true

The grammar of each stage is made from the declarations of the domain and of the text so
far.
"""

from collections.abc import Collection
from functools import partial

from pddlego_local.decoding.grammars.builder import Rules, some, typed_list
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.staged import goals
from pddlego_local.decoding.staged.atoms import OF_FACTS, Facts, atoms, pool_of
from pddlego_local.decoding.staged.bodies import Piece, Scope
from pddlego_local.decoding.staged.declarations import Declarations, type_of
from pddlego_local.decoding.staged.goals import can_be_new, fitting_types
from pddlego_local.decoding.staged.limits import most_facts, most_objects
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    open_blocks,
    problem_in,
)
from pddlego_local.decoding.staged.writing import Part, Writing, keyed
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.state import goal_already_true
from pddlego_local.pddl.task import Problem

MOST_ADDED = 10


class ProblemStages:
    """Writes a problem for the domain `declared`. A method that takes `rules` adds the
    rules for what may follow the text so far, and returns the expansion of the start
    rule.
    """

    def __init__(
        self, writing: Writing, declared: Declarations, context: GrammarContext
    ) -> None:
        self.writing, self.names = writing, writing.names
        self.declared, self.context = declared, context
        self.most_objects = most_objects(len(context.names.objects))

    def stages(self, opening: str) -> Part:
        """Yields the stages of the problem, which begins with the terminal
        `opening`.
        """
        yield from self._objects(opening)
        yield from self._facts_and_goal()
        if self.context.own_goal and self.context.goal == "unmet":
            yield from self._unmet()

    @property
    def _written(self) -> Problem:
        return problem_in(self.writing.text)

    @property
    def _things(self) -> Declarations:
        return self.declared.with_objects(self._written)

    # ---- Objects

    def _objects(self, opening: str) -> Part:
        listed = self.writing.listed(
            lambda: keyed(self._written.objects),
            self._more_objects,
            taken={
                name.lower(): frozenset({kind.lower()})
                for name, kind in self.declared.things.items()
            },
            made_up=self.names.allowed is None,
        )
        yield from self.writing.write(
            "objects",
            partial(self.title_and_objects, opening=opening),
            [self.writing.title(self.title_and_objects), listed],
        )

    def title_and_objects(self, rules: Rules, opening: str = "") -> str:
        """Returns the grammar from the terminal `opening`, or from after "(problem", to
        the end of `:objects`.
        """
        begin = rules.begin(opening)
        title = rules.terminal(f"_B1 {self.names.any()} _C")
        of_domain = rules.terminal(
            f"_OF_DOMAIN {one_of([self.declared.domain_name])} _C"
        )
        name, types = self.names.thing(()), one_of(self.declared.types)
        listed = rules.terminal(
            f"_OBJECTS {typed_list(rules, name, types, self.most_objects)}"
        )
        return f"{begin} {title} {of_domain} {listed}"

    def _more_objects(self, rules: Rules) -> str:
        objects = [entry.name for entry in self._written.objects]
        name = self.names.thing([*self.declared.things, *objects])
        types, left = one_of(self.declared.types), self.most_objects - len(objects)
        return self.writing.rest_of_list(rules, name, types, left)

    # ---- Facts and goal

    def _facts_and_goal(self) -> Part:
        facts = self.writing.closed(self._facts_begin, self._only_goal, in_blocks=True)
        reviews = [facts, self.writing.bodies(self._rest_of_goal)]
        yield from self.writing.write(
            "facts", self.facts_and_goal, reviews, names=False
        )

    def _facts(self) -> Part:
        reviews = [self.writing.closed(self._facts_begin, None, in_blocks=True)]
        yield from self.writing.write("facts", self.facts, reviews, names=False)

    def _facts_begin(self) -> list[Word]:
        return [fact.atom.predicate for fact in self._written.init]

    def facts_and_goal(self, rules: Rules) -> str:
        """Returns the grammar from `:init` to the end of the answer or of a
        quantifier's header.
        """
        facts = Piece(self.facts(rules))
        return facts.then(self._goal(rules)).start(rules)

    def _goal(self, rules: Rules) -> Piece:
        return Piece("_GOAL").then(self._scope(rules).condition(), "_C _CLOSE")

    def _only_goal(self, rules: Rules) -> str:
        return self._goal(rules).start(rules)

    def _rest_of_goal(self, rules: Rules, closed: bool) -> str:
        _define, _goal, *open_ = open_blocks(self.writing.text)
        rest = self._scope(rules).rest(open_, closed=closed)
        return rest.then("_C _CLOSE").start(rules)

    def _scope(self, rules: Rules) -> Scope:
        return Scope(rules, self.declared, self._things.things)

    def facts(self, rules: Rules) -> str:
        """Returns the grammar of the section `:init`."""
        things = self._things.things
        pools = pool_of(self.declared, things)
        fact = atoms(rules, self.declared.predicates, pools, spelling=OF_FACTS)
        listed = rules.rule("_fact", [fact, *rules.comment] if fact else [])
        return f"{rules.begin('_INIT')} {some(listed, most_facts(len(things)))} _C"

    @property
    def _facts_written(self) -> Facts:
        return {fact.atom.key for fact in self._written.init}

    # ---- Goals that are not already true

    def _unmet(self) -> Part:
        """Rolls back a goal that is already true and resamples it with at least one
        fact that is not true yet. If no fact can be written, objects are added first.
        """
        if not goal_already_true(self.declared.domain, self._written):
            return
        before = self.writing.text
        if not can_be_new(self._things, set()):
            yield from self._missing_objects()
        if self.writing.text != before:
            yield from self._facts()
        if goal := self._written.goal:
            block = goal.block
            self.writing.cut(end_before(self.writing.text, block.offset, block=True))
        yield from self._unmet_goal()

    def _unmet_goal(self) -> Part:
        """Yields the stages of a goal that the facts do not make true."""
        things, true = self._things, self._facts_written

        def rest(rules: Rules, _closed: bool) -> str:
            operands = open_blocks(self.writing.text)[-1].items[1:]
            return goals.rest_of_goal(rules, things, true, operands)

        goal = partial(goals.goal, declared=things, true=true)
        yield from self.writing.write(
            "goal", goal, [self.writing.bodies(rest)], names=False
        )

    def _missing_objects(self) -> Part:
        """Adds objects until a fact can be written. If all names are taken, an object
        is replaced. The limit is MOST_ADDED, because some predicates need more objects
        than there are names.
        """
        for _ in range(MOST_ADDED):
            things = self._things
            if can_be_new(things, set()):
                return
            types, (kept, name) = fitting_types(things), self._room_for_one_more()
            if not name or not types:
                return
            self._keep_objects(kept)
            yield from self.writing.write(
                "objects", partial(self._added_object, name, types)
            )

    def _room_for_one_more(self) -> tuple[int, str]:
        """Returns how many of the first objects can be kept, so that a name is left for
        one more object, and a terminal for such a name ("" if constants have taken all
        names).
        """
        objects = [entry.name for entry in self._written.objects]
        for kept in range(len(objects), -1, -1):
            if name := self.names.thing([*self.declared.things, *objects[:kept]]):
                return kept, name
        return 0, ""

    def _keep_objects(self, count: int) -> None:
        """Cuts the text after the first `count` objects. These keep their types: such a
        name may be a constant or an earlier object, which must not be declared again
        with another type.
        """
        objects, sections = self._written.objects, self._written.block.blocks
        if count < len(objects):
            cut = objects[count].word.offset
        else:
            cut = next(
                section.end for section in sections if section.head == ":objects"
            )
        self.writing.cut(end_before(self.writing.text, cut))
        if count and not after_type(self.writing.text):
            self.writing.cut(
                len(self.writing.text), f" - {type_of(objects[count - 1])}"
            )

    def _added_object(self, name: str, types: Collection[str], rules: Rules) -> str:
        """One more object at the end of the list: its name matches `name`, and its type
        is one of `types`.
        """
        return rules.terminal(f"_B1 {name} _DASH {one_of(types)} _C")

"""The last stage of a domain: its actions."""

from collections.abc import Sequence

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.layout import line_of
from pddlego_local.decoding.session import Stages
from pddlego_local.decoding.staged.bodies import (
    NOTHING,
    Piece,
    Scope,
    either,
    many,
)
from pddlego_local.decoding.staged.declarations import ActionSchema, Declarations
from pddlego_local.decoding.staged.reading import domain_in, open_blocks
from pddlego_local.decoding.staged.writing import Entry, Writing
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Domain


class Actions:
    """Writes actions of `schemas`, each at most once, with an effect, and with
    variables and constants of fitting types. Actions that cannot change anything that
    is `declared` are excluded. `alone` says that the answer ends with the domain.
    """

    def __init__(
        self,
        writing: Writing,
        schemas: Sequence[ActionSchema],
        declared: Declarations,
        *,
        alone: bool,
    ) -> None:
        self.writing, self.declared, self.alone = writing, declared, alone
        usable = (action for action in schemas if action.can_change(declared))
        self.usable = {action.name.lower(): action for action in usable}

    @property
    def _written(self) -> Domain:
        return domain_in(self.writing.text)

    def stage(self) -> Stages:
        listed = self.writing.listed(
            self._entries,
            self._more_actions,
            end=(lambda _: "_END") if self.alone else None,
            made_up=False,
            in_blocks=True,
        )
        reviews = [listed, self.writing.bodies(self._rest_of_action)]
        yield from self.writing.write("actions", self._actions, reviews, names=False)

    def _entries(self) -> list[Entry]:
        entries = []
        for block in self._written.block.blocks:
            name = block.items[1] if block.head == ":action" else None
            if isinstance(name, Word):
                entries.append(Entry(name.name, name, line_of(block, lower=True)))
        return entries

    def _left(self) -> list[ActionSchema]:
        written = {action.word.name for action in self._written.actions}
        return [action for name, action in self.usable.items() if name not in written]

    def _actions(self, rules: Rules) -> str:
        """At least one action, to the end of the domain or of a quantifier's header."""
        begin = Piece(rules.begin("_ACTION") or NOTHING.complete)
        bodies = self._any_action(rules)
        return begin.then(
            bodies, self._end(rules, bodies, len(self._left()) - 1)
        ).start(rules)

    def _more_actions(self, rules: Rules) -> str:
        return self._end(rules, self._any_action(rules), len(self._left())).start(rules)

    def _rest_of_action(self, rules: Rules, closed: bool) -> str:
        """The rest of the last action (`Scope.rest`), and later actions."""
        last = self._written.actions[-1].word.name
        scope = self._scope(rules, self.usable[last])
        _define, block, *open_ = open_blocks(self.writing.text)
        keywords = [item.name for item in block.items if isinstance(item, Word)]
        if keywords[-1] == ":effect":
            rest = scope.rest(open_, closed=closed, kind="effect")
        else:
            condition = scope.rest(open_, closed=closed)
            rest = condition.then("_EFFECT", scope.effect())
        left = self._left()
        after = self._end(rules, self._any_action(rules), len(left))
        return rest.then("_C", after).start(rules)

    def _any_action(self, rules: Rules) -> Piece:
        """One of the actions that are not written yet, from its name on."""
        return either(rules, [self._action(rules, action) for action in self._left()])

    def _action(self, rules: Rules, action: ActionSchema) -> Piece:
        scope = self._scope(rules, action)
        condition = either(rules, [scope.condition(), Piece("_EMPTY")])
        with_keyword = Piece("_PRECONDITION").then(condition)
        precondition = either(rules, [with_keyword, NOTHING])
        header = Piece(rules.terminal(action.header(rules.layout)))
        return header.then(precondition, "_EFFECT", scope.effect(), "_C")

    def _scope(self, rules: Rules, action: ActionSchema) -> Scope:
        return Scope(
            rules, self.declared, dict(action.parameters) | self.declared.things
        )

    def _end(self, rules: Rules, action: Piece, most: int) -> Piece:
        """At most `most` actions, and the end of the domain."""
        listed = either(rules, [Piece("_ACTION").then(action)])
        more = many(listed, most) if action.complete and most > 0 else NOTHING
        return more.then("_CLOSE" if self.alone else "_C")

"""The last stage of a domain: its actions."""

from collections.abc import Sequence

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.layout import line_of
from pddlego_local.decoding.staged.bodies import (
    NOTHING,
    Piece,
    Scope,
    either,
    many,
)
from pddlego_local.decoding.staged.declarations import ActionSchema, Declarations
from pddlego_local.decoding.staged.reading import domain_in, open_blocks
from pddlego_local.decoding.staged.writing import Entry, Part, Writing
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

    def stage(self) -> Part:
        yield from self.writing.write(
            "actions",
            self._actions,
            [
                self.writing.listed(
                    self._entries,
                    self._more_actions,
                    end=(lambda _: "_END") if self.alone else None,
                    made_up=False,
                    in_blocks=True,
                ),
                self.writing.bodies(self._rest_of_action),
            ],
            names=False,
        )

    def _entries(self) -> list[Entry]:
        blocks = (
            block for block in self._written.block.blocks if block.head == ":action"
        )
        return [
            Entry(name.name, name, line_of(block, lower=True))
            for block in blocks
            if isinstance(name := block.items[1], Word)
        ]

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
        action = self.usable[self._written.actions[-1].word.name]
        _define, block, *open_ = open_blocks(self.writing.text)
        scope = self._scope(rules, action)
        slot = [item.name for item in block.items if isinstance(item, Word)][-1]
        if slot == ":effect":
            rest = scope.rest(open_, closed=closed, kind="effect")
        else:
            effect = Piece("_EFFECT").then(scope.effect())
            rest = scope.rest(open_, closed=closed).then(effect)
        after = self._end(rules, self._any_action(rules), len(self._left()))
        return rest.then("_C", after).start(rules)

    def _any_action(self, rules: Rules) -> Piece:
        """One of the actions that are not written yet, from its name on."""
        return either(rules, [self._action(rules, action) for action in self._left()])

    def _action(self, rules: Rules, action: ActionSchema) -> Piece:
        scope = self._scope(rules, action)
        condition = either(rules, [scope.condition(), Piece("_EMPTY")])
        precondition = either(rules, [Piece("_PRECONDITION").then(condition), NOTHING])
        effect = Piece("_EFFECT").then(scope.effect())
        header = Piece(rules.terminal(action.header(rules.layout)))
        return header.then(precondition, effect, "_C")

    def _scope(self, rules: Rules, action: ActionSchema) -> Scope:
        return Scope(
            rules, self.declared, dict(action.parameters) | self.declared.things
        )

    def _end(self, rules: Rules, action: Piece, most: int) -> Piece:
        """At most `most` actions, and the end of the domain."""
        listed = either(rules, [Piece("_ACTION").then(action)])
        more = many(listed, most) if action.complete and most > 0 else NOTHING
        return more.then("_CLOSE" if self.alone else "_C")

"""The stages of a domain: types; constants and predicates; actions.

The grammar of each stage is made from the declarations in the text so far. A method
that takes `rules` adds the rules for what may follow the text so far, and returns the
expansion of the start rule.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

from pddlego_local.decoding.grammars.builder import Rules, one_of, some, typed_list
from pddlego_local.decoding.layout import line_of
from pddlego_local.decoding.session import Stage, Stages
from pddlego_local.decoding.staged import limits
from pddlego_local.decoding.staged.declarations import (
    ActionSchema,
    Declarations,
    declarations,
)
from pddlego_local.decoding.staged.formulas import NOTHING, Piece, Scope, either, many
from pddlego_local.decoding.staged.reading import (
    after_type,
    domain_in,
    end_before,
    open_blocks,
)
from pddlego_local.decoding.staged.writing import Entry, Resample, Writing, keyed
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Domain


def domain(
    writing: Writing, schemas: Sequence[ActionSchema], *, alone: bool
) -> Generator[Stage, str, Declarations]:
    """Yields the stages of a domain with the actions of `schemas`, and returns its
    declarations. `alone` says that the domain is the whole answer.
    """
    lists = _Lists(writing, schemas)
    yield from lists.types()
    yield from lists.constants_and_predicates()
    declared = lists.declared
    yield from _Actions(writing, schemas, declared, alone=alone).stage()
    return declared


class _Lists:
    """Writes the sections before the actions. `declared` has the declarations of the
    finished stages.
    """

    declared: Declarations

    def __init__(self, writing: Writing, schemas: Sequence[ActionSchema]) -> None:
        self.writing = writing
        self.names = writing.names
        self.schemas = schemas

    @property
    def written(self) -> Domain:
        return domain_in(self.writing.text)

    # ---- Types

    def types(self) -> Stages:
        """Yields the stages of `:types`, and adds the types of action parameters that
        are missing. The model may declare more types than these.
        """
        title = self.writing.title(self._title_and_types)
        listed = self.writing.listed(
            lambda: keyed(self.written.types), self._more_types
        )
        begin = partial(self._title_and_types, opening="_OPEN_DOMAIN")
        reviews = [title, listed, self._looping_parent]
        yield from self.writing.write("types", begin, reviews)

        present = {"object"}
        for entry in self.written.types:
            present.add(entry.name)
        missing = []
        for action in self.schemas:
            for parameter in action.parameters:
                kind = parameter.type
                if kind.lower() not in present and kind not in missing:
                    missing.append(kind)
        end = len(self.writing.text) - 1  # before the closing bracket
        added = "".join([f" {kind}" for kind in missing])
        self.writing.cut(end, f"{added})")
        self.declared = declarations(self.written)

    def _title_and_types(self, rules: Rules, opening: str = "") -> str:
        """From the terminal `opening`, or from after "(domain", to the end of
        `:types`.
        """
        begin = rules.begin(opening)
        title = rules.terminal(f"_B1 {self.names.any()} _C")
        name = self.names.type(())
        supertype = self.names.any()
        listed = typed_list(rules, name, supertype, limits.MOST_TYPES)
        types = rules.terminal(f"_TYPES {listed}")
        return f"{begin} {title} _REQUIREMENTS {types}"

    def _more_types(self, rules: Rules) -> str:
        taken = [entry.name for entry in self.written.types]
        name = self.names.type(taken)
        supertype = self.names.any()
        left = limits.MOST_TYPES - len(taken)
        return self.writing.rest_of_list(rules, name, supertype, left)

    def _looping_parent(self, _broken: bool) -> Resample | None:
        """If the supertype of a type is a loop, its entry is resampled."""
        for entry in self.written.types:
            for supertype in entry.types:
                if self.names.avoid_loop(supertype.name):
                    cut = end_before(self.writing.text, entry.word.offset)
                    return Resample(cut, self._more_types)
        return None

    # ---- Constants and predicates

    def constants_and_predicates(self) -> Stages:
        """Yields the stages of both sections. They ensure that some action can change
        at least one predicate.
        """
        constants = self.writing.listed(
            lambda: keyed(self.written.constants),
            self._more_constants,
            end=self._predicates,
            made_up=self.names.allowed is None,
        )
        predicates = self.writing.listed(
            lambda: keyed(self.written.predicates or ()),
            self._more_predicates,
            in_blocks=True,
        )
        variables = self.writing.listed(
            self._variables, self._more_variables, end=self._more_predicates
        )
        reviews = [constants, predicates, variables, self._nothing_to_change]
        begin = self._constants_and_predicates
        yield from self.writing.write("predicates", begin, reviews)
        self.declared = declarations(self.written)

    def _constants_and_predicates(self, rules: Rules) -> str:
        name = self.names.thing(())
        types = one_of(self.declared.types)
        listed = typed_list(rules, name, types, limits.MOST_CONSTANTS)
        constants = rules.terminal(f"_CONSTANTS {listed}")
        return f"[{constants}] {self._predicates(rules)}"

    def _more_constants(self, rules: Rules) -> str:
        taken = [entry.name for entry in self.written.constants]
        name = self.names.thing(taken)
        types = one_of(self.declared.types)
        left = limits.MOST_CONSTANTS - len(taken)
        rest = self.writing.rest_of_list(rules, name, types, left)
        return f"{rest} {self._predicates(rules)}"

    def _predicates(self, rules: Rules) -> str:
        return f"_PREDICATES {self._more_predicates(rules)}"

    def _more_predicates(self, rules: Rules) -> str:
        """To the end of `:predicates`."""
        taken = [predicate.word.name for predicate in self.written.predicates or ()]
        variable = self.names.variable()
        variables = f"({variable} {self._type}) ~ 0 .. {limits.MOST_PARAMETERS}"
        name = self.names.predicate(taken)
        predicate = rules.terminal(f"_ENTRY_O {name} {variables} _C")
        listed = rules.rule("_predicate", [predicate, *rules.comment])
        left = max(limits.MOST_PREDICATES - len(taken), 0)
        return f"{some(listed, left)} _C"

    def _variables(self) -> list[Entry]:
        """The variables of predicates. Each has its offset in `says`, so that a second
        variable of the same name in a predicate is always wrong.
        """
        entries = []
        for number, predicate in enumerate(self.written.predicates or ()):
            for variable in predicate.parameters or ():
                key = (number, variable.name)
                word = variable.word
                entries.append(Entry(key, word, says=word.offset))
        return entries

    def _more_variables(self, rules: Rules) -> str:
        """The rest of the last predicate, and the predicates after it."""
        predicates = self.written.predicates or []
        taken = [entry.name for entry in predicates[-1].parameters or ()]
        left = limits.MOST_PARAMETERS - len(taken)
        variable = self.names.variable(taken)
        kind = self._type
        own_kind = "" if after_type(self.writing.text) else kind
        rest = rules.terminal(f"{own_kind} ({variable} {kind}) ~ 0 .. {left} _C")
        return f"{rest} {self._more_predicates(rules)}"

    @property
    def _type(self) -> str:
        return f"(_DASH {one_of(self.declared.known_types)})?"

    def _nothing_to_change(self, broken: bool) -> Resample | None:
        """Adds a predicate if no action can change a declared one. If actions have
        parameters, only predicates with parameters are considered.
        """
        if broken:
            return None
        declared = declarations(self.written)
        if any(action.parameters for action in self.schemas):
            about_things = [found for found in declared.predicates if found.types]
            declared = replace(declared, predicates=tuple(about_things))
        if any(action.can_change(declared) for action in self.schemas):
            return None
        return Resample(len(self.writing.text) - 1, self._added_predicate)

    def _added_predicate(self, rules: Rules) -> str:
        """One more predicate at the end, which an action can change."""
        declared = declarations(self.written)
        taken = [predicate.name for predicate in declared.predicates]
        name = self.names.predicate(taken)
        fitting = [kind for kind in declared.known_types if self._is_used(kind)]
        parameter = ""
        if fitting:
            parameter = f"{self.names.variable()} _DASH {one_of(fitting)}"
        predicate = rules.terminal(f"_ENTRY_O {name} {parameter} _C")
        return f"{predicate} _C"

    def _is_used(self, kind: str) -> bool:
        """Whether a parameter of an action can be an argument of this type."""
        for action in self.schemas:
            for parameter in action.parameters:
                if self.declared.fits(parameter.type, kind):
                    return True
        return False


class _Actions:
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
        self.writing = writing
        self.declared = declared
        self.alone = alone
        self.usable: dict[str, ActionSchema] = {}
        for action in schemas:
            if action.can_change(declared):
                self.usable[action.name.lower()] = action

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
        for block in domain_in(self.writing.text).block.blocks:
            name = block.items[1] if block.head == ":action" else None
            if isinstance(name, Word):
                entries.append(Entry(name.name, name, line_of(block, lower=True)))
        return entries

    def _left(self) -> list[ActionSchema]:
        """The actions that are not written yet."""
        left = self.usable.copy()
        for action in domain_in(self.writing.text).actions:
            left.pop(action.word.name, None)
        return list(left.values())

    def _actions(self, rules: Rules) -> str:
        """At least one action, to the end of the domain or of a quantifier's header."""
        begin = Piece(rules.begin("_ACTION") or NOTHING.complete)
        action = self._any_action(rules)
        most_later = len(self._left()) - 1
        later = self._end(rules, action, most_later)
        return begin.then(action, later).start(rules)

    def _more_actions(self, rules: Rules) -> str:
        action = self._any_action(rules)
        return self._end(rules, action, len(self._left())).start(rules)

    def _rest_of_action(self, rules: Rules, *, closed: bool) -> str:
        """The rest of the last action (`Scope.rest`), and later actions."""
        last = domain_in(self.writing.text).actions[-1].word.name
        scope = self._scope(rules, self.usable[last])
        _define, block, *open_ = open_blocks(self.writing.text)
        keywords = [item.name for item in block.items if isinstance(item, Word)]
        if keywords[-1] == ":effect":
            rest = scope.rest(open_, closed=closed, kind="effect")
        else:
            condition = scope.rest(open_, closed=closed)
            rest = condition.then("_EFFECT", scope.effect())
        action = self._any_action(rules)
        later = self._end(rules, action, len(self._left()))
        return rest.then("_C", later).start(rules)

    def _any_action(self, rules: Rules) -> Piece:
        """One of the actions that are not written yet, from its name on."""
        actions = []
        for action in self._left():
            scope = self._scope(rules, action)
            condition = either(rules, [scope.condition(), Piece("_EMPTY")])
            with_keyword = Piece("_PRECONDITION").then(condition)
            precondition = either(rules, [with_keyword, NOTHING])
            header = Piece(rules.terminal(action.header(rules.layout)))
            effect = scope.effect()
            actions.append(header.then(precondition, "_EFFECT", effect, "_C"))
        return either(rules, actions)

    def _scope(self, rules: Rules, action: ActionSchema) -> Scope:
        terms = dict(action.parameters) | self.declared.things
        return Scope(rules, self.declared, terms)

    def _end(self, rules: Rules, action: Piece, most: int) -> Piece:
        """At most `most` actions, and the end of the domain."""
        listed = either(rules, [Piece("_ACTION").then(action)])
        more = many(listed, most) if action.complete and most > 0 else NOTHING
        return more.then("_CLOSE" if self.alone else "_C")

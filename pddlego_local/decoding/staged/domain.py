"""The stages of a domain: types; constants and predicates; actions.

The grammar of each stage is made from the declarations in the text so far.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

from pddlego_local.decoding.grammars.builder import Rules, some, typed_list
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.session import Stage, Stages
from pddlego_local.decoding.staged import limits
from pddlego_local.decoding.staged.actions import Actions
from pddlego_local.decoding.staged.declarations import (
    ActionSchema,
    Declarations,
    declarations,
)
from pddlego_local.decoding.staged.reading import (
    after_type,
    domain_in,
    end_before,
)
from pddlego_local.decoding.staged.writing import Entry, Resample, Writing, keyed
from pddlego_local.pddl.task import Domain


def domain(
    writing: Writing, schemas: Sequence[ActionSchema], *, alone: bool
) -> Generator[Stage, str, Declarations]:
    """Yields the stages of a domain with the actions of `schemas`, and returns its
    declarations. `alone` says that the domain is the whole answer.
    """
    stages = _Domain(writing, schemas)
    yield from stages.types()
    stages.declared = declarations(stages.written)
    yield from stages.constants_and_predicates()
    declared = declarations(stages.written)
    yield from Actions(writing, schemas, declared, alone=alone).stage()
    return declared


class _Domain:
    """`declared` has the declarations of the finished stages. A method that takes
    `rules` adds the rules for what may follow the text so far, and returns the
    expansion of the start rule.
    """

    declared: Declarations

    def __init__(self, writing: Writing, schemas: Sequence[ActionSchema]) -> None:
        self.writing, self.names, self.schemas = writing, writing.names, schemas

    @property
    def written(self) -> Domain:
        return domain_in(self.writing.text)

    # ---- Types

    def types(self) -> Stages:
        """Yields the stages of `:types`, and adds the types of action parameters that
        are missing. The model may declare more types than these.
        """
        begin = partial(self._title_and_types, opening="_OPEN_DOMAIN")
        title = self.writing.title(self._title_and_types)
        listed = self.writing.listed(
            lambda: keyed(self.written.types), self._more_types
        )
        reviews = [title, listed, self._looping_parent]
        yield from self.writing.write("types", begin, reviews)

        present = {entry.name for entry in self.written.types} | {"object"}
        missing: dict[str, str] = {}
        for action in self.schemas:
            for _, kind in action.parameters:
                if kind.lower() not in present:
                    missing[kind] = f" {kind}"
        end = len(self.writing.text) - 1
        self.writing.cut(end, "".join(missing.values()) + ")")

    def _title_and_types(self, rules: Rules, opening: str = "") -> str:
        """From the terminal `opening`, or from after "(domain", to the end of
        `:types`.
        """
        begin = rules.begin(opening)
        title = rules.terminal(f"_B1 {self.names.any()} _C")
        listed = typed_list(
            rules, self.names.type(()), self.names.any(), limits.MOST_TYPES
        )
        return f"{begin} {title} _REQUIREMENTS {rules.terminal(f'_TYPES {listed}')}"

    def _more_types(self, rules: Rules) -> str:
        taken = [entry.name for entry in self.written.types]
        name, left = self.names.type(taken), limits.MOST_TYPES - len(taken)
        return self.writing.rest_of_list(rules, name, self.names.any(), left)

    def _looping_parent(self, _broken: bool) -> Resample | None:
        """If the supertype of a type is a loop, its entry is resampled."""
        for entry in self.written.types:
            if any(self.names.avoid_loop(kind.name) for kind in entry.types):
                cut = end_before(self.writing.text, entry.word.offset)
                return Resample(cut, self._more_types)
        return None

    # ---- Constants and predicates

    def constants_and_predicates(self) -> Stages:
        """Yields the stages of both sections. They ensure that some action can change
        at least one predicate.
        """
        listed = self.writing.listed
        constants = listed(
            lambda: keyed(self.written.constants),
            self._more_constants,
            end=self._predicates,
            made_up=self.names.allowed is None,
        )
        predicates = listed(
            lambda: keyed(self.written.predicates or ()),
            self._more_predicates,
            in_blocks=True,
        )
        variables = listed(
            self._variables, self._more_variables, end=self._more_predicates
        )
        yield from self.writing.write(
            "predicates",
            self._constants_and_predicates,
            [constants, predicates, variables, self._nothing_to_change],
        )

    def _constants_and_predicates(self, rules: Rules) -> str:
        types = one_of(self.declared.types)
        listed = typed_list(rules, self.names.thing(()), types, limits.MOST_CONSTANTS)
        return f"[{rules.terminal(f'_CONSTANTS {listed}')}] {self._predicates(rules)}"

    def _more_constants(self, rules: Rules) -> str:
        taken = [entry.name for entry in self.written.constants]
        name, types = self.names.thing(taken), one_of(self.declared.types)
        left = limits.MOST_CONSTANTS - len(taken)
        rest = self.writing.rest_of_list(rules, name, types, left)
        return f"{rest} {self._predicates(rules)}"

    def _predicates(self, rules: Rules) -> str:
        return f"_PREDICATES {self._more_predicates(rules)}"

    def _more_predicates(self, rules: Rules) -> str:
        """To the end of `:predicates`."""
        taken = [predicate.word.name for predicate in self.written.predicates or ()]
        variable = f"({self.names.variable()} {self._type})"
        variables = f"{variable} ~ 0 .. {limits.MOST_PARAMETERS}"
        name = self.names.predicate(taken)
        predicate = rules.terminal(f"_ENTRY_O {name} {variables} _C")
        listed = rules.rule("_predicate", [predicate, *rules.comment])
        left = max(limits.MOST_PREDICATES - len(taken), 0)
        return f"{some(listed, left)} _C"

    def _variables(self) -> list[Entry]:
        """The variables of predicates. Each has its offset in `says`, so that a second
        variable of the same name in a predicate is always wrong.
        """
        return [
            Entry((number, entry.name), entry.word, entry.word.offset)
            for number, predicate in enumerate(self.written.predicates or ())
            for entry in predicate.parameters or ()
        ]

    def _more_variables(self, rules: Rules) -> str:
        """The rest of the last predicate, and the predicates after it."""
        predicates = self.written.predicates or []
        taken = [entry.name for entry in predicates[-1].parameters or ()]
        name, kind = self.names.variable(taken), self._type
        left = limits.MOST_PARAMETERS - len(taken)
        first = "" if after_type(self.writing.text) else kind
        rest = rules.terminal(f"{first} ({name} {kind}) ~ 0 .. {left} _C")
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
            declared = replace(
                declared, predicates=tuple(p for p in declared.predicates if p[1])
            )
        if any(action.can_change(declared) for action in self.schemas):
            return None
        return Resample(len(self.writing.text) - 1, self._added_predicate)

    def _added_predicate(self, rules: Rules) -> str:
        """One more predicate at the end, which an action can change."""
        declared = declarations(self.written)
        name = self.names.predicate([name for name, _ in declared.predicates])
        kinds = {kind for action in self.schemas for _, kind in action.parameters}
        fitting = [
            t
            for t in declared.known_types
            if any(declared.fits(kind, t) for kind in kinds)
        ]
        parameter = (
            f"{self.names.variable()} _DASH {one_of(fitting)}" if fitting else ""
        )
        return f"{rules.terminal(f'_ENTRY_O {name} {parameter} _C')} _C"

"""The stages of a domain: types, constants and predicates, actions."""

from collections.abc import Collection, Generator, Sequence

from pddlego_local.core import Grammar
from pddlego_local.decoding.staged import parts
from pddlego_local.decoding.staged.declarations import Declarations, declarations
from pddlego_local.decoding.staged.draft import Draft, Part
from pddlego_local.decoding.staged.reading import domain_in, has_section, open_blocks
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.decoding.stages import Stage
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Domain

DomainPart = Generator[Stage, str, Declarations]
"""Some stages, and what the domain declares after them."""


def domain(
    draft: Draft, schemas: Sequence[ActionSchema], allowed: Sequence[str] | None
) -> DomainPart:
    """A domain with the actions of `schemas`. Constants have `allowed` names; None allows any."""
    yield from _types(draft, schemas)
    declared = yield from _declarations(draft, schemas, allowed)
    yield from _actions(draft, schemas, declared)
    return declared


def _types(draft: Draft, schemas: Sequence[ActionSchema]) -> Part:
    """The types of the actions' parameters are always declared; the model may declare others."""

    def declared() -> list[Word]:
        return [entry.word for entry in domain_in(draft.text).types]

    yield from draft.write("types", parts.types())
    yield from draft.without_repetition("types", declared, parts.more_types)
    needed = dict.fromkeys(kind for action in schemas for _, kind in action.parameters)
    present = {word.name for word in declared()} | {"object"}
    if missing := [kind for kind in needed if kind.lower() not in present]:
        yield from draft.write("types", parts.added_types(missing), drop=1)


def _declarations(
    draft: Draft, schemas: Sequence[ActionSchema], allowed: Sequence[str] | None
) -> DomainPart:
    """Constants and predicates; at least one predicate that an action can change."""

    def domain() -> Domain:
        return domain_in(draft.text)

    declared = declarations(domain())
    required = not has_section(draft.text, ":requirements")
    yield from draft.write("predicates", parts.declarations(declared, allowed, required=required))
    yield from draft.without_repetition(
        "predicates",
        lambda: [entry.word for entry in domain().constants],
        lambda taken, typed: parts.more_constants(declared, allowed, taken, typed),
    )
    yield from draft.without_repetition(
        "predicates",
        lambda: [predicate.word for predicate in domain().predicates or ()],
        lambda taken, _: parts.more_predicates(declared, taken),
        in_blocks=True,
    )
    declared = declarations(domain())
    if not any(parts.can_change(action, declared) for action in schemas):
        yield from draft.write("predicates", parts.added_predicate(declared, schemas), drop=1)
        declared = declarations(domain())
    return declared


def _actions(draft: Draft, schemas: Sequence[ActionSchema], declared: Declarations) -> Part:
    """Each at most once, with the variables and constants that fit by type, and with an effect."""
    usable = {a.name.lower(): a for a in schemas if parts.can_change(a, declared)}

    def present() -> list[Word]:
        return [action.word for action in domain_in(draft.text).actions]

    def others(taken: Collection[str]) -> list[ActionSchema]:
        names = {name.lower() for name in taken}
        return [action for name, action in usable.items() if name not in names]

    def remaining(taken: Collection[str], _: bool) -> Grammar:
        return parts.actions(declared, others(taken), least=0)

    yield from draft.write("actions", parts.actions(declared, others(()), least=1))
    while True:
        yield from draft.without_repetition("actions", present, remaining, in_blocks=True)
        if not (open_ := open_blocks(draft.text)):
            return
        names = [word.name for word in present()]
        rest = parts.rest_of_action(declared, usable[names[-1]], others(names), open_[1:])
        yield from draft.write("actions", rest)

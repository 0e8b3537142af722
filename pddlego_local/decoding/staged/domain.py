"""The stages of a domain: types, constants and predicates, actions."""

import itertools
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from functools import partial

from pddlego_local.decoding.staged import domain_parts as parts
from pddlego_local.decoding.staged import reviews
from pddlego_local.decoding.staged.bodies import More
from pddlego_local.decoding.staged.declarations import Declarations, declarations
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.decoding.staged.reading import (
    after_type,
    domain_in,
    end_before,
    first_wrong,
    open_blocks,
    title_of,
)
from pddlego_local.decoding.staged.schemas import ActionSchema
from pddlego_local.decoding.staged.writing import Build, Part, Resample, Review, Writing
from pddlego_local.decoding.stages import Stage
from pddlego_local.pddl.reader import Block, Word

DomainPart = Generator[Stage, str, Declarations]
"""Some stages, and what the domain declares after them."""


def domain(writing: Writing, schemas: Sequence[ActionSchema], names: NewNames) -> DomainPart:
    """A domain with the actions of `schemas`."""
    yield from _types(writing, schemas, names)
    declared = yield from _declarations(writing, schemas, names)
    yield from _actions(writing, schemas, declared)
    return declared


def _types(writing: Writing, schemas: Sequence[ActionSchema], names: NewNames) -> Part:
    """The types of the actions' parameters are always declared; the model may declare others."""

    def entries() -> list[Word]:
        return [entry.word for entry in domain_in(writing.text).types]

    def rest(taken: Collection[str], typed: bool) -> Build:
        return partial(parts.more_types, names=names, taken=taken, typed=typed)

    def title() -> Word | None:
        return title_of(domain_in(writing.text).block)

    yield from writing.write_and_review(
        "types",
        partial(parts.types, names=names),
        (
            reviews.title(writing, names, title, partial(parts.types, names=names, opening=False)),
            reviews.listed(writing, names, entries, rest),
            partial(_parents, writing, names, rest),
        ),
    )
    needed = dict.fromkeys(kind for action in schemas for _, kind in action.parameters)
    present = {word.name for word in entries()} | {"object"}
    missing = [kind for kind in needed if kind.lower() not in present]
    writing.put(len(writing.text) - 1, "".join(f" {kind}" for kind in missing) + ")")


def _declarations(writing: Writing, schemas: Sequence[ActionSchema], names: NewNames) -> DomainPart:
    """Constants and predicates; at least one predicate that an action can change."""
    declared = declarations(domain_in(writing.text))

    def constants() -> list[Word]:
        return [entry.word for entry in domain_in(writing.text).constants]

    def more_constants(taken: Collection[str], typed: bool) -> Build:
        return partial(
            parts.more_constants, names=names, declared=declared, taken=taken, typed=typed
        )

    def predicates() -> list[Word]:
        return [predicate.word for predicate in domain_in(writing.text).predicates or ()]

    def more_predicates(taken: Collection[str], _: bool) -> Build:
        return partial(parts.more_predicates, names=names, declared=declared, taken=taken)

    all_predicates = partial(parts.predicates, names=names, declared=declared)

    def go_on() -> Resample | None:
        if open_blocks(writing.text)[-1].head != ":predicates":
            return None
        rest = more_predicates([word.text for word in predicates()], False)
        return Resample(len(writing.text), rest)

    yield from writing.write_and_review(
        "predicates",
        partial(parts.declarations, names=names, declared=declared),
        (
            reviews.listed(
                writing,
                names,
                constants,
                more_constants,
                end=all_predicates,
                made_up=names.allowed is None,
            ),
            reviews.listed(writing, names, predicates, more_predicates, in_blocks=True),
            _parameters(writing, names, declared),
            go_on,
            partial(_nothing_to_change, writing, names, schemas),
        ),
    )
    return declarations(domain_in(writing.text))


def _actions(writing: Writing, schemas: Sequence[ActionSchema], declared: Declarations) -> Part:
    """Each at most once, with the variables and constants that fit by type, and with an effect."""
    usable = {a.name.lower(): a for a in schemas if parts.can_change(a, declared)}

    def present() -> list[Word]:
        return [action.word for action in domain_in(writing.text).actions]

    def others(taken: Collection[str]) -> list[ActionSchema]:
        names = {name.lower() for name in taken}
        return [action for name, action in usable.items() if name not in names]

    def more(taken: Collection[str], _: bool) -> Build:
        return partial(parts.more_actions, declared=declared, schemas=others(taken))

    def bodies() -> list[Block]:
        sections = domain_in(writing.text).block.items
        return [item for item in sections if isinstance(item, Block) and item.head == ":action"]

    def rest(open_: Sequence[Block], more: More) -> Build:
        said = [word.name for word in present() if word.offset < open_[-1].offset]
        return partial(
            parts.rest_of_action, declared=declared, action=usable[said[-1]], others=others(said),
            open_=open_[1:], more=more,
        )  # fmt: skip

    yield from writing.write_and_review(
        "actions",
        partial(parts.actions, declared=declared, schemas=others(())),
        (
            reviews.listed(writing, NewNames(), present, more, made_up=False, in_blocks=True),
            reviews.operands(writing, bodies, rest),
            reviews.unfinished(writing, rest),
        ),
    )


def _parents(
    writing: Writing, names: NewNames, rest: Callable[[Collection[str], bool], Build]
) -> Resample | None:
    """The supertype of a type may be a loop too: its entry is written again."""
    types = domain_in(writing.text).types
    for number, entry in enumerate(types):
        if any(names.avoid_loop(kind.name) for kind in entry.types):
            cut = end_before(writing.text, entry.word.offset)
            before = [earlier.word.text for earlier in types[:number]]
            return Resample(cut, rest(before, after_type(writing.text[:cut])))
    return None


def _parameters(writing: Writing, names: NewNames, declared: Declarations) -> Review:
    """A predicate's variables are different names. The second time that they are not, the predicate
    ends."""
    given_up = itertools.count()

    def review() -> Resample | None:
        predicates = domain_in(writing.text).predicates or []
        found = (
            (number, variables, word)
            for number, predicate in enumerate(predicates)
            if (variables := [entry.word for entry in predicate.parameters or ()])
            and (word := first_wrong(variables, (), made_up=True))
        )
        number, variables, word = next(found, (0, [], None))
        if word is None:
            return None
        names.avoid_loop(word.name[1:])
        cut = end_before(writing.text, word.offset)
        taken = [earlier.word.text for earlier in predicates[: number + 1]]
        rest = partial(parts.more_predicates, names=names, declared=declared, taken=taken)
        if next(given_up):
            return Resample(cut, rest, put=")")
        before = [earlier.text for earlier in variables if earlier.offset < cut]
        typed = after_type(writing.text[:cut])
        more = partial(parts.more_parameters, names=names, declared=declared, taken=taken)
        return Resample(cut, partial(more, variables=before, typed=typed))

    return review


def _nothing_to_change(
    writing: Writing, names: NewNames, schemas: Sequence[ActionSchema]
) -> Resample | None:
    """Some action can change some predicate, one with parameters if there are actions with any."""
    declared = declarations(domain_in(writing.text))
    if any(action.parameters for action in schemas):
        declared = replace(declared, predicates=tuple(p for p in declared.predicates if p[1]))
    if any(parts.can_change(action, declared) for action in schemas):
        return None
    declared = declarations(domain_in(writing.text))
    added = partial(parts.added_predicate, names=names, declared=declared, schemas=schemas)
    return Resample(len(writing.text) - 1, added)

"""A partly seen world as its author writes it: a domain, problems, and `world.yaml`.

The only required line of `world.yaml` says where the player is: `here: (at ?r)`. The
last variable is the place; the others are movers, all of which are the player's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.nouns import Budget
from pddlego_local.environments.explored import yaml_traps
from pddlego_local.environments.explored.folder import DOMAIN, DRAW, FILE, texts_of
from pddlego_local.environments.explored.whereabouts import Located, Whereabouts
from pddlego_local.environments.own_pddl import REFUSED, domain_fault
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.formulas import read_typed_list
from pddlego_local.pddl.reader import Block, Word, read
from pddlego_local.pddl.state import Task
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Predicate, TypedName

Rule = Literal["see", "always", "place", "thing"]


class Checked(BaseModel, extra="forbid"):
    """After how many random walks the goal was out of reach."""

    walks: Annotated[int, Field(ge=1)]
    dead_ends: Annotated[int, Field(ge=0)]


class WorldFile(BaseModel, extra="forbid"):
    """The contents of `world.yaml`.

    `say` has a phrase for a predicate, `aim` one for it in a goal, `do` one for an
    action, and `explore` one for a mark. `about` and `task` are sentences. `known`
    are types whose objects are listed at the start, and `located` the predicates that
    say where a thing is. `see` has conditions for facts to be seen (views.py), and
    `hide` names for arguments that are not seen yet (hidden.py). `budget` is the length
    of an episode. `vary` has an argument of a predicate that each seed puts elsewhere,
    and `sizes` are the least and the greatest size that `draw.py` is given (draws.py).
    `checked` is what `pddlego world check` found of dead ends.
    """

    here: str
    say: dict[str, str] = {}
    aim: dict[str, str] = {}
    do: dict[str, str] = {}
    explore: dict[str, str] = {}
    see: dict[str, str | list[str]] = {}
    hide: dict[str, dict[str, str]] = {}
    budget: Budget = Budget(unit="actions", limit=100)
    about: str = ""
    task: str = ""
    known: list[str] | None = None
    located: list[str] | None = None
    vary: dict[str, str] = {}
    sizes: tuple[int, int] | None = None
    checked: Checked | None = None


@dataclass(frozen=True)
class HerePattern:
    """The predicate that places the player, and its variables: movers, then place."""

    predicate: str
    movers: Sequence[TypedName]
    place: TypedName


@dataclass(frozen=True)
class World:
    """A world of a folder. `files` are the texts of its files by name, as they were
    when it was read. If `has_pseudo_words`, the names of the world are those of
    renamed.py, and not those of the files.
    """

    folder: Path
    file: WorldFile
    domain_text: str
    files: Mapping[str, str]
    has_pseudo_words: bool = False

    @cached_property
    def domain(self) -> Domain:
        return read_domain(read(self.domain_without_costs))

    @cached_property
    def types(self) -> Types:
        return Types(self.domain)

    @cached_property
    def predicates(self) -> Mapping[str, Predicate]:
        return {entry.word.name: entry for entry in self.domain.predicates or ()}

    @cached_property
    def parameters(self) -> Mapping[str, Sequence[str]]:
        """The parameters of each predicate, without "?"."""
        return {
            name: [entry.name.removeprefix("?") for entry in predicate.parameters or ()]
            for name, predicate in self.predicates.items()
        }

    @cached_property
    def here(self) -> HerePattern:
        """The pattern `here`, with the types that the predicate declares where the
        pattern names none. Raises ConfigError for a pattern that fits no predicate.
        """
        block = read(self.file.here)
        if block is None or not block.items or not isinstance(block.items[0], Word):
            raise self.wrong("here", "write it as (PREDICATE ?mover … ?place)")
        name = block.items[0].name
        variables = read_typed_list(block.items[1:], FaultLog()) or []
        predicate = self.predicates.get(name)
        if predicate is None:
            known = ", ".join(self.predicates)
            raise self.wrong("here", f"there is no predicate {name}; there are {known}")
        if name in {axiom.predicate.word.name for axiom in self.domain.axioms}:
            raise self.wrong("here", f"{name} is derived; name a predicate that is not")
        parameters = predicate.parameters or []
        if len(parameters) != len(variables) or not variables:
            raise self.wrong("here", f"{name} {predicate.has}")
        typed = [
            TypedName(own.word, own.types or declared.types)
            for own, declared in zip(variables, parameters, strict=True)
        ]
        return HerePattern(name, typed[:-1], typed[-1])

    @cached_property
    def domain_without_costs(self) -> str:
        """The domain's text without costs: nobody tells how long a road is, and without
        its length the action would be impossible.
        """
        root = read(self.domain_text)
        text = self.domain_text
        for block, around in reversed([*_costs(root)] if root else []):
            is_whole_effect = block.head == "increase" and around != "and"
            rest = "(and)" if is_whole_effect else ""
            text = text[: block.offset] + rest + text[block.stop :]
        return text

    @cached_property
    def type_names(self) -> frozenset[str]:
        return frozenset(entry.name for entry in self.domain.types)

    def is_below(self, kind: str, other: str) -> bool:
        """Returns whether a type is another one, or below it."""
        return other == "object" or other in self.types.with_ancestors(kind)

    def problems(self) -> list[Path]:
        """Returns the folder's problem files in the order of their names."""
        names = sorted(self.files.keys() - {DOMAIN, FILE, DRAW})
        return [self.folder / name for name in names]

    def task(self, problem: str) -> Task:
        return Task(self.domain, read_problem(read(problem)))

    def whereabouts(self, task: Task) -> Whereabouts:
        """Returns where the things of a task are."""
        here = self.here
        located = self.located
        return Whereabouts(
            here=here.predicate,
            here_movers=[
                self._objects(task, mover.type_names) for mover in here.movers
            ],
            all_places=self._objects(task, here.place.type_names),
            located=located,
            placeable=frozenset().union(
                *(
                    self._objects(task, self._parameter(name, where.thing).type_names)
                    for name, where in located.items()
                )
            ),
            places_movers_alone=self.places_movers_alone,
        )

    def wrong(self, key: str, what: str) -> ConfigError:
        return ConfigError(f"{self.folder / FILE}: {key}: {what}.")

    def rule_of(self, predicate: str) -> Rule:
        """Returns which rule of sight.py decides by default where a predicate's facts
        are seen.
        """
        parameters = self.predicates[predicate].parameters or []
        here = self.here
        if predicate in self.file.see:
            return "see"
        if predicate == here.predicate and self.places_movers_alone:
            return "always"
        if any(self._is(p.type_names, here.place.type_names) for p in parameters):
            return "place"
        if self.names_mover(predicate) or predicate in self.held:
            return "always"
        if any(self.located_by(predicate, n) for n, _ in enumerate(parameters)):
            return "thing"
        return "always"

    def names_mover(self, predicate: str) -> bool:
        """Returns whether a parameter of a predicate can only be a mover."""
        movers = [mover.type_names for mover in self.here.movers]
        return any(
            self._is(parameter.type_names, mover)
            for parameter in self.predicates[predicate].parameters or []
            for mover in movers
        )

    def located_by(self, predicate: str, number: int) -> list[str]:
        """Returns the predicates that say where a parameter of a predicate, counted
        from 0, is; none if it can be at no place.
        """
        parameters = self.predicates[predicate].parameters or []
        own = parameters[number].type_names
        kinds = {
            name: self._parameter(name, where.thing).type_names
            for name, where in self.located.items()
        }
        return [
            name
            for name, kind in kinds.items()
            if self._is(own, kind) or self._is(kind, own)
        ]

    def is_place(self, predicate: str, number: int) -> bool:
        """Returns whether a parameter of a predicate, counted from 0, is a place."""
        parameters = self.predicates[predicate].parameters or []
        return self._is(parameters[number].type_names, self.here.place.type_names)

    @cached_property
    def places_movers_alone(self) -> bool:
        """Whether nothing but a mover can stand in `here`."""
        parameters = self.predicates[self.here.predicate].parameters or []
        return all(
            self._is(own.type_names, mover.type_names)
            for own, mover in zip(parameters[:-1], self.here.movers, strict=True)
        )

    @cached_property
    def located(self) -> dict[str, Located]:
        """Returns the predicates that say where a thing is: those that the author
        names, otherwise those of two arguments, exactly one of them a place, from which
        some action takes the thing away.
        """
        if self.file.located is not None:
            names = self.file.located
        else:
            names = [name for name in self.predicates if name in self._deleted]
        found: dict[str, Located] = {}
        for name in names:
            if name not in self.predicates:
                raise self.wrong("located", f"there is no predicate {name}")
            parameters = self.predicates[name].parameters or []
            places = [
                number
                for number, entry in enumerate(parameters, start=1)
                if self._is(entry.type_names, self.here.place.type_names)
            ]
            if len(parameters) == 2 and len(places) == 1:
                (place,) = places
                found[name] = Located(thing=3 - place, place=place)
            elif self.file.located is not None:
                raise self.wrong(
                    "located", f"{name} has not two arguments, one of them a place"
                )
        return found

    @cached_property
    def derived(self) -> frozenset[str]:
        """The predicates of which rules decide, and no action."""
        return frozenset(rule.predicate.word.name for rule in self.domain.axioms)

    @cached_property
    def held(self) -> frozenset[str]:
        """The predicates that an action makes true of a thing while it takes the thing
        from its place.
        """
        held = set[str]()
        for action in self.domain.actions:
            taken = set[str]()
            for change in action.effect.changes:
                name, *terms = change.atom.key
                if change.negated and name in self.located:
                    taken.add(terms[self.located[name].thing - 1])
            for change in action.effect.changes:
                name, *terms = change.atom.key
                adds = not change.negated and name not in self.located
                if adds and not taken.isdisjoint(terms):
                    held.add(name)
        return frozenset(held)

    @cached_property
    def _deleted(self) -> frozenset[str]:
        return frozenset(
            change.atom.predicate.name
            for action in self.domain.actions
            for change in action.effect.changes
            if change.negated
        )

    def _parameter(self, predicate: str, position: int) -> TypedName:
        parameters = self.predicates[predicate].parameters or []
        return parameters[position - 1]

    def _is(self, own: frozenset[str], other: frozenset[str]) -> bool:
        """Returns whether all objects of some types are objects of the other types."""
        return all(
            not other.isdisjoint(self.types.with_ancestors(name)) for name in own
        )

    def instances(self, task: Task, predicate: str, number: int) -> frozenset[str]:
        """Returns the objects that a predicate's argument, counted from 0, may be."""
        return self._objects(task, self._parameter(predicate, number + 1).type_names)

    def _objects(self, task: Task, types: frozenset[str]) -> frozenset[str]:
        return frozenset(
            name
            for name, kind in task.objects.items()
            if not types.isdisjoint(self.types.with_ancestors(kind))
        )


def _costs(block: Block) -> Iterator[tuple[Block, str]]:
    """Yields the outermost blocks that declare costs or add to them, in order, and the
    heads of the blocks around them.
    """
    for inner in block.blocks:
        if inner.head in (":functions", "increase"):
            yield inner, block.head
        else:
            yield from _costs(inner)


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    if not key:
        return "write keys and values, at least a line such as here: (at ?r)"
    if first["type"] == "extra_forbidden":
        keys = WorldFile.model_fields
        hint = did_you_mean(key, keys)
        return f"{key}: there is no such key{hint} The keys are {', '.join(keys)}"
    if yaml_traps.is_slot(first["input"]):
        return f"{key}: {yaml_traps.why_quoted()}"
    return f"{key}: {first['msg']}"


def read_file(folder: Path, files: Mapping[str, str]) -> WorldFile:
    """Reads `world.yaml` from the texts of a folder. Raises ConfigError, in one
    sentence.
    """
    content = yaml_traps.load(folder / FILE, files[FILE])
    try:
        return WorldFile.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{folder / FILE}: {_first_fault(error)}.") from None


def read_world(folder: Path) -> World:
    """Reads a folder with `domain.pddl`, `world.yaml`, and problems or `draw.py`.

    Raises ConfigError, in one sentence, for a file that cannot be read.
    """
    files = texts_of(folder)
    domain = files[DOMAIN]
    if fault := domain_fault(domain):
        raise ConfigError(f"{folder / DOMAIN}: {REFUSED}: {fault}.")
    world = World(folder, read_file(folder, files), domain, files)
    if not world.domain.types:
        unary = [
            name
            for name, predicate in world.predicates.items()
            if len(predicate.parameters or ()) == 1
        ]
        raise ConfigError(
            f"{folder / DOMAIN} declares no types, and a world needs them to know its"
            f" places; these predicates could be types: {', '.join(unary) or 'none'}."
        )
    return world

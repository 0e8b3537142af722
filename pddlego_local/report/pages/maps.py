"""Draws the maps of an episode's page: for each planned file what the model believed,
what was true, and what it had been told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from markupsafe import Markup

from pddlego_local.core.nouns import TrueState, Turn, Turns
from pddlego_local.core.protocols import DescribedInText
from pddlego_local.core.record.events import (
    ActionTaken,
    Event,
    Plan,
    Restart,
    Start,
    State,
)
from pddlego_local.core.record.run_record import RunRecord
from pddlego_local.core.record.states import NOTHING, after
from pddlego_local.environments import family
from pddlego_local.episode.episode import FIRST_COMMAND
from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.drawing import Album
from pddlego_local.report.map.truth import Differences, compare, true_world, walked
from pddlego_local.report.map.world import (
    Predicate,
    World,
    declared,
    predicate_of,
    read_world,
)
from pddlego_local.runner.parts import build

OURS = "pddlego_local.environments."


class Reference:
    """Says what the player had been told: the facts of the problem that the rule-based
    reference writes for the same memory.

    Only the project's own environments are built, because a record of others may name
    any code.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Takes a cell's configuration."""
        self._rules: Any = None
        self._hides_nothing = False
        self.predicates = frozenset[Predicate]()
        """Those of the environment's domain."""
        tree = config.get("environment", {})
        if all(str(target).startswith(OURS) for target in _targets(tree)):
            try:
                parts = {"environment": tree, "model": {}, "method": {}}
                environment = build(parts, "environment")
                self._rules = family.reference(environment.package)
                self.predicates = declared(environment.domain)
                self._hides_nothing = isinstance(environment, DescribedInText)
            except Exception:  # an old record, or its folder of worlds is gone
                self._rules = None

    @classmethod
    def of(cls, run: RunRecord) -> "Reference":
        """Takes the configuration of the last start, which has whole paths."""
        return cls(run.starts[-1].config if run.starts else run.identity)

    def told(
        self, domain: str, memory: Turns, true: TrueState
    ) -> frozenset[Fact] | None:
        """Returns None if it is not known."""
        if self._hides_nothing:
            return None if true == NOTHING else true.facts
        if self._rules is None or not memory:
            return None
        try:
            return read_world(domain, self._rules.problem(memory)).facts
        except Exception:  # a record may hold texts that its environment never writes
            return None


def _targets(tree: object) -> list[object]:
    if not isinstance(tree, Mapping):
        return []
    inner = [target for value in tree.values() for target in _targets(value)]
    own = [tree["_target_"]] if "_target_" in tree else []
    return [*own, *inner]


@dataclass(frozen=True)
class Moment:
    """One planned file, and what was true and told when it was written. `predicates`
    are those of the environment's domain.
    """

    plan: Plan
    world: World
    true: TrueState
    told: frozenset[Fact] | None
    predicates: frozenset[Predicate]

    @property
    def differences(self) -> Differences | None:
        """Without a true state, what was told takes its place: a fact is then wrong if
        it was not told. None if no fact can be compared.
        """
        if self.true != NOTHING:
            return compare(self.world, self.true, self.told)
        common = self.predicates & self.world.declared
        if self.told is None or not common:
            return None
        told = frozenset(fact for fact in self.told if predicate_of(fact) in common)
        return compare(self.world, TrueState({}, told, common), told)

    @property
    def drawn(self) -> tuple[object, ...]:
        """What its maps show, but for the goal and the plan: methods ask for several
        goals with one state.
        """
        return self.world.facts, self.true, self.told


class Maps(NamedTuple):
    """The maps of one planned file. `true` is None if the record has no true state;
    `differences` are then those from what was told. They are None if nothing can be
    compared. `believed` is empty if other maps show the same, and `instead` says which.
    `is_told` says whether it is known
    what the player had been told. `gone` are the facts of the last file that this one
    does not have.
    """

    world: World
    believed: Markup
    true: Markup | None
    differences: Differences | None
    is_told: bool
    gone: Sequence[Fact]
    instead: str = ""

    @property
    def wrong(self) -> frozenset[Fact]:
        return self.differences.wrong if self.differences else frozenset()


def maps_of(events: Sequence[Event], reference: Reference) -> list[Maps]:
    """Returns the maps of each plan. Of the files with one state in a step, the last
    one has the drawing, since the others had no plan.
    """
    moments = moments_of(events, reference)
    worlds = list[World]()
    for moment in moments:
        # The true state comes first: it decides which places lie where.
        worlds += [true_world(moment.true, moment.world), moment.world]
    album = Album(worlds)
    found = list[Maps]()
    before: Moment | None = None  # of those with a drawing
    for number, (moment, later) in enumerate(zip_longest(moments, moments[1:])):
        if later and _of_one_state(moment, later):
            found.append(_undrawn(moment, "The map stands at the next file."))
        elif before and moment.drawn == before.drawn and not moment.plan.plan:
            found.append(_undrawn(moment, "The map is as before."))
        else:
            found.append(_drawn(album, number, moment, before))
            before = moment
    return found


def _of_one_state(moment: Moment, later: Moment) -> bool:
    same_step = moment.plan.where.step == later.plan.where.step
    return same_step and not moment.plan.plan and moment.drawn == later.drawn


def _undrawn(moment: Moment, instead: str) -> Maps:
    return Maps(
        world=moment.world,
        believed=Markup(),
        true=None,
        differences=moment.differences,
        is_told=moment.told is not None,
        gone=(),
        instead=instead,
    )


def _drawn(album: Album, number: int, moment: Moment, before: Moment | None) -> Maps:
    world = moment.world
    differences = moment.differences
    known = before.world.facts if before else world.facts
    marks, true_marks = marks_of(moment, known)
    plan = moment.plan
    path = [*walked(plan.domain, plan.problem, plan.plan, world)]
    true, believed = 2 * number, 2 * number + 1
    has_true = bool(moment.true.facts)
    return Maps(
        world=world,
        believed=album.draw(believed, marks, path, beside=true),
        true=album.draw(true, true_marks, beside=believed) if has_true else None,
        differences=differences,
        is_told=moment.told is not None,
        gone=sorted(known - world.facts),
    )


def marks_of(
    moment: Moment, before: frozenset[Fact]
) -> tuple[dict[Fact, str], dict[Fact, str]]:
    """Returns the marks of the believed and of the true facts. `before` are the facts
    of the last file.
    """
    marks = dict.fromkeys(moment.world.facts - before, "new")
    true_marks: dict[Fact, str] = {}
    if differences := moment.differences:
        marks |= dict.fromkeys(differences.wrong, "wrong")
        true_marks = dict.fromkeys(differences.unseen, "unseen")
        true_marks |= dict.fromkeys(differences.missed, "missed")
    return marks, true_marks


def moments_of(events: Sequence[Event], reference: Reference) -> list[Moment]:
    """Returns a moment for each plan."""
    moments = []
    memory: list[Turn] = []
    true = NOTHING
    for event in events:
        match event:
            case Start():
                memory = [Turn(FIRST_COMMAND, event.observation)]
            case ActionTaken() if event.command is not None:
                memory.append(Turn(event.command, event.observation))
            case Restart():
                memory = _replayed(memory, event.replayed)
            case State():
                true = after(true, event)
            case Plan():
                told = reference.told(event.domain, memory, true)
                world = read_world(event.domain, event.problem, true)
                words = reference.predicates
                moments.append(Moment(event, world, true, told, words))
    return moments


def _replayed(memory: Sequence[Turn], commands: Sequence[str]) -> list[Turn]:
    """Returns the turns that are left of a memory after a restart."""
    left = [*memory[:1]]
    later = iter(memory[1:])
    for command in commands:
        kept = next((turn for turn in later if turn.command == command), None)
        left += [kept] if kept else []
    return left

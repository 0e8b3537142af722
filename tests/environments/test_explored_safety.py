"""What partly seen worlds must not do: leave out what could be explored, tell of what
is not seen, or judge states in another way than a second judge.
"""

import json
import os
import random
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.commands.shared.world_walks import full_files
from pddlego_local.core.nouns import Completion, Turn, Turns
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.rungs import RungName
from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.box import in_the_box
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.draws import problem_text, seeds_of
from pddlego_local.environments.explored.game import goal_of
from pddlego_local.environments.explored.hidden import hidden_of
from pddlego_local.environments.explored.marks import Mark, marks_of
from pddlego_local.environments.explored.play import LOOK, Play
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World, read_world
from pddlego_local.episode.reading.answer import read_free
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.pddl.conditions import (
    Atomic,
    Fact,
    Known,
    conjuncts,
    ground,
    known_as,
)
from pddlego_local.pddl.state import Schema, State, Task, read_task
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tools.bench.unified import unified_task

HOUSE = Path(__file__).parents[2] / "examples/house"
DATA = Path(
    os.environ.get("PDDLEGO_DATA", Path(__file__).parents[3] / "shared" / "data")
)
ONE_LINE_WORLDS = DATA / "pddl" / "one_line_worlds.tar.xz"
OF_OTHERS = (
    "child-snack-sequential-optimal",
    "driverlog-strips-automatic",
    "elevator-strips-simple-typed",
    "storage-propositional",
    "tpp-propositional",
    "transport-sequential-optimal-strips",
    "visit-all-sequential-optimal",
)
BOX = in_the_box()
WORLDS = ("house", *BOX, *OF_OTHERS)
MOST_GAMES = 3
WITHOUT_ODD_TYPES = [name for name in WORLDS if name != "storage-propositional"]
"""The types of storage are declared twice, which neither the grammar of `typed` nor
unified-planning's reader allows.
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("worlds")
    found = {"house": shutil.copytree(HOUSE, out / "house"), **BOX}
    if ONE_LINE_WORLDS.is_file():
        with tarfile.open(ONE_LINE_WORLDS) as archive:
            archive.extractall(out, filter="data")
        found |= {file.parent.name: file.parent for file in out.rglob("world.yaml")}
    return found


@pytest.fixture
def folder(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Path:
    if request.param not in folders:
        pytest.skip("the worlds of others are not here")
    return folders[request.param]


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(search="lama_first", limits=Limits(cpu_s=10)) as planner:
        yield planner


def environment_of(folder: Path) -> Any:
    words = ["environment=explored", f"environment.folder={folder}"]
    return compose_cell(words).build("environment")


def play_of(world: World, problem: str) -> Play:
    return Play(world, world.task(problem), goal_of(problem))


def games_of(world: World) -> Iterator[str]:
    """Yields the problems of the world's first games."""
    for seed in seeds_of(world)[:MOST_GAMES]:
        yield problem_text(world, seed)


# ---- Exploring


def explored(environment: Any, planner: FastDownward) -> Turns:
    """Explores as the reference does that has no plan for the goal, and returns all
    that it was told.
    """
    memory = [Turn(LOOK, environment.reset(0).text)]
    while True:
        plans = [planner.plan(*each).plan for each in environment.otherwise(memory)]
        shortest = min(filter(None, plans), key=len, default=())
        if not shortest:
            return memory
        for step in shortest:
            command = environment.command(step)
            observation = environment.step(command)
            assert not observation.refused, observation.text
            memory.append(Turn(command, observation.text))


def left_out(
    world: World, play: Play, marks: Sequence[Mark], marked: set[Fact]
) -> Iterator[tuple[Fact, str]]:
    """Yields each mark that was not earned, and a problem whose goal is to earn it from
    the true state.
    """
    _, problem = full_files(world, play)
    for mark in marks:
        (variable,) = mark.variables
        for thing, kind in play.task.objects.items():
            if (mark.predicate, thing) in marked or not world.is_below(
                kind, variable.kind
            ):
                continue
            goal = re.sub(rf"\{variable.name}\b", thing, mark.condition)
            own = goal_of(problem)
            yield (mark.predicate, thing), problem.replace(own, goal)


@pytest.mark.parametrize("folder", WORLDS, indirect=True)
def test_exploring_finds_all_that_can_be_reached(
    folder: Path, planner: FastDownward
) -> None:
    """With no goal but exploring, no reachable viewpoint is left out."""
    environment = environment_of(folder)
    memory = explored(environment, planner)
    world = environment.loaded
    belief = Belief(world, marks_of(world))
    belief.begin(memory[0].text)
    for turn in memory[1:]:
        belief.follow(turn.command, turn.text)
    assert belief.marked
    for mark, problem in left_out(world, environment.play, belief.marks, belief.marked):
        result = planner.plan(world.domain_without_costs, problem)
        assert result.outcome == "unsolvable", (mark, result.plan)
    environment.close()


# ---- What is not seen


def probes(task: Task, commands: Commands, chance: random.Random) -> list[str]:
    """Returns commands with objects drawn at random, most of which are refused."""
    things = sorted(task.objects)
    return [
        commands.said(
            (schema.name, *(chance.choice(things) for _ in schema.parameters))
        )
        for schema in task.schemas
    ]


class Walk:
    """A random walk: what was tried in each state, and all that the player saw."""

    def __init__(self, play: Play, seed: int) -> None:
        self.chosen: list[str] = []
        self.tried: list[list[str]] = []
        self.seen = set(play.seen)
        chance = random.Random(seed)
        for _ in range(12):
            tried = probes(play.task, play.commands, chance)
            self.tried.append(
                [each for each in tried if not play.commands.steps(each, play.state)]
            )
            offered = honest_offers(play)
            if not offered:
                break
            self.chosen.append(chance.choice(offered))
            play.carry_out(self.chosen[-1])
            self.seen |= play.seen


def honest_offers(play: Play) -> list[str]:
    """Returns the commands whose preconditions are in sight, whatever the game says."""
    sight, state = play.sight, play.state
    known, places = known_and_places(play)
    offered = []
    for step in play.task.applicable(state):
        (schema, *_) = play.task.actions[step[0]]
        binding = schema.binding(step[1:])
        needed = [
            (atom.pattern[0], *(binding.get(term, term) for term in atom.pattern[1:]))
            for atom in plain_atoms(schema)
        ]
        if all(sight.is_seen(fact, known, places) for fact in needed):
            offered.append(play.commands.said(step))
    return [each for each in offered if len(play.commands.steps(each, state)) == 1]


def known_and_places(play: Play) -> tuple[Known, frozenset[str]]:
    known = known_as(play.state.true)
    return known, play.sight.whereabouts.places(play.state.true)


def plain_atoms(schema: Schema) -> list[Atomic]:
    parts = conjuncts(schema.condition)
    return [p for p in parts if isinstance(p, Atomic) and p.pattern[0] != "="]


def replies(play: Play, walk: Walk) -> list[str]:
    """Returns all texts of a game in which the walk's commands are given."""
    told = [play.opening(), *play.offered()]
    for number, tried in enumerate(walk.tried):
        for command in tried:
            if not play.commands.steps(command, play.state):
                told.append(play.carry_out(command))
        if number < len(walk.chosen):
            told += [play.carry_out(walk.chosen[number]), *play.offered()]
    return told


def without_unseen(
    world: World, problem: str, seed: int
) -> tuple[list[str], list[str]]:
    """Returns the replies of a game, and those of the same game without the facts that
    the player never sees.
    """
    walk = Walk(play_of(world, problem), seed)
    true = play_of(world, problem)
    everything = Belief(world, kinds=dict(true.task.objects))
    everything.facts = {*true.state.facts} & walk.seen
    reduced = everything.problem(true.goal)
    return replies(true, walk), replies(play_of(world, reduced), walk)


def differing(folder: Path) -> tuple[int, int]:
    """Returns how many replies were compared, and how many differ."""
    world = read_world(folder)
    compared = differ = 0
    for problem in games_of(world):
        for seed in range(3):
            pair = without_unseen(world, problem, seed)
            compared += len(pair[0])
            differ += sum(one != other for one, other in zip(*pair, strict=False))
            differ += abs(len(pair[0]) - len(pair[1]))
    return compared, differ


@pytest.mark.parametrize("folder", WORLDS, indirect=True)
def test_no_reply_depends_on_what_is_never_seen(folder: Path) -> None:
    compared, differ = differing(folder)
    assert compared > 50 and differ == 0


def named_whatever_is_seen(
    self: Commands, text: str, state: State, telling: Telling
) -> str:
    """A planted leak: the refusal names the first precondition that fails."""
    for schema, binding in self._meant(text):
        known = known_as(state.true)
        for part in plain_atoms(schema):
            if part.variables <= binding.keys() and not part.holds(binding, known):
                fact = ground(part.pattern, binding)
                return telling.why_not(fact, None, is_true=part.negated)
    return "something that you do not see prevents it"


@pytest.mark.parametrize(
    ("method", "leak"),
    [("refusal", named_whatever_is_seen), ("_is_in_sight", lambda *_: True)],
)
def test_a_planted_leak_is_found(
    method: str,
    leak: Callable[..., Any],
    folders: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Commands, method, leak)
    assert any(differing(folders[name])[1] for name in WORLDS if name in folders)


# ---- Belief, and a second judge


@pytest.mark.parametrize("folder", WORLDS, indirect=True)
def test_belief_is_true_after_every_command_that_is_tried(folder: Path) -> None:
    world = read_world(folder)
    hidden = hidden_of(world)
    for number, problem in enumerate(games_of(world)):
        play = play_of(world, problem)
        belief = Belief(world, marks_of(world))
        belief.begin(play.opening())
        chance = random.Random(number)
        for _ in range(20):
            tried = probes(play.task, play.commands, chance)
            offered = play.offered()
            command = chance.choice([*offered[1:], *tried[:2], LOOK])
            told = play.carry_out(command)
            belief.follow(command, told)
            seen, believed = (
                {fact for fact in facts if fact[0] not in hidden}
                for facts in (play.seen, belief.state.true)
            )
            assert seen <= believed <= play.state.true, (command, told)


@pytest.mark.parametrize("folder", WITHOUT_ODD_TYPES, indirect=True)
def test_a_second_judge_agrees_on_random_walks(folder: Path) -> None:
    world = read_world(folder)
    play = play_of(world, problem_text(world, 0))
    files = full_files(world, play)
    task, unified = read_task(*files), unified_task(*files)
    assert not isinstance(unified, str), unified
    chance = random.Random(2)
    state = task.initial
    for _ in range(10):
        possible = task.applicable(state)
        sample = chance.sample(possible, min(len(possible), 6))
        things = sorted(task.objects)
        for schema in task.schemas:
            drawn = [chance.choice(things) for _ in schema.parameters]
            sample.append((schema.name, *drawn))
        assert unified.difference(state, sample, task) == ""
        if not possible:
            break
        state = task.successor(state, chance.choice(possible))


# ---- The reference's answers


def smallest(world: World) -> list[str]:
    """Returns the option that asks for the world's smallest games."""
    sizes = world.file.sizes
    return [f"environment.sizes=[{sizes[0]},{sizes[0]}]"] if sizes else []


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit", "pddlego"])
@pytest.mark.parametrize("folder", WITHOUT_ODD_TYPES, indirect=True)
def test_the_references_answers_are_in_both_upper_rungs(
    folder: Path, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[tuple[Any, Completion]] = []
    answer = ReferenceFormalizer.answer

    def noted(self: ReferenceFormalizer, question: Any, sampling: Any) -> Any:
        drawn = answer(self, question, sampling)
        answers.append((question, drawn.completion))
        return drawn

    monkeypatch.setattr(ReferenceFormalizer, "answer", noted)
    words = [
        *("environment=explored", f"environment.folder={folder}", "games=0"),
        *smallest(read_world(folder)),
        *(f"method={method}", "model=reference", "decoding=grounded"),
        f"run.out={tmp_path}",
    ]
    result = run_cell(compose_cell(words))
    assert not result.faults and answers
    rungs: tuple[RungName, ...] = ("typed", "grounded")
    for question, completion in answers:
        value = read_free(completion, question.form, prompt=question.messages).value
        assert value is not None
        for rung in rungs:
            why = why_outside(value, question, rung)
            assert why == "", (rung, why, json.loads(completion.text))

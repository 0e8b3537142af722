"""Looks at a partly seen world and plays it, by the reference and at random."""

import contextlib
import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.commands.shared.world_walks import Walks, full_files
from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import UnsolvableGame
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.phrases import sentence
from pddlego_local.environments.explored.play import Play
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.visibility import Visibility, visibility
from pddlego_local.environments.explored.world import Checked, World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import Task
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell

ROUND_TO = 10  # actions, for a budget
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Example:
    """A phrase of `world.yaml`, or a default one, and a text that it makes."""

    key: str
    phrase: str
    text: str


@dataclass(frozen=True)
class Optimum:
    """The actions of a plan with full information. Not `is_proved` if a shorter plan
    may exist, since the optimal search ran out of time.
    """

    actions: int
    is_proved: bool


@dataclass(frozen=True)
class WorldCheck:
    """What `pddlego world check` found. Games are counted by their seeds. `written` is
    what the world's file says of dead ends.
    """

    name: str
    examples: Sequence[Example]
    visible: Sequence[Visibility]
    from_anywhere: Sequence[str]
    walks: Walks
    written: Checked | None
    first_text: str
    optima: dict[int, Optimum]
    reference: Sequence[EpisodeRow]
    random: Sequence[EpisodeRow]

    @property
    def scored(self) -> Sequence[EpisodeRow]:
        """The reference's games, without those that are won at the start."""
        return [row for row in self.reference if row.outcome != "success_at_start"]

    @property
    def won(self) -> Sequence[EpisodeRow]:
        return [row for row in self.scored if row.success]

    @property
    def lost(self) -> Counter[str]:
        """Why the reference lost games."""
        return Counter(_why(row) for row in self.scored if not row.success)

    @property
    def ratio(self) -> float | None:
        """The reference's actions in the games that it won, divided by the optima; None
        if no optimum is known.
        """
        known = [row for row in self.won if row.game in self.optima]
        least = sum(self.optima[row.game].actions for row in known)
        return sum(row.actions for row in known) / least if least else None

    @property
    def budget(self) -> int | None:
        """A limit of actions: twice what the reference's longest game took."""
        most = max((row.actions for row in self.won), default=0)
        return math.ceil(2 * most / ROUND_TO) * ROUND_TO or None

    @property
    def first_tokens(self) -> int:
        return round(len(self.first_text) / CHARACTERS_PER_TOKEN)


def _why(row: EpisodeRow) -> str:
    causes = Counter(row.causes)
    causes.pop("solved", None)
    causes.pop("answered", None)
    cause = next((name for name, _ in causes.most_common(1)), "")
    return f"{row.outcome} ({cause})" if cause else row.outcome


def check_world(folder: Path, games: int, walks: int, seconds: int) -> WorldCheck:
    """Plays `games` games and `walks` random walks, with so many seconds of CPU time
    for each plan.

    Raises ConfigError for a mistake in the folder's files.
    """
    words = [
        "environment=explored",
        f"environment.folder={folder}",
        f"planner.limits.cpu_s={seconds}",
    ]
    environment: Any = compose_cell(words).build("environment")
    limits = Limits(cpu_s=seconds)
    with (
        contextlib.closing(environment),
        FastDownward(limits=limits) as optimal,
        FastDownward(search="lama_first", limits=limits) as fast,
    ):
        world: World = environment.loaded
        seeds = [*(environment.seeds or range(games))[:games]]
        first_texts, optima, found = list[str](), dict[int, Optimum](), Walks()
        for seed in seeds:
            with contextlib.suppress(UnsolvableGame):
                first_texts.append(environment.reset(seed).text)
                optimum = _optimum(world, environment.play, optimal, fast)
                if optimum is not None:
                    optima[seed] = optimum
        for number in range(walks if optima else 0):
            seed = [*optima][number % len(optima)]
            environment.reset(seed)
            found.walk(world, environment.play, number, fast)
        environment.reset(seeds[0])
        play: Play = environment.play
        return WorldCheck(
            name=folder.resolve().name,
            examples=[*_examples(world, play.task, play.commands)],
            visible=[*visibility(world, play.task, play.sight)],
            from_anywhere=play.commands.from_anywhere,
            walks=found,
            written=world.file.checked,
            first_text=max(first_texts, key=len),
            optima=optima,
            reference=_played(words, seeds, "pddlego_plus"),
            random=_played(words, seeds, "random_policy"),
        )


def _optimum(
    world: World, play: Play, optimal: FastDownward, fast: FastDownward
) -> Optimum | None:
    files = full_files(world, play)
    result = optimal.plan(*files)
    if result.plan:
        return Optimum(len(result.plan), is_proved=not _is_beyond_lmcut(world))
    if result.outcome in ("timeout", "out_of_memory"):
        plan = fast.plan(*files).plan
        return Optimum(len(plan), is_proved=False) if plan else None
    return None


def _is_beyond_lmcut(world: World) -> bool:
    """Returns whether the optimal search leaves a domain to another one."""
    domain = world.domain
    changes = [each for action in domain.actions for each in action.effect.changes]
    return bool(domain.axioms) or any(change.when for change in changes)


def _played(
    words: Sequence[str], seeds: Sequence[int], method: str
) -> Sequence[EpisodeRow]:
    """Plays games by the rules of model=reference and returns their rows."""
    with tempfile.TemporaryDirectory() as out:
        own = [
            *(f"method={method}", "model=reference", f"run.out={out}"),
            f"games='{','.join(map(str, seeds))}'",
        ]
        config = compose_cell([*words, *own])
        result = run_cell(config, literal_console(quiet=True))
        return [*read_rows(result.folder / "episodes.jsonl")]


def _examples(world: World, task: Task, commands: Commands) -> Iterator[Example]:
    """Yields each phrase with a fact or an action of the game in it."""
    telling = Telling(world)
    for name in world.predicates:
        fact = _fact(world, task, name)
        things = dict(zip(world.parameters[name], fact[1:], strict=True))
        for phrase in telling.used(name):
            here = next((things[unsaid] for unsaid in phrase.unsaid), None)
            said = telling.said([fact], here or None)
            text = next(t for t in said if phrase.read(t[:-1]) is not None)
            yield Example(f"say.{name}", phrase.text, text)
        aim = telling.aims[name]
        yield Example(f"aim.{name}", aim.text, sentence(aim.said(things)))
    for name, phrase in commands.phrases.items():
        (schema, *_) = task.actions[name]
        objects = [
            next(iter(schema.choices[entry.name]), entry.name[1:])
            for entry in schema.parameters
        ]
        yield Example(f"do.{name}", phrase.text, commands.said((name, *objects)))


def _fact(world: World, task: Task, name: str) -> Fact:
    """Returns a fact of a predicate: one that is true at the start, or one of objects
    that have its types.
    """
    true = sorted(fact for fact in task.initial.true if fact[0] == name)
    if true:
        return true[0]
    things = list[str]()
    for entry in world.predicates[name].parameters or ():
        fitting = [
            thing
            for thing, kind in task.objects.items()
            if any(world.is_below(kind, wanted) for wanted in entry.type_names)
        ]
        things.append(fitting[len(things) % len(fitting)] if fitting else entry.name)
    return (name, *things)

"""Training examples: the questions of a game with the answers of the reference.

A player plays a whole game by a method, with the real planner and the real game. Each
question to the player is also given to the reference. Players make mistakes
(`players`), so some questions follow a slip and contain the message of the planner or
the game about it.
"""

import contextlib
import functools
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pddlego_local.core.nouns import Budget, Names, Sampling, Turns
from pddlego_local.core.protocols import Environment, Planner
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import EDIT
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import (
    AnyQuestion,
    Drawn,
    GrammarContext,
    WholeAnswerModel,
)
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import Degree, Family
from pddlego_local.environments.explored.game import Explored
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.methods.formalizer_two_step import FormalizerTwoStep
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.pddl.edit import Changes, difference, empty_problem, facts_of
from pddlego_training.players import Player
from pddlego_training.wide_numbers import wide_explored
from pddlego_training.wide_rooms import WideAlfworld

FIRST_SEED = 100_000
"""Games with lower seeds are only for evaluation."""

PartlySeen = Literal[
    "explored_coin",
    "explored_ferry",
    "explored_office",
    "explored_vault",
    "renamed_coin",
    "renamed_ferry",
    "renamed_office",
    "renamed_vault",
]
Kind = Literal["coin", "cooking", "alfworld", "described"] | PartlySeen
PlayedBy = Literal["compact", "pddl_edit"]
FORMALIZERS: Sequence[Method] = (
    Formalizer(),
    Formalizer(wording="knowledge"),
    FormalizerTwoStep(),
    FormalizerTwoStep(),
    FormalizerTwoStep(wording="knowledge"),
    FormalizerTwoStep(wording="knowledge", shows_domain_text=False),
)
"""The methods of described worlds. A game draws one."""
METHODS: Mapping[PlayedBy, Method] = {
    "compact": PddlegoPlus(variant="compact"),
    "pddl_edit": PddlEdit(max_retries=2),
}
SIZES = (2, 9)  # blocks, packages and so on of these worlds


def kind_of(seed: int, kinds: Sequence[Kind]) -> Kind:
    """Returns the kind of a game. Consecutive seeds have the kinds in turn."""
    return kinds[seed % len(kinds)]


@dataclass(frozen=True)
class Example:
    """A question as the prompt of a model, its right answer in the layout "line", and
    the game's seed.
    """

    prompt: str
    answer: str
    game: int


@dataclass(frozen=True)
class Game:
    """A training game. A game of the kind "described" has one of the `worlds`, and is
    played by one of the FORMALIZERS instead of by `method`. The seed determines
    everything else.
    """

    seed: int
    kind: Kind = "coin"
    method: PlayedBy = "compact"
    worlds: Sequence[Family] = ()

    def _drawn(self, what: str) -> random.Random:
        return random.Random(derive_seed(what, self.seed))

    @property
    def played_by(self) -> Method:
        if self.kind == "described":
            return self._drawn("formalizer").choice(FORMALIZERS)
        return METHODS[self.method]

    @property
    def rooms(self) -> int:
        """3 to 11 rooms. Large houses are more frequent because their files are
        longer.
        """
        rng = self._drawn("rooms of a game to learn from")
        return rng.choices(range(3, 12), weights=range(3, 12))[0]

    @property
    def doors(self) -> bool:
        return self._drawn("doors").random() < 0.75

    @property
    def kitchen(self) -> tuple[int, int]:
        """The numbers of rooms and ingredients. Both are 2 in the paper's easy games,
        and 5 in its hard games.
        """
        rng = self._drawn("kitchen")
        return rng.randint(2, 6), rng.randint(1, 5)

    def environment(self) -> Coin | Cooking | WideAlfworld | Described | Explored:
        """Returns an environment for this game."""
        match self.kind:
            case "described":
                rng = self._drawn("world to learn from")
                text: Degree = rng.choice(("moderately", "moderately", "heavily"))
                return Described(world=rng.choice(self.worlds), text=text, sizes=SIZES)
            case "alfworld":
                return _alfworld()
            case "cooking":
                rooms, ingredients = self.kitchen
                budget = Budget(unit="actions", limit=50)
                return Cooking(rooms=rooms, ingredients=ingredients, budget=budget)
            case "coin":
                return Coin(rooms=self.rooms, doors=self.doors)
            case partly_seen:
                words, world = partly_seen.split("_")
                return wide_explored(world, renamed=words == "renamed")


@functools.cache
def _alfworld() -> WideAlfworld:
    """5 games of 17 have slices; the real data set has none."""
    return WideAlfworld(split="train", task_types=PLAIN_TYPES + TASK_TYPES)


@dataclass
class _News:
    """The edit that the newest observations justify.

    The reference would also add facts that earlier answers left out and that no new
    observation mentions. This edit does not, but it deletes what is false in the file.
    """

    turns: int = 0
    before: str = ""
    after: str = ""
    named: frozenset[str] = frozenset()
    """The names in the new turns, and the current place."""

    def edit(self, context: GrammarContext, names: Names) -> dict[str, Changes]:
        if len(context.memory) != self.turns:
            # Otherwise the same question is asked again.
            self._read(context, names)
        new = difference(self.before, self.after)
        edit = difference(context.problem, self.after)
        facts = edit["init"]
        facts["add"] = [
            fact
            for fact in facts["add"]
            if fact in new["init"]["add"] or self._is_named(fact)
        ]
        declared: set[str] = set()
        for fact in facts["add"]:
            declared.update(_words(fact))
        objects = edit["objects"]
        objects["add"] = [
            line
            for line in objects["add"]
            if line in new["objects"]["add"] or line.split()[0] in declared
        ]
        return edit

    def _read(self, context: GrammarContext, names: Names) -> None:
        new_turns = context.memory[self.turns :]
        self.turns = len(context.memory)
        self.before = self.after or empty_problem(context.domain)
        self.after = family.reference(context.environment).problem(context.memory)
        facts = facts_of(self.after)
        places = [fact[4:-1] for fact in facts if fact.startswith("(at ")]
        self.named = frozenset([*places, *_named(new_turns, names)])

    def _is_named(self, fact: str) -> bool:
        _, *things = _words(fact)
        return bool(things) and self.named.issuperset(things)


def _named(turns: Turns, names: Names) -> Iterator[str]:
    """Yields the known objects that the turns mention, and objects whose names contain
    a mentioned name, such as the room behind a closed door.
    """
    spoken = [f"{turn.command} {turn.text}" for turn in turns]
    told = " ".join(spoken).lower()
    things = {_tight(thing) for thing in names.things}
    found = set()
    for thing in names.things:
        words = re.escape(thing.lower())
        if re.search(rf"\b{words}\b", told):
            found.add(_tight(thing))
    for name in names.objects:
        tight = _tight(name)
        is_beyond = tight not in things and any(thing in tight for thing in found)
        if tight in found or is_beyond:
            yield name


def _tight(name: str) -> str:
    """The name without blanks and underscores, which game and PDDL spell
    differently.
    """
    return name.lower().replace(" ", "").replace("_", "")


def _words(fact: str) -> list[str]:
    return fact.strip("()").split()


@dataclass
class Taught(WholeAnswerModel):
    """A model that answers as `player` does and keeps the right answers of the
    reference.

    Right answers are printed in the layout "line" and tight, which every rung allows.
    """

    player: Player
    environment: Environment
    right_answers: list[tuple[AnyQuestion, str]] = field(default_factory=list)
    reference: ReferenceFormalizer = field(default_factory=ReferenceFormalizer)
    _news: _News = field(default_factory=_News)

    def identity(self) -> dict[str, str]:
        return {"backend": "taught"}

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        values: Mapping[str, Any]
        context = question.context
        if question.form == EDIT:
            values = self._news.edit(context, self.environment.names(context.memory))
        else:
            answer = self.reference.answer(question, sampling)
            values = json.loads(answer.completion.text)
        printer = Printer("line", schemas=context.actions, as_staged=True)
        right = printer.answer(values)
        self.right_answers.append((question, right))
        return self.player(question, right, sampling)

    def close(self) -> None:
        self.reference.close()


def examples_of(
    game: Game, player: Player, planner: Planner, decoding: Decoding
) -> Iterator[Example]:
    """Plays a game and yields its examples, in the order of the questions."""
    with contextlib.closing(game.environment()) as environment:
        model = Taught(player, environment)
        parts = Parts(environment, model, planner, decoding)
        episode = Episode(parts, lambda _: None, run_seed=0, game=game.seed, trial=0)
        with contextlib.closing(model):
            game.played_by(episode)
    for question, right in model.right_answers:
        (message,) = question.messages
        yield Example(message.content, right, game.seed)

"""Examples: the questions of a game with the answers that the reference gives to them.

A player plays a whole game by a method, with the real planner and the real game; whatever it is
asked, the reference is asked too. Players make mistakes (`players`): so there are examples of what
is asked after slips, each with the planner's or the game's own words about it.
"""

import contextlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pddlego_local.core.nouns import Budget, Names, Sampling, Turn
from pddlego_local.core.protocols import Environment, Planner
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import EDIT, Fields
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import Drawn, GrammarContext, Question, WholeAnswerModel
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES
from pddlego_local.environments.alfworld.simulation import SimulatedAlfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import Degree, Family
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.methods.formalizer_two_step import FormalizerTwoStep
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.pddl.edit import Changes, difference, empty_problem, facts_of
from pddlego_local.training.players import Player

FIRST_SEED = 100_000
"""Games below are for evaluation alone."""

Kind = Literal["coin", "cooking", "alfworld", "described"]
PlayedBy = Literal["compact", "pddl_edit"]
FORMALIZERS: Sequence[Method] = (
    *(Formalizer(), Formalizer(wording="knowledge")),
    *(FormalizerTwoStep(), FormalizerTwoStep(), FormalizerTwoStep(wording="knowledge")),
    FormalizerTwoStep(wording="knowledge", shows_domain_text=False),
)
METHODS: Mapping[PlayedBy, Method] = {
    "compact": PddlegoPlus(variant="compact"),
    "pddl_edit": PddlEdit(max_retries=2),
}
WORLDS: Sequence[Family] = ("blocksworld", "blocksworld", "logistics", "logistics", "mystery")
SIZES = (2, 9)  # blocks or packages of these worlds


def kind_of(seed: int, kinds: Sequence[Kind]) -> Kind:
    """Games with seeds in a row are of the kinds in turn."""
    return kinds[seed % len(kinds)]


@dataclass(frozen=True)
class Example:
    """A question in a model's words, its right answer in the layout "line", the game's seed."""

    prompt: str
    answer: str
    game: int


@dataclass(frozen=True)
class Game:
    """A game to learn from, played by one of the `methods`; all else follows from its seed."""

    seed: int
    kind: Kind = "coin"
    methods: Sequence[PlayedBy] = ("compact",)

    def _drawn(self, what: str) -> random.Random:
        return random.Random(derive_seed(what, self.seed))

    @property
    def rooms(self) -> int:
        """3 to 11, large houses more often: there is more to write about them."""
        rng = self._drawn("rooms of a game to learn from")
        return rng.choices(range(3, 12), weights=range(3, 12))[0]

    @property
    def method(self) -> Method:
        """What the game is played by: for described worlds, one of those that see them whole."""
        if self.kind == "described":
            return self._drawn("formalizer").choice(FORMALIZERS)
        return METHODS[self._drawn("household").choice(self.methods)]

    @property
    def doors(self) -> bool:
        return self._drawn("doors").random() < 0.75

    @property
    def kitchen(self) -> tuple[int, int]:
        """Rooms and ingredients; the paper's easy games have 2 of both, its hard ones 5."""
        rng = self._drawn("kitchen")
        return rng.randint(2, 6), rng.randint(1, 5)

    def environment(self) -> Coin | Cooking | SimulatedAlfworld | Described:
        if self.kind == "described":
            rng = self._drawn("world to learn from")
            text: Degree = rng.choice(("moderately", "moderately", "heavily"))
            return Described(world=rng.choice(WORLDS), text=text, sizes=SIZES)
        if self.kind == "alfworld":  # slices in 5 games of 17: the real data set has none
            return SimulatedAlfworld(split="train", task_types=PLAIN_TYPES + TASK_TYPES)
        if self.kind == "cooking":
            rooms, ingredients = self.kitchen
            budget = Budget(unit="actions", limit=50)
            return Cooking(rooms=rooms, ingredients=ingredients, budget=budget)
        return Coin(rooms=self.rooms, doors=self.doors)


@dataclass
class _News:
    """What the newest observations say of a problem file. The reference would also add what earlier
    answers left out and no observation tells again; what is false in the file is deleted."""

    turns: int = 0
    before: str = ""
    after: str = ""
    named: frozenset[str] = frozenset()
    """What the new turns name, and the place where one is."""

    def edit(self, context: GrammarContext, names: Names) -> dict[str, Changes]:
        if len(context.memory) != self.turns:  # not the same question once more
            new_turns = context.memory[self.turns :]
            self.turns, self.before = (
                len(context.memory),
                self.after or empty_problem(context.domain),
            )
            self.after = family.reference(context.environment).problem(context.memory)
            places = [fact[4:-1] for fact in facts_of(self.after) if fact.startswith("(at ")]
            self.named = frozenset([*places, *_named(new_turns, names)])
        new, edit = difference(self.before, self.after), difference(context.problem, self.after)
        facts, objects = edit["init"], edit["objects"]
        facts["add"] = [
            fact
            for fact in facts["add"]
            if fact in new["init"]["add"] or self.named.issuperset(_words(fact)[1:] or [""])
        ]
        declared = {word for fact in facts["add"] for word in _words(fact)}
        objects["add"] = [
            line
            for line in objects["add"]
            if line in new["objects"]["add"] or line.split()[0] in declared
        ]
        return edit


def _named(turns: Sequence[Turn], names: Names) -> Iterator[str]:
    """Of all objects that are known, those that the turns name, and what is named after these: the
    room behind a closed door."""
    words = " ".join(f"{turn.command} {turn.text}" for turn in turns).lower()
    spelled = {thing: rf"\b{re.escape(thing.lower())}\b" for thing in names.things}
    told = {_tight(thing) for thing, pattern in spelled.items() if re.search(pattern, words)}
    things = set(map(_tight, spelled))
    for name in names.objects:
        tight = _tight(name)
        if tight in told or (tight not in things and any(thing in tight for thing in told)):
            yield name


def _tight(name: str) -> str:
    """As the game and as PDDL spell it."""
    return name.lower().replace(" ", "").replace("_", "")


def _words(fact: str) -> list[str]:
    return fact.strip("()").split()


@dataclass
class Taught(WholeAnswerModel):
    """A model that answers as `player` does and keeps what the reference would have said: the right
    answer as every rung lets it be written, "line" and tight."""

    player: Player
    environment: Environment
    right_answers: list[tuple[Question[Fields], str]] = field(default_factory=list)
    reference: ReferenceFormalizer = field(default_factory=ReferenceFormalizer)
    _news: _News = field(default_factory=_News)

    decodes: ClassVar[Literal[False]] = False

    def identity(self) -> dict[str, str]:
        return {"backend": "taught"}

    def answer(
        self, question: Question[Fields], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        values: Mapping[str, Any]
        context = question.context
        if question.form == EDIT:
            values = self._news.edit(context, self.environment.names(context.memory))
        else:
            values = json.loads(self.reference.answer(question, sampling).completion.text)
        right = Printer("line", schemas=context.actions, tight=True).answer(values)
        self.right_answers.append((question, right))
        return self.player(question, right, sampling)

    def close(self) -> None:
        self.reference.close()


def examples_of(
    game: Game, player: Player, planner: Planner, decoding: Decoding
) -> Iterator[Example]:
    """What one game teaches, in the order in which it was asked."""
    with contextlib.closing(game.environment()) as environment:
        model = Taught(player, environment)
        parts = Parts(environment, model, planner, decoding)
        with contextlib.closing(model):
            game.method(Episode(parts, lambda _: None, run_seed=0, game=game.seed, trial=0))
    for question, right in model.right_answers:
        (message,) = question.messages
        yield Example(message.content, right, game.seed)

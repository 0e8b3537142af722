"""Examples made by playing: what is asked, what is right, and that it is always the
same.
"""

import contextlib
import itertools
import json
import random
import re
from dataclasses import dataclass, field

import pytest
from pddlego_training.data import Shard
from pddlego_training.examples import (
    FIRST_SEED,
    Example,
    Game,
    Kind,
    Taught,
    examples_of,
    kind_of,
)
from pddlego_training.faults import FAULTS, plant
from pddlego_training.players import Player, slips
from pddlego_training.settings import compose_settings
from pddlego_training.tokenizer import train_tokenizer

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.decoding.forms import EDIT
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments import family
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import families, words_of
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.pddl.edit import Changes, apply, facts_of
from pddlego_local.planner import FastDownward
from tests.decoding.on_rung import constraint_for
from tools.bench.walk import stages_of

GAMES = [Game(FIRST_SEED + number) for number in range(30)]
FREE = Decoding(rung="free")
TYPED = Decoding(rung="typed")


@pytest.fixture(scope="module")
def examples(planner: FastDownward) -> list[Example]:
    return [
        e for game in GAMES for e in examples_of(game, slips(game.seed), planner, FREE)
    ]


def test_every_kind_of_question_comes_up(examples: list[Example]) -> None:
    words = {
        "unplanned": "The planner on the previous files:",
        "refused": "The plan failed:",
        "repeated": "Done three times in a row: ",
        "later": "Previous:",
    }
    kinds = {
        next(
            (kind for kind, text in words.items() if f"\n{text}" in example.prompt),
            "first",
        )
        for example in examples
    }
    assert kinds == {"first", *words}
    games = {Game(example.game) for example in examples}
    assert {game.doors for game in games} == {True, False}
    assert {game.rooms for game in games} >= {4, 7, 11}


def test_a_game_gives_the_same_examples_each_time(
    planner: FastDownward, examples: list[Example]
) -> None:
    for game in GAMES[3:8]:
        again = list(examples_of(game, slips(game.seed), planner, FREE))
        assert again == [example for example in examples if example.game == game.seed]


def test_games_of_every_size_come_with_doors_and_without() -> None:
    games = [Game(seed) for seed in range(FIRST_SEED, FIRST_SEED + 1000)]
    assert {(g.rooms, g.doors) for g in games} == set(
        itertools.product(range(3, 12), [True, False])
    )
    for rooms in range(3, 12):
        with_doors = [g.doors for g in games if g.rooms == rooms]
        assert 0.55 < sum(with_doors) / len(with_doors) < 0.9


def test_seeds_for_evaluation_are_never_played() -> None:
    with pytest.raises(ValueError, match="for evaluation"):
        Shard(FIRST_SEED - 1, 10).split()
    seeds = [
        game.seed for shard in Shard(FIRST_SEED, 120).split() for game in shard.games
    ]
    assert seeds == [*range(100_000, 100_120)]


def test_a_described_world_is_asked_in_one_step_or_two(planner: FastDownward) -> None:
    """Its answers are the gold files; the problem of two steps is asked for after a
    domain.
    """
    worlds = ("blocksworld", "logistics")
    seeds = range(FIRST_SEED, FIRST_SEED + 20)
    games = [Game(seed, "described", worlds=worlds) for seed in seeds]
    ferry = Game(FIRST_SEED, "described", worlds=("ferry",)).environment()
    assert ferry.task_type.startswith("ferry")
    asked = dict[int, list[str]]()
    for game in games:
        files = dict[str, str]()
        for example in examples_of(game, slips(game.seed, game.kind), planner, FREE):
            answer = json.loads(example.answer)
            asked.setdefault(game.seed, []).append(" ".join(answer))
            assert ("In the end it must be so" in example.prompt) == ("pf" in answer)
            files |= answer
        if files and game.seed % 5 == 0:
            assert planner.plan(files["df"], files["pf"]).outcome == "solved"
    assert len(asked) >= 18  # some are over at the start
    assert {tuple(forms) for forms in asked.values()} == {("df pf",), ("df", "pf")}


def test_trainings_never_have_the_words_of_natural_texts(planner: FastDownward) -> None:
    new, seeds = (
        ["I deal with", "I find things", "Before I leave"],
        range(FIRST_SEED, 100_400),
    )
    for words in map(words_of, families()):
        pieces = re.split(r"\{.\}", " {0} ".join(words["told"]["naturally"].values()))
        new += [piece for piece in pieces if len(piece) > 12]
        new += words["domain_text"]["naturally"].splitlines()[::2]
    games = [Game(seed, "described", worlds=families()) for seed in seeds]
    texts = {
        own.texts for game in games if isinstance(own := game.environment(), Described)
    }
    assert len(texts) == 2 * len(families())
    asked = [
        e
        for g in games[:6]
        for e in examples_of(g, slips(g.seed, g.kind), planner, FREE)
    ]
    told = "\n".join([*map("\n".join, texts), *(example.prompt for example in asked)])
    assert asked and [each for each in new if each in told] == []


@dataclass
class Kept:
    """Keeps the questions that a player is asked, with their right answers."""

    player: Player
    asked: list[tuple[AnyQuestion, str]] = field(default_factory=list)

    def __call__(self, question: AnyQuestion, right: str, sampling: Sampling) -> Drawn:
        self.asked.append((question, right))
        return self.player(question, right, sampling)


def always_right(question: AnyQuestion, right: str, sampling: Sampling) -> Drawn:
    return Drawn(Completion(right, "stop", 0, 0, 0.0))


OF_FILES = [
    *(Game(seed) for seed in (100_000, 100_002, 100_007)),
    *(
        Game(seed, "described", worlds=("blocksworld", "logistics"))
        for seed in range(100_000, 100_006)
    ),
]
EDITED: tuple[Kind, ...] = ("coin", "coin", "cooking", "cooking")
OF_EDITS = [
    Game(FIRST_SEED + 1, "alfworld", "pddl_edit"),
    Game(FIRST_SEED + 5, "alfworld", "pddl_edit"),
    *(Game(FIRST_SEED + n, kind, "pddl_edit") for n, kind in enumerate(EDITED)),
]


@pytest.mark.parametrize(
    ("games", "least"),
    [(OF_FILES, 11), pytest.param(OF_EDITS, 30, marks=pytest.mark.alfworld)],
)
def test_the_right_answer_can_be_written_on_every_rung(
    games: list[Game], least: int, planner: FastDownward
) -> None:
    """Character by character: a model that learned it is never led away by a
    grammar.
    """
    player = Kept(always_right)
    decoding = Decoding(rung="grounded", goal="unmet", layout="line")
    for game in games:
        with contextlib.closing(game.environment()) as environment:
            parts = Parts(environment, Taught(player, environment), planner, decoding)
            game.played_by(
                Episode(parts, lambda _: None, run_seed=0, game=game.seed, trial=0)
            )
    for question, right in player.asked:
        for rung in ("free", "json", "syntax", "signatures", "typed", "grounded"):
            layout: Layout = "any" if rung == "free" else "line"
            constraint = constraint_for(rung, question.form, question.context, layout)
            if constraint.in_stages:
                assert place_of_departure(constraint, right) == ""
            else:
                assert read_constrained(
                    Completion(right, "stop", 0, 0, 0.0), question.form
                ).value
    assert len(player.asked) >= least


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_changes_an_answer(fault: str, examples: list[Example]) -> None:
    rng = random.Random(0)
    changed = [plant(rng, e.answer, [fault]) != e.answer for e in examples]
    assert sum(changed) > len(changed) / 10


@pytest.mark.alfworld
def test_no_token_of_an_edit_reaches_over_the_end_of_a_part(
    planner: FastDownward,
) -> None:
    """There a grammar ends: a model that learned such a token could not write it, and
    went on.
    """
    asked = list[tuple[AnyQuestion, str]]()
    kinds: tuple[Kind, ...] = ("alfworld", "coin", "cooking")
    for seed in range(FIRST_SEED, FIRST_SEED + 18):
        game = Game(seed, kinds[seed % 3], "pddl_edit")
        # Under a rung that needs it, a question says which names it shows.
        list(examples_of(game, Kept(always_right, asked), planner, TYPED))
    edits = [(question, right) for question, right in asked if question.form == EDIT]
    texts = [
        text
        for question, right in edits
        for text in (question.messages[-1].content, right)
    ]
    tokenizer = train_tokenizer(texts, 2000, 4096)
    assert any('"]}, "init"' in right for _, right in edits)
    for question, right in edits:
        constraint = constraint_for("typed", EDIT, question.context, "line")
        assert constraint.in_stages
        ids = tokenizer(right, add_special_tokens=False)["input_ids"]
        ends = set(
            itertools.accumulate(len(tokenizer.decode([token])) for token in ids)
        )
        assert "".join(tokenizer.decode([token]) for token in ids) == right
        parts = itertools.accumulate(
            len(part) for _, part in stages_of(constraint, right)
        )
        assert ends.issuperset(parts), right


@pytest.mark.alfworld
@pytest.mark.parametrize(
    ("kind", "games"), [("alfworld", 15), ("coin", 12), ("cooking", 12)]
)
def test_an_edit_says_what_the_news_change_in_the_file_that_is_shown(
    kind: Kind, games: int, planner: FastDownward
) -> None:
    """After slips too: what an earlier answer left out no question tells."""
    asked = list[tuple[AnyQuestion, str]]()
    for seed in range(FIRST_SEED, FIRST_SEED + games):
        player = Kept(slips(seed, kind), asked)
        list(examples_of(Game(seed, kind, "pddl_edit"), player, planner, FREE))
    edits = [(question, right) for question, right in asked if question.form == EDIT]
    assert len(edits) > 30 and (len(asked) > len(edits)) == (kind == "cooking")
    slipped = 0
    for question, right in edits:
        context, shown = question.context, question.messages[-1].content
        edit: dict[str, Changes] = json.loads(right)
        problem, refused, _ = apply(edit, context.problem)
        assert not refused
        told = shown.lower().replace(" ", "").replace("_", "")
        new = {line.split()[0].replace("_", "") for line in edit["objects"]["add"]}
        assert all(name in told or name.startswith("behind") for name in new)
        whole = family.reference(context.environment).problem(context.memory)
        slipped += set(facts_of(problem)) != set(facts_of(whole))
    assert 0 < slipped < len(edits)


def test_partly_seen_worlds_are_learned_in_small_sizes_with_wide_numbers(
    planner: FastDownward,
) -> None:
    """An office has nine rooms at most, which have the numbers of larger games."""
    kinds = compose_settings("nano_explored", []).environment
    asked = dict[Kind, list[Example]]()
    for seed in range(FIRST_SEED, FIRST_SEED + 3 * len(kinds)):
        kind = kind_of(seed, kinds)
        game = Game(seed, kind, "pddl_edit")
        found = examples_of(game, slips(seed, kind), planner, FREE)
        asked.setdefault(kind, []).extend(found)
    assert set(asked) == set(kinds)
    for example in asked["explored_office"]:
        _, _, own = example.prompt.partition("start afresh")
        rooms = {int(number) for number in re.findall(r"room ?(\d+)", own)}
        assert len(rooms) <= 9
        assert all(number <= 24 for number in rooms)
    every_room = re.findall(r"room(\d+)", str(asked["explored_office"]))
    assert max(map(int, every_room)) > 9
    assert "parcel" in str(asked["explored_office"])
    assert "parcel" not in str(asked["renamed_office"])

"""Solved examples for methods that play (`method.shots`): other games of the same
environment, whose first questions a rule-based player answers.

The examples come before the question as a dialogue, in the same words, so that a server
keeps them in its cache. What all of their questions begin with is said once:

    user       the instructions, then what the first example asks
    assistant  the right answer
    user       what the second example asks
    …
    user       what is asked now

Their names are not shown of this game, so the rung "grounded" does not permit them.
"""

import contextlib
import dataclasses
import itertools
import os.path
from collections.abc import Callable, Sequence

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Message, Messages
from pddlego_local.core.protocols import Environment, Mapped, Numbered
from pddlego_local.core.record.events import Call, Event
from pddlego_local.decoding.forms import WITH_PDDL
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, OtherGames, Parts
from pddlego_local.episode.shown import Shown
from pddlego_local.models.reference import ReferenceFormalizer

Play = Callable[[Episode], str]

SPARE = 3  # games in place of those with the map of the game that is played
LAST_SEED = (1 << 31) - 1  # of an environment that has a game for every seed
MOST_SEEDS = 200  # looked at for one example; a game may be over at its start


@dataclasses.dataclass(frozen=True)
class _Solved:
    """The first questions of a game with their answers, and the hash of its map."""

    map: str
    steps: tuple[tuple[str, str], ...]


def with_examples(episode: Episode, play: Play, count: int, shown: Shown) -> Messages:
    """Returns the messages of a question with `count` solved games before it; none of
    them has the map of the game that is played. `play` is the method without examples.
    Raises ConfigError if there are not enough other games.
    """
    if not count:
        return ()
    games = _solved(play, episode.parts, count + SPARE)
    own = episode.environment.map if isinstance(episode.environment, Mapped) else ""
    others = [game for game in games if not own or game.map != own]
    if len(others) < count:
        raise ConfigError(
            f"method.shots={count}: there are only {len(others)} other games to show;"
            f" choose at most method.shots={len(others)}"
        )
    first, *later = others[:count]
    steps = [*first.steps, *(game.steps[0] for game in later)]
    head = _common_paragraphs([question for question, _ in steps])
    messages = []
    for number, (question, answer) in enumerate(steps):
        asked = question if number == 0 else question.removeprefix(head)
        messages += [Message("user", asked), Message("assistant", answer)]
    return (*messages, Message("user", shown.text.removeprefix(head)))


def _common_paragraphs(questions: Sequence[str]) -> str:
    """What all questions begin with, up to the end of a paragraph."""
    common = os.path.commonprefix(list(questions))  # noqa: RUF071 (no paths)
    return common[: common.rfind("\n\n") + 2] if "\n\n" in common else ""


def _solved(play: Play, parts: Parts, most: int) -> tuple[_Solved, ...]:
    """The first games, from the last seed down, that the cell does not play. They are
    solved once for a cell.
    """
    others = parts.others
    if others is None:
        raise ConfigError(
            "method.shots needs a cell, whose environment has other games"
        )
    with others.lock:
        if (play, most) not in others.kept:
            with others.lend() as environment:
                games = _solve(play, parts, others, environment, most)
            others.kept[play, most] = games
        solved: tuple[_Solved, ...] = others.kept[play, most]
    return solved


def _solve(
    play: Play, parts: Parts, others: OtherGames, environment: Environment, most: int
) -> tuple[_Solved, ...]:
    seeds = range(LAST_SEED + 1)
    if isinstance(environment, Numbered):
        seeds = environment.seeds
    free = (seed for seed in reversed(seeds) if seed not in others.played)
    reference = ReferenceFormalizer()
    alone = dataclasses.replace(
        parts,
        environment=environment,
        model=reference,
        decoding=Decoding(rung="free"),
    )
    found = dict[str, _Solved]()
    with contextlib.closing(reference):
        for seed in itertools.islice(free, MOST_SEEDS * most):
            game = _play(play, alone, seed, steps=1 if found else 2)
            shown = {other.steps[0] for other in found.values()}
            if game and game.steps[0] not in shown:
                found.setdefault(game.map or str(seed), game)
            if len(found) == most:
                break
    return tuple(found.values())


class _Enough(Exception):
    """Ends an example after the questions that are shown of it."""


def _play(play: Play, parts: Parts, seed: int, steps: int) -> _Solved | None:
    """Plays a game until so many questions are answered. Returns None if it has
    fewer.
    """
    asked: list[tuple[str, str]] = []

    def emit(event: Event) -> None:
        if isinstance(event, Call) and event.form in WITH_PDDL:
            asked.append((event.messages[0].content, event.text))
            if len(asked) == steps:
                raise _Enough

    episode = Episode(parts, emit, run_seed=0, game=seed, trial=0)
    try:
        play(episode)
    except UnsolvableGame:
        return None
    except _Enough:
        environment = parts.environment
        map_ = environment.map if isinstance(environment, Mapped) else ""
        return _Solved(map_, tuple(asked))
    return None

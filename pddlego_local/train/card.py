"""The card of a trained model: what it is, how it came to be, what it can do and what it cannot."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pddlego_local.metrics.rates import Rate
from pddlego_local.report.text import markdown
from pddlego_local.train.examples import FIRST_SEED, Game
from pddlego_local.train.maps import House, houses
from pddlego_local.train.progress import Progress
from pddlego_local.train.settings import TrainSettings

ROWS_OF_CURVE = 15
EVALUATION_SEEDS = range(1000)
EVALUATION_GAMES = 50
EVALUATION_ROOMS = (3, 5, 7, 9, 11)

_ABOUT = """\
---
license: mit
library_name: transformers
pipeline_tag: text-generation
{trained_on}---
# {name}

A model of {millions:.1f} million parameters that writes PDDL domain and problem files for \
CoinCollector: the answers of PDDLego+ to its questions in `method.variant=compact`, in the layout \
`line`. Trained {base} (`pddlego train`).

"""
_TRAINED_ON = """\
pddlego_local:
  trained_on:  # all its questions had these; `pddlego run` warns of others
    environment: coin
    method.prompts: pddlego_plus
    method.variant: compact
    decoding.reason: none
"""
_FROM_SCRATCH = "from random weights, in which two attention heads were set to copy"
_DATA = """\
Questions of games that were played for it, each with the answer of the rule-based reference: \
games of 3 to 11 rooms, with and without doors, played by the reference with planted slips (a \
wrong direction, a missing fact, a broken bracket, …), so that it also sees what the planner and \
the game say of mistakes{by_itself}. Seeds from {first_seed:,} on; those below are for evaluation. \
Houses repeat all the same:
"""
_BY_ITSELF = "; then games that the weights of the round before played themselves (DAgger)"
_CURVE = """\
`right` is the share of answers to held-out questions with every token right, given all tokens \
before it.

"""
_GAMES = """\
Unseen games, greedy; those solved at reset are left out. Wilson intervals of 95 %.

"""
_LIMITS = """\
It knows these prompts of this environment and no others: not the other prompt variants, not \
Cooking, not ALFWorld, and no conversation.
"""


def card(
    settings: TrainSettings,
    parameters: int,
    progress: Progress,
    known: Mapping[int, Rate],
    files: str,
) -> str:
    """README.md. `known` says by rooms how many evaluation maps occur in training all the same,
    `files` lists the hashes (`models.weights.listed`)."""
    base = f"from `{settings.weights}`" if settings.weights else _FROM_SCRATCH
    played = [_played(line) for line in progress.lines("played")]
    sections = {
        "What it was trained on": _trained_on(settings, progress, known),
        "Training curve": _CURVE + markdown(_curve(progress.lines("step"))),
        "Games": _GAMES + (markdown(played) or "None were played.\n"),
        "What it cannot do": _LIMITS,
        "Files": files,
    }
    trained_on = "" if settings.weights else _TRAINED_ON  # else the base knows more
    about = _ABOUT.format(
        name=settings.name, millions=parameters / 1e6, base=base, trained_on=trained_on
    )
    return about + "\n".join(f"## {title}\n\n{text}" for title, text in sections.items())


def _trained_on(settings: TrainSettings, progress: Progress, known: Mapping[int, Rate]) -> str:
    steps, begun = progress.lines("step"), progress.lines("data")
    seconds = sum(line["seconds"] for line in steps)
    tokens = sum(max(_tokens(steps, number), default=0) for number in _rounds(begun))
    devices = dict.fromkeys(f"{b['device']}, {'bf16' if b['bf16'] else 'float32'}" for b in begun)
    student = any(round_.student for round_ in settings.rounds)
    by_itself = _BY_ITSELF if student else ""
    weight = settings.question_loss
    questions = f", and on the questions at a weight of {weight:g}" if weight else " alone"
    return "\n".join(
        [
            _DATA.format(by_itself=by_itself, first_seed=FIRST_SEED),
            markdown([_known(rooms, rate) for rooms, rate in known.items()]),
            markdown([_round(settings, line, steps) for line in _last_of_each(begun)]),
            f"{tokens / 1e6:.1f} million tokens in all, {seconds / 3600:.1f} hours on "
            f"{' and '.join(devices)}. The loss is on the answers{questions}.\n",
        ]
    )


def evaluation_maps_seen(games: Iterable[Game]) -> dict[int, Rate]:
    """Of the first evaluation games of each size, how many are houses of these games."""
    by_house: dict[tuple[int, bool], list[int]] = {}
    for game in games:
        by_house.setdefault((game.rooms, game.doors), []).append(game.seed)
    seen = {rooms: set[House]() for rooms in EVALUATION_ROOMS}
    for (rooms, doors), seeds in by_house.items():
        if rooms in seen and doors:
            seen[rooms] |= set(houses(rooms, doors, seeds).values())
    return {rooms: _known_maps(rooms, known) for rooms, known in seen.items()}


def _known_maps(rooms: int, known: set[House]) -> Rate:
    maps = houses(rooms, True, EVALUATION_SEEDS[: 2 * EVALUATION_GAMES]).values()
    unsolved = (house for house in maps if ("coin", "kitchen") not in house)
    first = list(itertools.islice(unsolved, EVALUATION_GAMES))
    return Rate(sum(house in known for house in first), len(first))


def _known(rooms: int, rate: Rate) -> dict[str, str]:
    return {"rooms": str(rooms), "evaluation maps that occur in training": f"{rate.k} of {rate.n}"}


def _rounds(begun: Sequence[Mapping[str, Any]]) -> list[int]:
    return sorted({line["round"] for line in begun})


def _last_of_each(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({line["round"]: line for line in lines}.values())


def _tokens(steps: Sequence[Mapping[str, Any]], number: int) -> list[int]:
    return [line["tokens"] for line in steps if line["round"] == number]


def _round(
    settings: TrainSettings, line: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    number = line["round"]
    round_ = settings.rounds[number]
    return {
        "round": str(number),
        "games with slips": str(round_.slips),
        "games of the student": str(round_.student),
        "questions so far": f"{line['questions']:,}",
        "longest": f"{round_.longest_tokens} tokens",
        "steps": f"{round_.steps} of {settings.batch}",
        "tokens": f"{max(_tokens(steps, number), default=0) / 1e6:.1f} million",
        "learning rate": f"{round_.learning_rate:g}",
    }


def _curve(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    told = [line for line in steps if "right" in line]
    every = max(1, len(told) // ROWS_OF_CURVE)
    chosen = [line for n, line in enumerate(told, start=1) if n % every == 0 or n == len(told)]
    return [
        {
            "round": str(line["round"]),
            "step": str(line["step"]),
            "loss on held-out answers": f"{line['held_out_loss']:.4f}",
            "right": f"{line['right']:.0%}",
        }
        for line in chosen
    ]


def _played(line: Mapping[str, Any]) -> dict[str, str]:
    low, high = Rate(line["won"], line["of"]).interval
    return {
        "after round": str(line["round"]),
        "rooms": str(line["rooms"]),
        "decoding": line["rung"],
        "won": f"{line['won']} of {line['of']} ({low:.0%} to {high:.0%})",
    }

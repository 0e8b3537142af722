"""The card of a trained model: what it is, how it came to be, what it can do and what it cannot."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import markdown
from pddlego_local.training.about import ABOUT, learned, writes
from pddlego_local.training.examples import FIRST_SEED, SIZES, WORLDS
from pddlego_local.training.maps import evaluation
from pddlego_local.training.progress import Progress
from pddlego_local.training.settings import TrainSettings

ROWS_OF_CURVE = 15
EVALUATION_SEEDS = range(80)
EVALUATION_ROOMS = range(3, 12)

_ABOUT = """\
---
license: mit
library_name: transformers
pipeline_tag: text-generation
{trained_on}---
# {name}

A model of {millions:.1f} million parameters that writes PDDL {writes}; all in the layout `line`. \
Trained {base} (`pddlego train`).

"""
_FROM_SCRATCH = "from random weights, in which two attention heads were set to copy"
_DATA = """\
Questions of games that were played for it, each with the answer of the reference{also}. \
{games} Seeds from {first_seed:,} on; those below are for evaluation.

`{file}` lists the {maps:,} maps of its training's games; records say which games are on one of \
them (`map_seen`), and these do not count as unseen. {about_maps}
"""
_ALSO = "; first of games as follows, then of games that the weights of the round before played \
themselves (DAgger)"
_OF_COIN = """\
Of the seeds 0 to {last_seed} of CoinCollector, with doors:
"""
_CURVE = """\
`right` is the share of answers to held-out questions with every token right, given all tokens \
before it.

"""
_GAMES = """\
Unseen games, greedy; those solved at reset are left out. Wilson intervals of 95 %.

"""
_TEXTS = (
    "  texts:  # blocks or packages, from and to; `pddlego formalize` refuses all other texts\n"
)
_LIMITS = """\
It knows these prompts and no others: not the other prompt variants, not other environments, and \
no conversation.
"""


def card(
    settings: TrainSettings,
    parameters: int,
    progress: Progress,
    trained_on: Collection[str],
    files: str,
) -> str:
    """README.md. `trained_on` are the maps of its training's games, `files` lists the hashes
    (`models.card.listed`)."""
    played = markdown([_played(line) for line in progress.lines("played")])
    sections = {
        "What it was trained on": _trained_on(settings, progress, trained_on),
        "Training curve": _CURVE + markdown(_curve(progress.lines("step"))),
        "Games": _GAMES + (played or "None were played.\n"),
        "What it cannot do": _LIMITS,
        "Files": files,
    }
    about = _ABOUT.format(
        name=settings.name,
        millions=parameters / 1e6,
        base=f"from `{settings.weights}`" if settings.weights else _FROM_SCRATCH,
        writes=writes(settings.environment, settings.methods),
        trained_on="" if settings.weights else _front_matter(settings),  # else the base knows more
    )
    return about + "\n".join(f"## {title}\n\n{text}" for title, text in sections.items())


def _front_matter(settings: TrainSettings) -> str:
    known = learned(settings.environment, settings.methods) | {"decoding.reason": "none"}
    worlds = dict.fromkeys(WORLDS) if "described" in settings.environment else ()
    lines = "".join(f"    {name}: {value}\n" for name, value in known.items())
    texts = "".join(f"    {world}: [{SIZES[0]}, {SIZES[1]}]\n" for world in worlds)
    return (
        "pddlego_local:\n  trained_on:  # all its questions had these; `pddlego run` warns of "
        f"others\n{lines}" + (f"{_TEXTS}{texts}" if texts else "")
    )


def _trained_on(settings: TrainSettings, progress: Progress, trained_on: Collection[str]) -> str:
    steps, begun = progress.lines("step"), progress.lines("data")
    devices = dict.fromkeys(f"{b['device']}, {'bf16' if b['bf16'] else 'float32'}" for b in begun)
    last = {line["round"]: line for line in begun}  # a round that was interrupted begins again
    tokens = {
        number: max((line["tokens"] for line in steps if line["round"] == number), default=0)
        for number in last
    }
    abouts = [ABOUT[kind] for kind in settings.environment]
    data = _DATA.format(
        also=_ALSO if any(round_.student for round_ in settings.rounds) else "",
        games=" ".join(about.games for about in abouts),
        first_seed=FIRST_SEED,
        maps=len(trained_on),
        file=TRAINING_MAPS,
        about_maps=" ".join(about.maps for about in abouts),
    )
    if "coin" in settings.environment:
        houses = [_evaluation(rooms, trained_on) for rooms in EVALUATION_ROOMS]
        data += f"\n{_OF_COIN.format(last_seed=EVALUATION_SEEDS[-1])}\n{markdown(houses)}"
    rounds = [
        {
            "round": str(number),
            "games with slips": str(settings.rounds[number].slips),
            "games of the student": str(settings.rounds[number].student),
            "questions so far": f"{line['questions']:,}",
            "longest": f"{settings.rounds[number].longest_tokens} tokens",
            "steps": f"{settings.rounds[number].steps} of {settings.batch}",
            "tokens": f"{tokens[number] / 1e6:.1f} million",
            "learning rate": f"{settings.rounds[number].learning_rate:g}",
        }
        for number, line in last.items()
    ]
    hours, weight = sum(line["seconds"] for line in steps) / 3600, settings.question_loss
    questions = f", and on the questions at a weight of {weight:g}" if weight else " alone"
    return "\n".join(
        [
            data,
            markdown(rounds),
            f"{sum(tokens.values()) / 1e6:.1f} million tokens in all, {hours:.1f} hours on "
            f"{' and '.join(devices)}. The loss is on the answers{questions}.\n",
        ]
    )


def _evaluation(rooms: int, trained_on: Collection[str]) -> dict[str, str]:
    found = evaluation(rooms, EVALUATION_SEEDS, trained_on)
    return {
        "rooms": str(rooms),
        "games": str(found.games),
        "over at the first look": str(found.trivial),
        "different maps of the others": str(found.maps),
        "on maps of training": str(found.seen),
        "left": f"{found.left}, on {found.left_maps} maps",
    }


def _curve(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    tried = [line for line in steps if "right" in line]
    every = max(1, len(tried) // ROWS_OF_CURVE)
    return [
        {
            "round": str(line["round"]),
            "step": str(line["step"]),
            "loss on held-out answers": f"{line['held_out_loss']:.4f}",
            "right": f"{line['right']:.0%}",
        }
        for n, line in enumerate(tried, start=1)
        if n % every == 0 or n == len(tried)
    ]


def _played(line: Mapping[str, Any]) -> dict[str, str]:
    low, high = Rate(line["won"], line["of"]).interval
    return {
        "after round": str(line["round"]),
        "games": line["games"],
        "decoding": line["rung"],
        "won": f"{line['won']} of {line['of']} ({low:.0%} to {high:.0%})",
    }

"""The card of a trained model: what it is, how it was trained, what it can do and what
it cannot.

The card is rendered from `card.md.jinja` with the texts on environments and methods in
`card.yaml`.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import jinja2

from pddlego_local.core.resources import jinja, table
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.report.statistics.rates import Rate
from pddlego_training.examples import FIRST_SEED, SIZES, Kind, PlayedBy
from pddlego_training.progress import Progress
from pddlego_training.settings import TrainSettings

ROWS_OF_CURVE = 15

_WORDS: dict[str, Any] = table(__file__)
_JINJA = jinja(loader=jinja2.FileSystemLoader(Path(__file__).parent))


def card(
    settings: TrainSettings,
    size: int,
    progress: Progress,
    trained_on: Collection[str],
    files: str,
) -> str:
    """Returns the text of README.md. `size` is the number of parameters, `trained_on`
    are the maps of the training games, and `files` is the list of hashes
    (`models.card.listed`).
    """
    kinds = tuple(dict.fromkeys(map(_environment, settings.environment)))
    worlds = list(dict.fromkeys(settings.worlds))
    steps = progress.lines("step")
    begun = progress.lines("data")
    last = {line["round"]: line for line in begun}  # an interrupted round begins again
    tokens = dict.fromkeys(last, 0)
    tokens |= {line["round"]: line["tokens"] for line in steps}  # the last counts
    abouts = [_WORDS["environments"][kind] for kind in kinds]
    method = _WORDS["methods"][settings.method]
    names = {"method": method, "worlds": ", ".join(worlds)}
    writes = [about["writes"].format(**names) for about in abouts]
    devices = []
    for line in begun:
        precision = "bf16" if line["bf16"] else "float32"
        devices.append(f"{line['device']}, {precision}")
    played = [
        (line, Rate(line["won"], line["of"]).interval)
        for line in progress.lines("played")
    ]
    text: str = _JINJA.get_template("card.md.jinja").render(
        settings=settings,
        parameters=size,
        learned=_learned(kinds, settings.method),
        worlds=worlds,
        sizes=SIZES,
        abouts=abouts,
        writes="; and ".join(writes),
        first_seed=FIRST_SEED,
        file=TRAINING_MAPS,
        trained_on=trained_on,
        begun=last,
        tokens=tokens,
        seconds=sum(line["seconds"] for line in steps),
        devices=dict.fromkeys(devices),
        curve=_curve([line for line in steps if "right" in line]),
        played=played,
        files=files,
    )
    return text


def _environment(kind: Kind) -> str:
    """The environment of a kind of games."""
    return "explored" if kind.startswith(("explored", "renamed")) else kind


def _learned(kinds: Sequence[str], method: PlayedBy) -> dict[str, str]:
    """The settings that all training questions have in common."""
    learned: dict[str, str] = {}
    if len(kinds) == 1:
        learned["environment"] = kinds[0]
    learned |= _WORDS["learned"]["described" if "described" in kinds else method]
    return learned


def _curve(tried: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some of the lines, including the last one."""
    every = max(1, len(tried) // ROWS_OF_CURVE)
    earlier = tried[every - 1 : -1 : every]
    return earlier + tried[-1:]

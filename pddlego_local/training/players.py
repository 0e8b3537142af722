"""Who plays the games that are learned from: the reference with planted slips, or the model that is
being trained, which runs into what its own answers lead to (DAgger, Ross et al. 2011).
"""

import random
from collections.abc import Callable
from pathlib import Path

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import DOMAIN, EDIT, SEEN, Fields
from pddlego_local.decoding.question import Drawn, Question
from pddlego_local.decoding.session import at_once
from pddlego_local.episode.drawing import draw
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.training import faults, household_faults

TEMPERATURES = (0.0, 0.7, 1.0)
MAX_TOKENS = 1024

Player = Callable[[Question[Fields], str, Sampling], Drawn]
"""Answers a question, given its right answer."""


def domain_alone(question: Question[Fields], right: str, sampling: Sampling) -> Drawn:
    """Writes domains, and no problem, so that no plan is looked for: after the last question there
    is nothing more to learn."""
    return Drawn(Completion(right if question.form == DOMAIN else "", "stop", 0, 0, 0.0))


def slips(seed: int, environment: str = "coin") -> Player:
    """Plays a game as the reference, now and then with a planted slip; some games go to and fro.
    Described worlds are not played."""
    if environment == "described":
        return domain_alone
    rng = random.Random(derive_seed("slips", seed))
    kinds = faults if environment == "coin" else household_faults
    circles = rng.random() < 0.06
    rate = 0.75 if circles else rng.choices((0.0, 0.15, 0.35, 0.6), weights=(3, 4, 3, 1))[0]

    def play(question: Question[Fields], right: str, sampling: Sampling) -> Drawn:
        text = right
        if rng.random() < rate:
            if question.form == EDIT:
                text = household_faults.plant_in_edit(rng, right)
            elif question.form == SEEN:
                text = household_faults.leave_out(rng, right)
            else:
                text = faults.plant(rng, right, kinds.CIRCLES if circles else kinds.FAULTS)
        return Drawn(Completion(text, "stop", 0, 0, 0.0))

    return play


def students(folder: Path) -> Callable[[int], Player]:
    """Weights in a folder as a player for each game's seed, which has its own temperature. They
    answer freely: a grammar would hide the slips that are to be mended."""
    engine = Engine(device="cpu", threads=1)
    model = TransformersModel(weights=str(folder), dtype="float32", engine=engine)

    def for_game(seed: int) -> Player:
        temperature = random.Random(derive_seed("student", seed)).choice(TEMPERATURES)

        def play(question: Question[Fields], right: str, sampling: Sampling) -> Drawn:
            own_seed = derive_seed(seed, sampling.seed)
            own = Sampling(temperature=temperature, max_tokens=MAX_TOKENS, seed=own_seed)
            (drawn,) = draw(model, question, at_once(None), own, {})
            return drawn

        return play

    return for_game

"""The players of training games: the reference with planted slips, or the model in
training, which meets the consequences of its own answers (DAgger, Ross et al. 2011).
"""

import random
from collections.abc import Callable
from pathlib import Path

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import DOMAIN, EDIT, SEEN
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.decoding.session import at_once
from pddlego_local.episode.drawing import draw
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_training.edit_faults import leave_out, plant_in_edit
from pddlego_training.faults import CIRCLES, FAULTS, plant

TEMPERATURES = (0.0, 0.7, 1.0)
MAX_TOKENS = 1024

Player = Callable[[AnyQuestion, str, Sampling], Drawn]
"""Answers a question, given its right answer."""


def domain_alone(question: AnyQuestion, right: str, sampling: Sampling) -> Drawn:
    """Answers with domains but no problem, so that no plan is searched: there is
    nothing to learn after the last question.
    """
    return _drawn(right if question.form == DOMAIN else "")


def _drawn(text: str) -> Drawn:
    return Drawn(Completion(text, "stop", 0, 0, 0.0))


def slips(seed: int, environment: str = "coin") -> Player:
    """Returns a player that answers as the reference does, sometimes with a planted
    slip. In some games it goes back and forth. Described worlds are not played: they
    get `domain_alone`.
    """
    if environment == "described":
        return domain_alone
    rng = random.Random(derive_seed("slips", seed))
    goes_in_circles = rng.random() < 0.06
    if goes_in_circles:
        rate = 0.75
    else:
        rate = rng.choices((0.0, 0.15, 0.35, 0.6), weights=(3, 4, 3, 1))[0]

    def play(question: AnyQuestion, right: str, sampling: Sampling) -> Drawn:
        if rng.random() >= rate:
            return _drawn(right)
        if question.form == EDIT:
            return _drawn(plant_in_edit(rng, right))
        if question.form == SEEN:
            return _drawn(leave_out(rng, right))
        return _drawn(plant(rng, right, CIRCLES if goes_in_circles else FAULTS))

    return play


def students(folder: Path) -> Callable[[int], Player]:
    """Returns a function from a game's seed to a player that uses the weights in a
    folder.

    Each game has its own temperature. Answers are free, because a grammar would prevent
    the errors that the model should learn to correct.
    """
    engine = Engine(device="cpu", threads=1)
    model = TransformersModel(weights=str(folder), dtype="float32", engine=engine)

    def for_game(seed: int) -> Player:
        rng = random.Random(derive_seed("student", seed))
        temperature = rng.choice(TEMPERATURES)

        def play(question: AnyQuestion, right: str, sampling: Sampling) -> Drawn:
            own = Sampling(
                temperature=temperature,
                max_tokens=MAX_TOKENS,
                seed=derive_seed(seed, sampling.seed),
            )
            (drawn,) = draw(model, question, at_once(None), own, {})
            return drawn

        return play

    return for_game

"""The model in training as a player: it runs into what its own answers lead to."""

import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Drawn, Question
from pddlego_local.episode.drawing import draw
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.training.examples import Player

TEMPERATURES = (0.0, 0.7, 1.0)


@dataclass(frozen=True)
class Student:
    """Weights in a folder. Answers freely: a grammar would hide the slips that are to be mended."""

    folder: Path
    max_tokens: int = 1024

    @cached_property
    def _model(self) -> TransformersModel:
        engine = Engine(device="cpu", threads=1)
        return TransformersModel(weights=str(self.folder), dtype="float32", engine=engine)

    def for_game(self, seed: int) -> Player:
        """Its temperature is the game's."""
        temperature = random.Random(derive_seed("student", seed)).choice(TEMPERATURES)

        def play(question: Question[Keys], right: str, sampling: Sampling) -> Drawn:
            own = Sampling(
                temperature=temperature,
                max_tokens=self.max_tokens,
                seed=derive_seed(seed, sampling.seed),
            )
            (drawn,) = draw(self._model, question, None, own, {})
            return drawn

        return play

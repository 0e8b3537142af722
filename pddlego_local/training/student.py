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

    def for_game(self, seed: int) -> "StudentInGame":
        """Its temperature is the game's."""
        rng = random.Random(derive_seed("student", seed))
        return StudentInGame(self, rng.choice(TEMPERATURES), seed)

    def answer(self, question: Question[Keys], temperature: float, seed: int) -> Drawn:
        sampling = Sampling(temperature=temperature, max_tokens=self.max_tokens, seed=seed)
        (drawn,) = draw(self._model, question, None, sampling, {})
        return drawn


@dataclass(frozen=True)
class StudentInGame:
    """A `training.examples.Player`."""

    student: Student
    temperature: float
    game: int

    def __call__(self, question: Question[Keys], right: str, sampling: Sampling) -> Drawn:
        seed = derive_seed(self.game, sampling.seed)
        return self.student.answer(question, self.temperature, seed)

"""A model for tests that does not answer one request while a certain file is there."""

import os
import threading
from pathlib import Path

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Drawn, Question
from pddlego_local.models.reference import ReferenceFormalizer

VARIABLE = "PDDLEGO_TEST_WAITS_WHILE"
_closed = threading.Event()
NEVER_ANSWERED = derive_seed(0, "sample", 1)


class Waiting(ReferenceFormalizer):
    """The reference formalizer; the second answer of `pddlego sample` is the one that waits."""

    def answer(
        self, question: Question[Keys], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        if sampling.seed == NEVER_ANSWERED and Path(os.environ[VARIABLE]).exists():
            _closed.wait()
            raise ModelFault("closed")
        return super().answer(question, sampling, sample, of)

    def close(self) -> None:
        _closed.set()
        super().close()

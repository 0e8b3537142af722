"""Models for tests of many episodes: some wait, and tell in which order they were
asked.
"""

import os
import threading
from pathlib import Path

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.models.reference import ReferenceFormalizer

VARIABLE = "PDDLEGO_TEST_WAITS_WHILE"
NEVER_ANSWERED = derive_seed(0, "sample", 1)
_closed = threading.Event()


class Stuck(ReferenceFormalizer):
    """Answers nothing until it is closed, as a server that hangs; then its requests
    fail.
    """

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        _closed.wait()
        raise ModelFault("the server has gone")

    def close(self) -> None:
        _closed.set()


class Waiting(Stuck):
    """The reference formalizer, but for the second answer of `pddlego sample`: it waits
    while the file that `VARIABLE` names is there.
    """

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        if sampling.seed == NEVER_ANSWERED and Path(os.environ[VARIABLE]).exists():
            return super().answer(question, sampling)
        return ReferenceFormalizer.answer(self, question, sampling)


class Meeting(ReferenceFormalizer):
    """An answer about the look `first` waits until one about `second` was asked for.
    `met` says that this came true, `most` how many answers were asked for at once.
    """

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.__dict__.update(
            first=first, second=second, asked=threading.Event(), met=False
        )
        self.__dict__.update(now=0, most=0, lock=threading.Lock())

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        mine = self.__dict__
        look = question.context.memory[0].text
        with mine["lock"]:
            mine["now"] += 1
            mine["most"] = max(mine["most"], mine["now"])
        if mine["second"] in look:
            mine["asked"].set()
        if mine["first"] in look:
            mine["met"] = mine["asked"].wait(20)
        drawn = super().answer(question, sampling)
        with mine["lock"]:
            mine["now"] -= 1
        return drawn

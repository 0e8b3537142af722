"""From a question to answers: makes the constraint, then draws, reads and records the
answers.
"""

import dataclasses
from typing import TypeVar

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.core.record.events import Call, Emit, Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.drawing import Rejection, draw
from pddlego_local.episode.reading.answer import (
    Answer,
    read_answer,
    read_as_asked,
    without_repetition,
)

T = TypeVar("T", bound=Fields)


class ModelCaller:
    """Asks one model for one episode; every question has a separate seed, from
    `seed_parts`.
    """

    def __init__(
        self, model: Model, decoding: Decoding, emit: Emit, seed_parts: tuple[int, ...]
    ) -> None:
        self._model = model
        self._decoding = decoding
        self._emit = emit
        self._seed_parts = seed_parts
        self._calls = 0

    def answers(
        self, question: Question[T], count: int, where: Where
    ) -> list[Answer[T]]:
        """Draws `count` answers to a question, reads them, and records each of them."""
        self._calls += 1
        model = self._model
        decoding = self._decoding
        sampling = decoding.sampling(derive_seed(*self._seed_parts, self._calls))
        constraint = constraint_of(question, model, decoding)
        grammar = None if constraint.in_stages else constraint.sha256
        answers: list[Answer[T]] = []
        samples = draw_answers(model, question, decoding, sampling, count)
        for number, (drawn, answer) in enumerate(samples):
            event = Call(
                where=dataclasses.replace(where, sample=number),
                of=count,
                form=question.form.name,
                messages=question.messages,
                grammar=grammar,
                **drawn.completion.recorded,
                stages=drawn.stages,
                sampling=sampling,
                fault=answer.fault,
                redundant=answer.redundant,
            )
            self._emit(event)
            answers.append(answer)
        return answers


def constraint_of(
    question: Question[T], model: Model, decoding: Decoding
) -> Constraint:
    """Returns the constraint of `decoding` on the answers of a model to a question."""
    asked = in_its_layout(decoding, model)
    return constraint_for(asked, question.form, question.context)


def draw_answers(
    model: Model,
    question: Question[T],
    decoding: Decoding,
    sampling: Sampling,
    count: int = 1,
) -> list[tuple[Drawn, Answer[T]]]:
    """Draws answers to a question, and reads what is handed on from each."""
    constraint = constraint_of(question, model, decoding)
    rejection = rejection_of(question, decoding, model)
    samples = draw(
        model, question, constraint, sampling, decoding.stage_tokens, count, rejection
    )
    return [
        (drawn, read_answer(drawn, question, constraint, decoding, model))
        for drawn in samples
    ]


def rejection_of(
    question: Question[T], decoding: Decoding, model: Model
) -> Rejection | None:
    """Returns the rejection sampling that `decoding.reject` asks for; None if it asks
    for none.
    """
    reject = decoding.reject
    if reject is None or not model.decodes:
        return None

    def why_not(completion: Completion) -> str:
        """Judges what an accepted answer hands on."""
        answer = read_as_asked(completion, question, decoding, model)
        if answer.value is None:
            return answer.fault
        value = without_repetition(answer, question).value
        assert value  # what is stated twice is removed, nothing else
        return why_outside(value, question, reject.rung)

    return Rejection(reject.tries, why_not)


def in_its_layout(decoding: Decoding, model: Model) -> Decoding:
    """Returns the settings for answers of a model: one that does not decode may use any
    layout.
    """
    return decoding if model.decodes else dataclasses.replace(decoding, layout="any")

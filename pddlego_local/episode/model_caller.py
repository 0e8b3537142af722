"""From a question to answers: makes the constraint, then draws, reads and records the
answers.
"""

import dataclasses
from typing import TypeVar

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.core.protocols import Thinks
from pddlego_local.core.record.events import Call, Emit, Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import Answer, read_constrained, read_free
from pddlego_local.episode.rejection import Rejection
from pddlego_local.pddl.redundant import (
    domain_without_repetition,
    problem_without_repetition,
)

T = TypeVar("T", bound=Fields)


class ModelCaller:
    """Asks one model for one episode; every question has a separate seed, from
    `seed_parts`.
    """

    def __init__(
        self, model: Model, decoding: Decoding, emit: Emit, seed_parts: tuple[int, ...]
    ) -> None:
        self._model, self._decoding, self._emit = model, decoding, emit
        self._seed_parts = seed_parts
        self._calls = 0

    def answers(
        self, question: Question[T], count: int, where: Where
    ) -> list[Answer[T]]:
        """Draws `count` answers to a question, reads them, and records each of them."""
        self._calls += 1
        decoding = self._decoding
        constraint = constraint_of(question, self._model, decoding)
        sampling = decoding.sampling(derive_seed(*self._seed_parts, self._calls))
        samples = draw_answers(self._model, question, decoding, sampling, count)
        answers = list[Answer[T]]()
        for number, (drawn, answer) in enumerate(samples):
            event = Call(
                where=dataclasses.replace(where, sample=number),
                of=count,
                form=question.form.name,
                messages=question.messages,
                grammar=None if constraint.in_stages else constraint.sha256,
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
    drawn = draw(
        model, question, constraint, sampling, decoding.stage_tokens, count, rejection
    )
    return [
        (one, read_answer(one, question, constraint, decoding, model)) for one in drawn
    ]


def read_answer(
    drawn: Drawn,
    question: Question[T],
    constraint: Constraint,
    decoding: Decoding,
    model: Model,
) -> Answer[T]:
    """Reads the value of an answer as its constraint and `decoding.reading` require."""
    if not constraint.free:
        answer = read_constrained(drawn.completion, question.form)
        typed = decoding.excludes.typed
        return without_repetition(answer, question) if typed else answer
    answer = _read_free(drawn.completion, question, decoding, model)
    rejection = rejection_of(question, decoding, model)
    accepted = rejection is not None and rejection.accepted(drawn)
    return without_repetition(answer, question) if accepted else answer


def _read_free(
    completion: Completion, question: Question[T], decoding: Decoding, model: Model
) -> Answer[T]:
    return read_free(
        completion,
        question.form,
        reading=decoding.reading,
        prompt=question.messages,
        markers=model.thought_markers if isinstance(model, Thinks) else None,
        problem=question.context.problem,
    )


def rejection_of(
    question: Question[T], decoding: Decoding, model: Model
) -> Rejection | None:
    """Returns the rejection sampling that `decoding.reject` asks for; None if it asks
    for none.
    """
    reject = decoding.reject
    if reject is None or not model.decodes:
        return None

    def why(completion: Completion) -> str:
        """Judges what an accepted answer hands on."""
        read = _read_free(completion, question, decoding, model)
        answer = without_repetition(read, question)
        return (
            why_outside(answer.value, question, reject.rung)
            if answer.value
            else answer.fault
        )

    return Rejection(reject.tries, why)


def without_repetition(answer: Answer[T], question: Question[T]) -> Answer[T]:
    """Removes what the answer's PDDL files state twice. In an edit, this happens later,
    when it is applied.
    """
    files = answer.value.model_dump() if answer.value else {}
    removed = list[str]()
    if "df" in files:
        files["df"], left_out = domain_without_repetition(files["df"])
        removed += left_out
    if "pf" in files:
        domain = files.get("df", question.context.domain)
        files["pf"], left_out = problem_without_repetition(files["pf"], domain)
        removed += left_out
    if not removed:
        return answer
    return Answer(
        question.form.keys.model_validate(files), answer.fault, tuple(removed)
    )


def in_its_layout(decoding: Decoding, model: Model) -> Decoding:
    """Returns the settings for answers of a model: one that does not decode may use any
    layout.
    """
    return decoding if model.decodes else dataclasses.replace(decoding, layout="any")

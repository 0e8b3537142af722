"""From a question to answers: the constraint of the moment, the draw, the reading, the record."""

import dataclasses
from typing import TypeVar

from pddlego_local.core.nouns import Completion
from pddlego_local.core.protocols import Thinks
from pddlego_local.core.record.events import Call, Emit, Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import Answer, read_constrained, read_free
from pddlego_local.episode.rejection import Rejection
from pddlego_local.pddl.redundant import domain_without_repetition, problem_without_repetition

T = TypeVar("T", bound=Fields)


class ModelCaller:
    """Asks one model for one episode; every request has a seed of its own, from `seed_parts`."""

    def __init__(
        self, model: Model, decoding: Decoding, emit: Emit, seed_parts: tuple[int, ...]
    ) -> None:
        self._model, self._decoding, self._emit = model, decoding, emit
        self._seed_parts = seed_parts
        self._calls = 0

    def answers(self, question: Question[T], count: int, where: Where) -> list[Answer[T]]:
        """`count` answers of one request, each recorded."""
        self._calls += 1
        decoding, form = self._decoding, question.form
        layout = layout_of(self._model, decoding)
        constraint = constraint_for(decoding.rung, form, question.context, layout)
        sampling = decoding.sampling(derive_seed(*self._seed_parts, self._calls))
        rejection = rejection_of(question, decoding, self._model)
        samples = draw(
            self._model, question, constraint, sampling, decoding.stage_tokens, count, rejection
        )
        answers = list[Answer[T]]()
        for number, drawn in enumerate(samples):
            answer = read_answer(drawn, question, constraint, decoding, self._model)
            event = Call(
                where=dataclasses.replace(where, sample=number),
                of=count,
                form=form.name,
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


def read_answer(
    drawn: Drawn, question: Question[T], constraint: Constraint, decoding: Decoding, model: Model
) -> Answer[T]:
    """The value of an answer, read as the question's rung and `decoding.reading` have it."""
    if not constraint.free:
        answer = read_constrained(drawn.completion, question.form)
        return without_repetition(answer, question) if decoding.lists == "free" else answer
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


def rejection_of(question: Question[T], decoding: Decoding, model: Model) -> Rejection | None:
    """What is rejected of the answers to a question, by `decoding.reject`."""
    reject = decoding.reject
    if reject is None or not model.decodes:
        return None

    def why(completion: Completion) -> str:
        answer = _read_free(completion, question, decoding, model)
        return why_outside(answer.value, question, reject.rung) if answer.value else answer.fault

    return Rejection(reject.tries, why)


def without_repetition(answer: Answer[T], question: Question[T]) -> Answer[T]:
    """The answer without what its PDDL files say twice. An edit drops it when it is applied."""
    files = answer.value.model_dump() if answer.value else {}
    again = list[str]()
    if "df" in files:
        files["df"], left_out = domain_without_repetition(files["df"])
        again += left_out
    if "pf" in files:
        domain = files.get("df", question.context.domain)
        files["pf"], left_out = problem_without_repetition(files["pf"], domain)
        again += left_out
    if not again:
        return answer
    return Answer(question.form.keys.model_validate(files), answer.fault, tuple(again))


def layout_of(model: Model, decoding: Decoding) -> Layout:
    """How an answer is laid out: rule-based models write as they like."""
    return decoding.layout if model.decodes else "any"

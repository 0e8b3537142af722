"""A language model that answers the requests of one episode as its transcript has them.

Everything behind a request is then done again: the stages of an answer and their
grammars, drafts, repairs, rejections, the choice among several answers, and reading.
An answer is found by the sampling settings of its request, whose seed belongs to one
request of the episode alone (`core.seeds`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

from pddlego_local.core.errors import ModelFault, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.record.events import Call, DrawnStage
from pddlego_local.decoding.settings import Reject
from pddlego_local.episode.drawing import with_seed


@dataclass(frozen=True)
class Request:
    """A request that begins an answer, and what the record answers to it."""

    messages: Messages
    grammar: Grammar | None
    sampling: Sampling
    prefix: Prefix | None
    recorded: Completion


class ReplayedModel:
    """Gives each recorded answer once. `on_request` is told of each request that begins
    an answer.

    With `context_was_full`, the first request without a recorded answer was too long
    for the model, and the episode went on from that; `too_long` says that it came.
    """

    decodes: ClassVar[Literal[True]] = True

    def __init__(
        self,
        identity: Mapping[str, Any],
        calls: Iterable[Call] = (),
        reject: Reject | None = None,
        *,
        context_was_full: bool = False,
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        self.too_long = False
        self._identity = identity
        self._answers = defaultdict[Sampling, list[Completion]](list)
        self._context_was_full = context_was_full
        self._on_request = on_request
        for call in calls:
            for sampling, completion in _requests_of(call, reject):
                self._answers[sampling].append(completion)

    def preflight(self, *, thinking: bool = False) -> None:
        return

    def identity(self) -> dict[str, str]:
        return dict(self._identity)

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """Returns the recorded answer. Raises ModelFault if there is none, and
        PromptTooLong if the record says so.
        """
        (answer,) = self._answered(sampling, 1)
        begins = prefix is None or not prefix.text
        if self._on_request and begins:
            request = Request(messages, grammar, sampling, prefix, answer)
            self._on_request(request)
        return answer

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        """Raises the same errors as `complete`."""
        return self._answered(sampling, count)

    def _answered(self, sampling: Sampling, count: int) -> tuple[Completion, ...]:
        answers = self._answers.pop(sampling, ())
        if not answers and self._context_was_full:
            self.too_long = True
            raise PromptTooLong("the record says that the context was full")
        if len(answers) != count:
            raise ModelFault(
                f"{count} answers are requested here, and the transcript has"
                f" {len(answers)} with these settings and this seed"
            )
        return tuple(answers)

    def close(self) -> None:
        return


_Requests = Iterator[tuple[Sampling, Completion]]


def _requests_of(call: Call, reject: Reject | None) -> _Requests:
    """Yields the settings and the answer of each request that led to a recorded
    answer.
    """
    if reject:
        yield from _tries_of(call, reject)
    elif call.stages:
        for stage in call.stages:
            yield stage.sampling, _drawn_in(stage)
    else:
        yield call.sampling, _whole(call)


def _tries_of(call: Call, reject: Reject) -> _Requests:
    """The tries of one rejection sampling. The call has the tokens of all of them."""
    for stage in call.stages:
        yield stage.sampling, _drawn_in(stage)
    number = len(call.stages)
    if number == reject.tries:
        return  # the last try was rejected too, and is a stage
    first = call.sampling
    if call.where.sample:
        first = with_seed(first, call.where.sample)
    own = with_seed(first, "try", number) if number else first
    before = sum(stage.completion_tokens for stage in call.stages)
    tokens = call.completion_tokens - before
    yield own, replace(_whole(call), completion_tokens=tokens)


def _whole(call: Call) -> Completion:
    return _completion(call, call.text)


def _drawn_in(stage: DrawnStage) -> Completion:
    return _completion(stage, stage.text.removeprefix(stage.head))


def _completion(drawn: Call | DrawnStage, text: str) -> Completion:
    return Completion(
        text=text,
        finish_reason=cast(Any, drawn.finish_reason),
        prompt_tokens=drawn.prompt_tokens,
        completion_tokens=drawn.completion_tokens,
        latency_s=drawn.latency_s,
        thought=drawn.thought,
        forced_tokens=drawn.forced_tokens,
    )

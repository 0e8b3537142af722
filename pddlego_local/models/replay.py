"""Answers from recorded transcripts, keyed by request: re-runs a report, reproduces a bug."""

import dataclasses
import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core import Completion, Grammar, Prompt, Sampling, Written
from pddlego_local.errors import ConfigError, ModelFault
from pddlego_local.events import Call
from pddlego_local.record import transcripts

Request = dict[str, Any]


@dataclass(config=ConfigDict(extra="forbid", frozen=True), kw_only=True)
class Replay:
    """`run` is a cell's folder or any folder above it: all transcripts below it are answers."""

    run: Path

    decodes = False

    def preflight(self, *, thinking: bool = False) -> None:
        if not any(self.run.rglob("transcripts/*.jsonl")):
            raise ConfigError(f"model.run={self.run}: there are no transcripts below this folder")

    def identity(self) -> dict[str, str]:
        return {"backend": "replay", "run": str(self.run)}

    def complete(
        self,
        prompt: Prompt,
        grammar: Grammar | None,
        sampling: Sampling,
        written: Written | None = None,
    ) -> Completion:
        """Raises ModelFault if the request was never recorded."""
        return self._find(_asked(prompt, grammar, sampling))

    def complete_many(
        self, prompt: Prompt, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """Raises ModelFault if the request was never recorded with this very `count`."""
        asked = _asked(prompt, grammar, sampling)
        return tuple(self._find(asked | {"sample": i, "of": count}) for i in range(count))

    def close(self) -> None:
        """Holds nothing."""

    def _find(self, request: Request) -> Completion:
        try:
            return self._answers[_key(request)]
        except KeyError:
            raise ModelFault(
                f"no transcript below {self.run} holds this request: the run to replay had another "
                "configuration, prompt, grammar or seed"
            ) from None

    @cached_property
    def _answers(self) -> dict[str, Completion]:
        return dict(
            _recorded(event)
            for _, events in transcripts(self.run)
            for event in events
            if isinstance(event, Call)
        )


def _asked(prompt: Prompt, grammar: Grammar | None, sampling: Sampling) -> Request:
    return {
        "messages": [dataclasses.asdict(message) for message in prompt.messages],
        "grammar": grammar.sha256 if grammar else None,
        "sampling": dataclasses.asdict(sampling),
    }


def _recorded(call: Call) -> tuple[str, Completion]:
    """What was asked, one of several samples or alone, and the whole of what was answered."""
    asked: Request = {
        "messages": [dataclasses.asdict(message) for message in call.messages],
        "grammar": call.grammar,
        "sampling": dataclasses.asdict(call.sampling),
    }
    if call.of > 1:
        asked |= {"sample": call.where.sample, "of": call.of}
    fields = [field.name for field in dataclasses.fields(Completion) if field.name != "written"]
    return _key(asked), Completion(**{name: getattr(call, name) for name in fields})


def _key(request: Request) -> str:
    told = {name: value for name, value in request.items() if value is not None}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

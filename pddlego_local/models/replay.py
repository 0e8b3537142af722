"""Answers from recorded transcripts, keyed by request: re-runs a report, reproduces a bug."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core import Completion, Grammar, Prompt, Sampling
from pddlego_local.errors import ConfigError, ModelFault
from pddlego_local.record import read_rows


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

    def complete(self, prompt: Prompt, grammar: Grammar | None, sampling: Sampling) -> Completion:
        """Raises ModelFault if the request was never recorded."""
        messages = [dataclasses.asdict(message) for message in prompt.messages]
        key = _key(messages, grammar.sha256 if grammar else None, dataclasses.asdict(sampling))
        try:
            return self._answers[key]
        except KeyError:
            raise ModelFault(
                f"no transcript below {self.run} holds this request: the run to replay had another "
                "configuration, prompt, grammar or seed"
            ) from None

    def close(self) -> None:
        """Holds nothing."""

    @cached_property
    def _answers(self) -> dict[str, Completion]:
        fields = [field.name for field in dataclasses.fields(Completion)]
        return {
            _key(event["messages"], event["grammar"], event["sampling"]): Completion(
                **{name: event[name] for name in fields}
            )
            for path in sorted(self.run.rglob("transcripts/*.jsonl"))
            for event in read_rows(path)
            if event["event"] == "call"
        }


def _key(messages: object, grammar: str | None, sampling: Mapping[str, Any]) -> str:
    request = json.dumps([messages, grammar, sampling], sort_keys=True)
    return hashlib.sha256(request.encode()).hexdigest()

"""Answers from recorded transcripts, keyed by request: re-runs a report, reproduces a bug."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core import Completion, Messages, Sampling
from pddlego_local.decoding import Rung
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.question import Drawn, Question
from pddlego_local.errors import ConfigError, ModelFault
from pddlego_local.events import Call
from pddlego_local.record import read_run, transcripts


@dataclass(config=ConfigDict(extra="forbid", frozen=True), kw_only=True)
class Replay:
    """Answers exactly as it was answered before, stages included.

    `run` is a cell's folder or any folder above it. Of the cells below, those of the model `of` (a
    label such as "qwen3_8b") that were decoded on `rung` answer: two models, or two rungs, may have
    been asked the same. `of` may be left out where only one model was recorded.
    """

    run: Path
    rung: Rung
    of: str | None = None

    decodes: ClassVar[Literal[False]] = False
    recorded: ClassVar[bool] = True

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises ConfigError if there is no transcript, or if `of` is needed."""
        _ = self._cells

    def identity(self) -> dict[str, str]:
        return {"backend": "replay", "run": str(self.run)}

    def answer(
        self, question: Question[Keys], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        """Raises ModelFault if the request was never recorded."""
        key = _key(question.form.name, question.messages, sampling, sample, of)
        try:
            return self._answers[key]
        except KeyError:
            raise ModelFault(
                f"no transcript below {self.run} holds this request: the run to replay had another "
                "configuration, prompt or seed"
            ) from None

    def close(self) -> None:
        """Holds nothing."""

    @cached_property
    def _cells(self) -> list[Path]:
        """The folders of the cells that answer."""
        labels_by_cell = dict(_labels(self.run))
        models = sorted({labels["model"] for labels in labels_by_cell.values()})
        if self.of is None and len(models) > 1:
            raise ConfigError(
                f"model.run={self.run}: several models were recorded there; choose one with "
                f"model.of={'|'.join(models)}"
            )
        cells = [
            folder
            for folder, labels in labels_by_cell.items()
            if self.of in (None, labels["model"]) and labels["rung"] == self.rung
        ]
        if not any(any(folder.glob("transcripts/*.jsonl")) for folder in cells):
            description = f"{self.of or 'a model'} with decoding.rung={self.rung}"
            raise ConfigError(
                f"model.run={self.run}: there are no transcripts of {description} below this folder"
            )
        return cells

    @cached_property
    def _answers(self) -> dict[str, Drawn]:
        return dict(
            _recorded(event)
            for folder in self._cells
            for _, events in transcripts(folder)
            for event in events
            if isinstance(event, Call)
        )


def _labels(run: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Every cell at or below a folder: the model's label and the rung."""
    for path in sorted(run.rglob("run.json")):
        recorded = read_run(path.parent)
        rung = recorded["identity"]["decoding"]["rung"]
        yield path.parent, {"model": recorded["labels"]["model"], "rung": rung}


def _recorded(call: Call) -> tuple[str, Drawn]:
    """What was asked, and the whole of what was answered."""
    key = _key(call.form, call.messages, call.sampling, call.where.sample, call.of)
    names = [field.name for field in dataclasses.fields(Completion) if field.name != "prefix"]
    return key, Drawn(Completion(**{name: getattr(call, name) for name in names}), call.stages)


def _key(form: str, messages: Messages, sampling: Sampling, sample: int, of: int) -> str:
    contents = [dataclasses.asdict(message) for message in messages]
    request = [form, contents, dataclasses.asdict(sampling), sample, of]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()

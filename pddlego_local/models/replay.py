"""Answers from recorded transcripts, keyed by request: re-runs a report, reproduces a bug."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Completion, Messages, Sampling
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import transcripts
from pddlego_local.core.record.run_record import read_run
from pddlego_local.decoding import GoalArm, RungName
from pddlego_local.decoding.forms import Keys
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import Drawn, Question, WholeAnswerModel

_OLDEST: Mapping[str, Any] = {"layout": "any", "goal": "any", "stage_tokens": {}}


@dataclass(config=ConfigDict(extra="forbid", frozen=True), kw_only=True)
class Replay(WholeAnswerModel):
    """Answers exactly as it was answered before, stages included.

    `run` is a cell's folder or any folder above it. Of the cells below, those of the model `of` (a
    label such as "qwen3_8b") that were decoded with the same `rung`, `layout`, `goal` and
    `stage_tokens` answer: what their requests do not show may have decided their answers. `of` may
    be left out where only one model was recorded.
    """

    run: Path
    rung: RungName
    layout: Layout = "any"
    goal: GoalArm = "any"
    stage_tokens: Mapping[str, int] = Field(default_factory=dict)
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

    @cached_property
    def _cells(self) -> list[Path]:
        """The folders of the cells that answer."""
        recorded = {path.parent: read_run(path.parent) for path in self.run.rglob("run.json")}
        models = sorted({run.labels["model"] for run in recorded.values()})
        if self.of is None and len(models) > 1:
            raise ConfigError(
                f"model.run={self.run}: several models were recorded there; choose one with "
                f"model.of={'|'.join(models)}"
            )
        wanted = {
            "rung": self.rung,
            "layout": self.layout,
            "goal": self.goal,
            "stage_tokens": dict(self.stage_tokens),
        }
        cells = {
            folder: run.identity["model"]
            for folder, run in sorted(recorded.items())
            if self.of in (None, run.labels["model"])
            # The oldest records lack what had no choice.
            and wanted == {key: (_OLDEST | run.identity["decoding"])[key] for key in wanted}
        }
        if not any(any(folder.glob("transcripts/*.jsonl")) for folder in cells):
            decoded = ", ".join(f"decoding.{key}={value}" for key, value in wanted.items())
            raise ConfigError(
                f"model.run={self.run}: there are no transcripts of {self.of or 'a model'} with "
                f"{decoded} below this folder"
            )
        first, *others = cells.values()
        if any(other != first for other in others):
            raise ConfigError(
                f"model.run={self.run}: {self.of or models[0]} was recorded there with several "
                "settings of the model; choose the folder of one cell"
            )
        return list(cells)

    @cached_property
    def _answers(self) -> dict[str, Drawn]:
        return dict(
            _recorded(event)
            for folder in self._cells
            for _, events in transcripts(folder)
            for event in events
            if isinstance(event, Call)
        )


def _recorded(call: Call) -> tuple[str, Drawn]:
    """What was asked, and the whole of what was answered."""
    key = _key(call.form, call.messages, call.sampling, call.where.sample, call.of)
    names = Completion.__dataclass_fields__.keys() - {"prefix"}
    return key, Drawn(Completion(**{name: getattr(call, name) for name in names}), call.stages)


def _key(form: str, messages: Messages, sampling: Sampling, sample: int, of: int) -> str:
    asked = [vars(message) for message in messages]
    request = [form, asked, vars(sampling), sample, of]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()

"""One round of training with transformers' Trainer, its checkpoints, and its progress
reports.
"""

import functools
import json
import math
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers import TrainerCallback, TrainingArguments

from pddlego_local.core.errors import MissingPart, ModelFault
from pddlego_local.core.resources import table
from pddlego_local.models.cache import keep_compiled_code_private
from pddlego_training.answers import AnswerTrainer, Row, collate
from pddlego_training.settings import Round, TrainSettings

Report = Callable[[Mapping[str, float]], None]
"""Receives the progress as a "step" line of `training.progress`."""


@dataclass(frozen=True)
class Machine:
    """The device of a training, with its name `device`, and whether bf16 is used."""

    device: str
    on_gpu: bool
    bf16: bool

    @classmethod
    def of(cls, settings: TrainSettings) -> "Machine":
        """Finds the device. Raises MissingPart if a requested GPU or compiler is
        missing.
        """
        compiler = os.environ.get("CXX", "g++")
        if settings.compile and not shutil.which(compiler):
            raise MissingPart(
                f"compile=true needs a C++ compiler, and {compiler} is missing (Debian"
                " and Ubuntu: apt install g++); compile=false needs none, at about"
                " half the speed."
            )
        gpu = torch.cuda.is_available()
        if settings.device == "cuda" and not gpu:
            raise MissingPart("device=cuda, but torch sees no GPU; give device=cpu.")
        on_gpu = gpu and settings.device != "cpu"
        if on_gpu:
            device = torch.cuda.get_device_name()
            multiplies_bf16 = torch.cuda.is_bf16_supported()
        else:
            path = Path("/proc/cpuinfo")  # only on Linux
            about = path.read_text(encoding="utf-8") if path.is_file() else ""
            name = re.search(r"^model name\s*: (.+)$", about, re.MULTILINE)
            device = name[1] if name else platform.processor() or "a CPU"
            multiplies_bf16 = bool(re.search("(amx|avx512)_bf16", about))
        automatic = settings.precision == "auto" and multiplies_bf16
        return cls(device, on_gpu, settings.precision == "bf16" or automatic)


def train_round(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    held_out: Sequence[Row],
    settings: TrainSettings,
    round_: Round,
    folder: Path,
    report: Report,
) -> Any:
    """Trains `model` for the steps of a round, from the last complete checkpoint on,
    and returns it.
    """
    machine = Machine.of(settings)
    torch.set_num_threads(settings.threads)
    # The fused kernel's backward pass is slow on a CPU. On an H200, its losses were not
    # numbers, because rows are padded on the left.
    model.set_attn_implementation("eager")
    if settings.compile:
        keep_compiled_code_private()
        model.compile(dynamic=True)
    trainer = AnswerTrainer(
        model=model,
        args=_arguments(settings, round_, folder, machine),
        train_dataset=rows,
        eval_dataset=held_out,
        data_collator=functools.partial(collate, padding=tokenizer.pad_token_id),
        question_loss=settings.question_loss,
        muon=settings.optimizer == "muon",
        compiled=settings.compile,
        compute_metrics=lambda held: {"right": float(np.mean(held.predictions))},
        callbacks=[_Progress(report)],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    return trainer.accelerator.unwrap_model(trainer.model)


def last_checkpoint(folder: Path) -> str | None:
    """Returns the newest complete checkpoint and removes incomplete ones. The state is
    written last.
    """
    whole = {}
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            state = json.loads(
                (checkpoint / "trainer_state.json").read_text(encoding="utf-8")
            )
            whole[int(state["global_step"])] = checkpoint
        except (OSError, ValueError, KeyError):
            shutil.rmtree(checkpoint, ignore_errors=True)
    return str(whole[max(whole)]) if whole else None


def _arguments(
    settings: TrainSettings, round_: Round, folder: Path, machine: Machine
) -> TrainingArguments:
    return TrainingArguments(
        **table(__file__, "trainer.yaml"),
        output_dir=str(folder),
        max_steps=round_.steps,
        learning_rate=round_.learning_rate,
        warmup_steps=settings.warmup_steps,
        per_device_train_batch_size=settings.at_once,
        per_device_eval_batch_size=settings.at_once,
        gradient_accumulation_steps=settings.batch // settings.at_once,
        bf16=machine.bf16,
        use_cpu=not machine.on_gpu,
        seed=settings.seed,
        data_seed=settings.seed,
        eval_steps=settings.save_every,
        save_steps=settings.save_every,
        logging_steps=settings.log_every,
    )


class _Progress(TrainerCallback):
    """Reports loss, speed and time left whenever the Trainer logs."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._began = self._last = time.monotonic()
        self._first = -1

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any
    ) -> None:
        """Raises ModelFault if the loss is not a number: the weights are lost then."""
        if math.isnan(logs.get("loss", logs.get("eval_loss", 0.0))):
            raise ModelFault(
                f"the loss at step {state.global_step} is not a number; choose a"
                " smaller learning_rate, and another out=FOLDER."
            )
        now = time.monotonic()
        step = state.global_step
        if self._first < 0:
            self._first = step
            self._began = now
        line = {
            "step": step,
            "steps": state.max_steps,
            "tokens": int(state.num_input_tokens_seen),
            "seconds": now - self._last,
        }
        done = step - self._first
        if done > 0:
            seconds_a_step = (now - self._began) / done
            line["left_s"] = seconds_a_step * (state.max_steps - step)
        known = {"loss": "loss", "eval_loss": "held_out_loss", "eval_right": "right"}
        for key, name in known.items():
            if key in logs:
                line[name] = logs[key]
        self._last = now
        self._report(line)

"""Estimates whether a model fits before anything is loaded: the weights and the cache
of an answer are compared with the memory of the device.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.filesize import decimal

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.resources import folder
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.models.chat_template import check_template_of
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.memory import (
    SHARE,
    About,
    needs_found,
    needs_told,
    room_of_gpus,
)
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.weights import fetch_command, locate, on_hub
from pddlego_local.runner.config import compose_cell

GB = 10**9


@dataclass(frozen=True)
class Asked:
    """The conditions of the estimate.

    `tokens` is the length of an answer with its prompt; None means the model's
    configured context. `gpus` and `memory` (bytes per GPU) describe another machine;
    None means this machine.
    """

    tokens: int | None = None
    gpus: int | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Fit:
    """The result for one model. `lines` are printed; `ready` says that the model fits
    and that its files are present.
    """

    name: str
    lines: tuple[str, ...]
    ready: bool

    def __str__(self) -> str:
        return "\n  ".join([f"{self.name}: {self.lines[0]}", *self.lines[1:]])


def model_settings(name: str) -> Mapping[str, Any]:
    """Returns the settings of conf/model/NAME.yaml, or for a hub name or a folder those
    of model=vllm with these weights. Raises ConfigError if `name` is none of these.
    """
    if not re.fullmatch(r"\w+", name):
        settings = compose_cell(["model=vllm", "model.weights=none"]).tree["model"]
        return {**settings, "weights": name}
    if not (folder("conf") / "model" / f"{name}.yaml").is_file():
        raise ConfigError(
            f"there is no model={name}; give a name from `pddlego doctor`, a hub name"
            " such as Qwen/Qwen3-8B, or a folder (./NAME)."
        )
    return dict(compose_cell([f"model={name}"]).tree["model"])


def about_of(settings: Mapping[str, Any]) -> About | None:
    return About(**settings["about"]) if settings.get("about") else None


def look_at(name: str, settings: Mapping[str, Any], asked: Asked) -> Fit:
    """Estimates one model from its settings; `name` is its name for `pddlego fetch`.
    Raises ConfigError for an impossible folder or context.
    """
    if url := settings.get("server", {}).get("url"):
        return Fit(name, (f"runs elsewhere: {hidden_in_text(url)}",), True)
    weights = settings.get("weights")
    if weights is None:
        return Fit(name, ("needs no weights",), True)
    files, missing = find_files(name, settings)
    about = about_of(settings)
    try:
        if files:
            LocalTokenizer.of(str(weights), files)
            check_template_of(files)
        if about:
            needs = needs_told(about, settings["dtype"])
        elif files:
            needs = needs_found(files, settings["dtype"])
        else:
            return Fit(
                name, (f"{weights}, of unknown size", f"files     {missing}"), False
            )
    except ConfigError as error:  # vLLM may still be able to load it
        return Fit(name, (str(weights), f"files     {error}"), False)
    longest = needs.most_context_tokens
    if asked.tokens and asked.tokens > longest:
        raise ConfigError(
            f"--context {asked.tokens}: {weights} supports {longest} tokens at most."
        )
    tokens = int(asked.tokens or settings.get("context_tokens") or longest)
    device, room = _device(settings, asked)
    at_once, cache = needs.answers(tokens, room), needs.cache(tokens)
    if at_once:
        verdict = f"{device}: fits (answers at once: {at_once})"
    elif most := tokens * max(0, room - needs.weights) // cache // 1000 * 1000:
        verdict = f"{device}: does not fit, try model.context_tokens={most}"
    else:
        verdict = f"{device}: does not fit"
    lines = (
        str(weights) + (f", {about.licence}" if about else ""),
        (
            f"needs     {decimal(needs.weights)} for its weights, and {decimal(cache)}"
            f" for the cache of an answer of {tokens:,} tokens with its prompt (the"
            f" model supports {longest:,})"
        ),
        f"room      {verdict}",
        f"files     {files or missing}",
    )
    return Fit(name, lines, at_once > 0 and files is not None)


def find_files(name: str, settings: Mapping[str, Any]) -> tuple[Path | None, str]:
    """Returns the folder of the files, or None and how to get them. Raises
    ConfigError.
    """
    try:
        return locate(settings["weights"], settings.get("revision")), ""
    except MissingPart as error:
        if not on_hub(settings["weights"]):
            return None, str(error)
        fetch = fetch_command(name, settings.get("revision"))
        return None, f"missing or incomplete here: run `{fetch}`"


def _device(settings: Mapping[str, Any], asked: Asked) -> tuple[str, int]:
    """Returns the device in `asked`, or else the device of this machine that the
    settings name, in words, and the bytes of memory that it has for weights and
    answers.
    """
    server = settings.get("server") or {}
    kind = (server or settings.get("engine") or {}).get("device", "cpu")
    other_machine = asked.gpus is not None or asked.memory is not None
    if not other_machine and (kind == "cpu" or (kind == "auto" and not gpu_count())):
        free = psutil.virtual_memory().available
        return f"the CPU with {decimal(free)} free", free
    count = asked.gpus or int(server.get("tensor_parallel_size", 1))
    memory, gpus = (
        asked.memory or gpu_memory(),
        "a GPU" if count == 1 else f"{count} GPUs",
    )
    if asked.memory is None and gpu_count() < count:
        return f"NVIDIA GPUs of this machine: {gpu_count()} of the {count} needed", 0
    if not memory:
        return f"{gpus} of unknown memory (give --gpu-memory)", 0
    room = room_of_gpus(
        count, memory, float(server.get("gpu_memory_utilization", SHARE))
    )
    return f"{gpus} with {decimal(memory)}", room

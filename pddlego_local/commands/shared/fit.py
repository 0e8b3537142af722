"""Whether a model will fit, before anything is loaded: weights, cache, files, disk."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.filesize import decimal

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.resources import folder
from pddlego_local.models.chat_template import check_template_of
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.memory import About, Shape, shape_found, shape_told
from pddlego_local.models.seam import LocalTokenizer
from pddlego_local.models.weights import cache_folder, fetch_command, locate, on_hub
from pddlego_local.runner.config import compose_cell

GB = 10**9
CARDS = (24, 48, 80)  # GB of memory of common GPUs
CALL_BYTES = 9_000  # of a transcript: 42 first looks of SmolLM2 took 4 to 9 kB each, a call each


@dataclass(frozen=True)
class Asked:
    """How many answers at once, and how long with their prompts; None: as the model is configured.
    `gpus` and `memory` (bytes each) are those of another machine; None: this one's."""

    answers: int
    tokens: int | None = None
    gpus: int | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Fit:
    """One model's answer. `lines` are for people; `ready` says that it fits and that it is here."""

    name: str
    lines: tuple[str, ...]
    ready: bool

    def __str__(self) -> str:
        return "\n  ".join([f"{self.name}: {self.lines[0]}", *self.lines[1:]])


def model_settings(name: str) -> Mapping[str, Any]:
    """The `model` group of a YAML's stem, or of model=vllm with a hub name or a folder. Raises
    ConfigError if it is none of these."""
    if not re.fullmatch(r"\w+", name):
        settings = compose_cell(["model=vllm", "model.weights=none"]).tree["model"]
        return {**settings, "weights": name}
    if not (folder("conf") / "model" / f"{name}.yaml").is_file():
        raise ConfigError(
            f"there is no model={name}; `pddlego doctor` lists those there are, and a hub name "
            "such as Qwen/Qwen3-8B or a folder (./NAME) does as well."
        )
    return dict(compose_cell([f"model={name}"]).tree["model"])


def about_of(settings: Mapping[str, Any]) -> About | None:
    return About(**settings["about"]) if settings.get("about") else None


def on_cuda(settings: Mapping[str, Any]) -> bool:
    """Whether it is to run on GPUs of this machine."""
    where = settings.get("server") or settings.get("engine") or {}
    device = where.get("device", "cpu")
    return device == "cuda" or (device == "auto" and gpu_count() > 0)


def look_at(name: str, settings: Mapping[str, Any], asked: Asked) -> Fit:
    """One model, by its settings; `name` is what `pddlego fetch` knows it by. Raises ConfigError
    for a folder or a context that cannot be."""
    if url := settings.get("server", {}).get("url"):
        return Fit(name, (f"runs elsewhere: {url}",), True)
    weights = settings.get("weights")
    if weights is None:
        return Fit(name, ("needs no weights",), True)
    files, missing = _files(name, settings)
    about = about_of(settings)
    try:
        if files:
            LocalTokenizer.of(str(weights), files)
            check_template_of(files)
            shape = shape_found(files, settings["dtype"], about)
        elif about:
            shape = shape_told(about, settings["dtype"])
        else:
            return Fit(name, (f"{weights}, of unknown size", f"files     {missing}"), False)
    except ConfigError as error:  # which vLLM may load nevertheless
        return Fit(name, (str(weights), f"files     {error}"), False)
    longest = shape.most_context_tokens
    if asked.tokens and asked.tokens > longest:
        raise ConfigError(f"--context {asked.tokens}: {weights} was made for {longest} tokens.")
    tokens = int(asked.tokens or settings.get("context_tokens") or longest)
    answer = shape.cache(tokens)
    if asked.gpus is None and asked.memory is None and not on_cuda(settings):
        fits, room = _on_cpu(shape, answer, settings)
    else:
        fits, room = _on_gpus(shape, tokens, settings, asked)
    parameters = about.parameters if about else shape.weights / shape.element
    lines = [
        str(weights) + (f", {about.licence}" if about else ""),
        f"model     {in_short(parameters)} parameters, made for {longest:,} tokens; "
        f"{tokens:,} of them need {_cards(shape, tokens)}",
        f"weights   {decimal(shape.weights)}, as its {'files tell' if files else 'YAML tells'}",
        f"cache     {decimal(answer)} for an answer of {tokens:,} tokens with its prompt, "
        f"{decimal(asked.answers * answer)} for {asked.answers} at once",
        f"room      {room}",
        f"files     {files or missing}",
    ]
    if not files and about:
        lines.append(_disk("download", cache_folder(), shape_told(about, "auto").weights))
    return Fit(name, tuple(lines), fits and files is not None)


def in_short(parameters: float) -> str:
    billions = parameters / 1e9
    return f"{billions:.1f} B" if billions >= 1 else f"{parameters / 1e6:.0f} M"


def room_for_records(out: Path, calls: int | None = None) -> str:
    """Free disk where records go, and what so many model calls may take of it."""
    each = f"about {CALL_BYTES / 1000:.0f} kB"
    if calls is None:
        return f"{_disk('records', out)}; a model call takes {each}"
    return f"{_disk('records', out, calls * CALL_BYTES)}: {each} a call, if all are made"


def free_at(place: Path) -> int:
    """Bytes of free disk at a path, which need not exist yet."""
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def _disk(what: str, place: Path, needed: int | None = None) -> str:
    free = free_at(place)
    room = f"{what:9} {decimal(free)} free in {place}"
    if needed is None:
        return room
    return f"{room}, {'enough' if needed <= free else 'TOO LITTLE'} for {decimal(needed)}"


def _files(name: str, settings: Mapping[str, Any]) -> tuple[Path | None, str]:
    """Where they are, or None and what to do about it. Raises ConfigError."""
    try:
        return locate(settings["weights"], settings.get("revision")), ""
    except MissingPart as error:
        if not on_hub(settings["weights"]):
            return None, str(error)
        fetch = fetch_command(name, settings.get("revision"))
        return None, f"not (wholly) on this machine: `{fetch}`"


def _on_cpu(shape: Shape, answer: int, settings: Mapping[str, Any]) -> tuple[bool, str]:
    server = settings.get("server")
    cache = server["kv_cache_gib"] * 1024**3 if server else answer
    if cache < answer:
        return False, "none on the CPU: raise model.server.kv_cache_gib or try a smaller context"
    needed, free = shape.weights + cache, psutil.virtual_memory().available
    fits = needed <= free
    at_once = f"{cache // answer} such answers at once" if server else "such answers one by one"
    room = f"for {at_once}" if fits else "none"
    taken, left = decimal(int(needed)), decimal(free)
    return fits, f"{room} on the CPU: weights and cache take {taken}, {left} are free"


def _on_gpus(
    shape: Shape, tokens: int, settings: Mapping[str, Any], asked: Asked
) -> tuple[bool, str]:
    server = settings.get("server", {})
    wanted = asked.gpus or int(server.get("tensor_parallel_size", 1))
    memory, used = asked.memory or gpu_memory(), float(server.get("gpu_memory_utilization", 0.9))
    if not memory:
        why = "there is no NVIDIA GPU here"
        if gpu_count():
            why = "the driver does not tell the GPU's memory (say it with --gpu-memory)"
        return False, f"none: {why}; it needs {_cards(shape, tokens)}"
    if asked.memory is None and gpu_count() < wanted:
        return False, f"none: it is to run on {_gpus(wanted)}, and {gpu_count()} are visible"
    of = f"{_gpus(wanted)} with {decimal(memory)}"
    if at_once := shape.answers(tokens, wanted, memory, used):
        waiting = "" if at_once >= asked.answers else f" of {asked.answers}: the others wait"
        return True, f"for {at_once} such answers at once on {of}{waiting}"
    ways = []
    if more := shape.fewest(tokens, memory, used):
        ways.append(f"model.server.tensor_parallel_size={more}")
    if most := shape.most_tokens(wanted, memory, used):
        ways.append(f"model.context_tokens={most}")
    return False, f"none on {of}: try {' or '.join([*ways, 'a quantized model'])}"


def _cards(shape: Shape, tokens: int) -> str:
    """How many GPUs of each common size hold the weights and an answer."""
    counts = {size: shape.fewest(tokens, size * GB) for size in CARDS}
    return ", ".join(f"{count or '–'} of {size} GB" for size, count in counts.items())


def _gpus(count: int) -> str:
    return "a GPU" if count == 1 else f"{count} GPUs"

"""Compares the size of a model's weights with the memory of the GPUs, and says whether
its files are on this machine.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.filesize import decimal

from pddlego_local.core.errors import ConfigError, MissingPart, PddlegoError
from pddlego_local.core.resources import folder
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.models.about import About
from pddlego_local.models.attention import has_linear_attention
from pddlego_local.models.chat_template import check_template_of
from pddlego_local.models.machine import gpu_count, gpu_memory
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.vllm.settings import Server
from pddlego_local.models.weights import fetch_command, locate, on_hub, weights_bytes
from pddlego_local.runner.config import compose_cell

# The sizes of the blocks: vllm#40696 and vllm#51250.
LINEAR_ATTENTION = (
    "attention: linear in some layers. vLLM caches the prompts of such models in blocks"
    " of 528 to 784 tokens, so each stage of an answer (decoding=syntax, typed,"
    " grounded) reads up to so many tokens of its prompt again; and vLLM has no"
    " batch-invariant mode for them."
)
INVARIANCE = (
    "batch-invariant: answers do not depend on the load, and matrix products may have"
    " 0.2 to 0.6 of their speed (docs/understand/requests.md);"
    " model.server.batch_invariant=false turns it off"
)


@dataclass(frozen=True)
class Fit:
    """The facts about one model that are known before anything is loaded.

    `lines` are printed; `ready` says that the files are here and that the weights fit.
    """

    name: str
    lines: tuple[str, ...]
    ready: bool

    def __str__(self) -> str:
        lines = "\n  ".join(self.lines)
        return f"{self.name}: {lines}"


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


def look_at(name: str, settings: Mapping[str, Any]) -> Fit:
    """Returns what is known of the model with these settings. Raises ConfigError for a
    folder that does not exist or is incomplete.
    """
    if url := (settings.get("server") or {}).get("url"):
        return Fit(name, (f"runs elsewhere: {hidden_in_text(url)}",), ready=True)
    weights = settings.get("weights")
    if weights is None:
        return Fit(name, ("needs no weights",), ready=True)
    files, missing = find_files(settings)
    about = about_of(settings)
    title = f"{weights}, {about.licence}" if about else str(weights)
    if files:
        try:
            LocalTokenizer.of(str(weights), files)
            check_template_of(files)
        except ConfigError as error:
            return Fit(name, (title, f"files: {error}"), ready=False)
    where = f"files: {files or missing}"
    if about:
        size = about.weights_bytes(settings["dtype"])
    elif files:
        size = weights_bytes(files)
    else:
        lines = (title, "weights: of unknown size", where, *_notes(settings, files))
        return Fit(name, lines, ready=False)
    obstacle = _obstacle(settings, size)
    line = f"weights: {decimal(size)}"
    if obstacle:
        line += f", {obstacle}"
    lines = (title, line, where, *_notes(settings, files))
    return Fit(name, lines, ready=bool(files) and not obstacle)


def find_files(settings: Mapping[str, Any]) -> tuple[Path | None, str]:
    """Returns the folder of the files, or None and how to get them. Raises
    ConfigError.
    """
    weights = settings["weights"]
    revision = settings.get("revision")
    try:
        return locate(weights, revision), ""
    except MissingPart as error:
        if not on_hub(weights):
            return None, str(error)
        command = fetch_command(weights, revision)
        return None, f"missing or incomplete here: run `{command}`"


def _notes(settings: Mapping[str, Any], files: Path | None) -> Iterator[str]:
    """Yields what a user should know of the model's cost on a server."""
    linear = files is not None and has_linear_attention(files)
    if linear:
        yield LINEAR_ATTENTION
    try:
        server = Server(**settings.get("server", {"batch_invariant": False}))
        invariant = server.is_batch_invariant(linear_attention=linear)
    except (PddlegoError, ValueError):  # building the model says what is wrong
        return
    if invariant:
        yield INVARIANCE


def _obstacle(settings: Mapping[str, Any], size: int) -> str:
    """Returns why weights of `size` bytes cannot be loaded where the settings say; ""
    if nothing speaks against it.

    A server needs more memory than its weights, and says so at its start.
    """
    server = settings.get("server") or {}
    device = (server or settings.get("engine") or {}).get("device", "cpu")
    if device == "cpu" or (device == "auto" and not gpu_count()):
        return ""
    needed = int(server.get("tensor_parallel_size", 1))
    if gpu_count() < needed:
        return f"for {needed} NVIDIA GPUs, of which this machine has {gpu_count()}"
    if 0 < needed * gpu_memory() < size:
        gpus = "the GPU has" if needed == 1 else f"{needed} GPUs have"
        return f"more than {gpus}: {decimal(needed * gpu_memory())}"
    return ""

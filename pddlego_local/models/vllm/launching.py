"""With which arguments a server of our own is started (serving/launch.py)."""

import itertools
from typing import Protocol

from pddlego_local.models.added_tokens import ordinary_tokenizer
from pddlego_local.models.chat_template import dated_file
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.settings import Server
from pddlego_local.models.weights import locate


class Served(Protocol):
    """A model that is to be served; see `VllmModel`."""

    weights: str
    revision: str | None
    context_tokens: int | None
    thinking: Thinking | None
    server: Server

    @property
    def dtype(self) -> str: ...


def launch_arguments(served: Served) -> list[str]:
    """Raises MissingPart for weights that are not here and may not be fetched."""
    server, model, for_vllm = served.server, served.weights, list(served.server.extra_arguments)
    if server.download:
        for_vllm[:0] = ["--revision", served.revision] if served.revision else []
    else:
        folder = locate(model, served.revision)
        model = str(folder.absolute())
        if tokenizer := ordinary_tokenizer(folder):
            for_vllm[:0] = ["--tokenizer", str(tokenizer)]
        if template := dated_file(folder):
            for_vllm[:0] = ["--chat-template", str(template)]
    options: dict[str, object] = {
        "name": served.weights,
        "env": server.env,
        "device": server.device,
        "dtype": served.dtype,
        "tensor-parallel-size": server.tensor_parallel_size,
        "gpu-memory-utilization": server.gpu_memory_utilization,
        "kv-cache-gib": server.kv_cache_gib,
        "context-tokens": served.context_tokens,
        "reasoning-parser": served.thinking and served.thinking.parser,
    }
    given = [(f"--{name}", str(value)) for name, value in options.items() if value]
    on = [*["download"] * server.download, *server.options()]
    flags = [f"--{name.replace('_', '-')}" for name in on]
    return [model, *itertools.chain(*given), *flags, "--", *for_vllm]

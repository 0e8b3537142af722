"""Whether the GPUs of this machine are enough for a server, asked of the driver before it starts.

What else can be in the way (an old driver, a card without bfloat16, no C compiler) vLLM says.
"""

import os
import re
import time

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.machine import driver_says, gpu_count
from pddlego_local.models.vllm.settings import Server

REST_S = 10.0


def check_count(server: Server) -> None:
    """Raises MissingPart if fewer GPUs are visible than the server is to run on."""
    needed, visible = _cards(server), gpu_count()
    if visible < needed:
        what = "model.server.tensor_parallel_size"
        what += " or --data-parallel-size" if needed > server.tensor_parallel_size else ""
        raise MissingPart(
            f"This model needs {needed} NVIDIA GPU{'s' if needed > 1 else ''} and {visible} are "
            f"visible; run it on a GPU machine, change {what}, or point model.server.url at a "
            "running server."
        )


def check_memory(server: Server) -> None:
    """vLLM asks for a share of a card's whole memory, and refuses to start if less is free.

    Raises MissingPart where that is so and stays so: a process that has ended may hold some yet.
    """
    until = time.monotonic() + REST_S
    while tight := _tight(server):
        if time.monotonic() > until:
            free, memory = min(tight, key=lambda one: one[0] / one[1])
            raise MissingPart(
                f"Only {free / 1024:.1f} of {memory / 1024:.1f} GiB of the GPU's memory are free, "
                f"and the server takes {server.gpu_memory_utilization:g} of it: end what else runs "
                "there (`nvidia-smi` lists it) or set "
                f"model.server.gpu_memory_utilization={int(free / memory * 100) / 100:g}."
            )
        time.sleep(1)


def _tight(server: Server) -> list[tuple[int, int]]:
    """MiB free and in all of each GPU that has too little of them for the server; none where the
    driver does not tell, as of memory that a GPU shares with the processor or of a part of one."""
    query = ["--query-gpu=memory.free,memory.total", "--format=csv,noheader,nounits"]
    visible = {**os.environ, **server.variables}.get("CUDA_VISIBLE_DEVICES", "")
    if chosen := [one.strip() for one in visible.split(",") if one.strip()]:
        query.append(f"--id={','.join(chosen[: _cards(server)])}")
    told = (re.fullmatch(r"(\d+), (\d+)", line) for line in driver_says(*query)[: _cards(server)])
    sizes = [(int(found[1]), int(found[2])) for found in told if found]
    share = server.gpu_memory_utilization
    return [(free, memory) for free, memory in sizes if free < share * memory]


def _cards(server: Server) -> int:
    """Of this machine: those of an engine, times its copies here."""
    here = server.argument("--data-parallel-size-local", "-dpl") or server.engines
    spread = server.argument("--data-parallel-backend", "-dpb") == "ray"
    return server.tensor_parallel_size * (int(here) if here.isdecimal() and not spread else 1)

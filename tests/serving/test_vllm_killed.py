"""Servers that die, and what becomes of what they were asked, and of their processes.

The last of this folder to use its servers: they do not survive.
"""

import dataclasses
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Sampling
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.server import VllmServer
from tests.models.asking import ENVELOPE, PROMPT
from tests.models.staging import begin
from tests.serving.served import ENV
from tools.gpu_check.server_processes import group_of, wait_until_gone


def kill_under_way(model: VllmModel, server: int, ask: Callable[[], object]) -> None:
    """Kills the server while four threads ask and ask again: each has a ModelFault of
    it.

    No other server is started: a thread between two questions would go on with that
    one.
    """
    model.server = dataclasses.replace(model.server, max_restarts=0)
    faults: list[Exception] = []

    def ask_on() -> None:
        try:
            while True:
                ask()
        except Exception as error:
            faults.append(error)

    asking = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in asking:
        thread.start()
    time.sleep(0.5)
    psutil.Process(server).kill()
    for thread in asking:
        thread.join()
    assert len(faults) == 4 and all(
        isinstance(fault, ModelFault) for fault in faults
    ), faults


def test_killed_mid_request_is_a_model_fault_and_leaves_nothing(
    model: VllmModel,
) -> None:
    assert model._managed is not None
    group = model._managed.process_group()
    assert group is not None
    assert (
        len(group_of(group)) > 1
    )  # an engine of its own, which a of_another_class kill would orphan
    kill_under_way(
        model,
        group,
        lambda: model.complete(PROMPT, ENVELOPE, Sampling(max_tokens=1500)),
    )
    assert wait_until_gone(group) == []
    model.close()
    model.close()


def test_killed_between_stages_is_a_model_fault(
    of_another_class: VllmModel,
) -> None:
    prefix = begin(of_another_class, 1).prefix
    assert prefix is not None and of_another_class._managed is not None
    group = of_another_class._managed.process_group()
    assert group is not None
    sampling = Sampling(max_tokens=1500, seed=1)
    kill_under_way(
        of_another_class,
        group,
        lambda: of_another_class.complete(PROMPT, None, sampling, prefix),
    )


_PARENT = """
import sys
from pathlib import Path
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
server = Server(
    env=Path(sys.argv[2]),
    device="cpu",
    kv_cache_gib=1,
    variables={"OMP_NUM_THREADS": "1"},
)
model = VllmModel(
    weights=sys.argv[1], dtype="float32", context_tokens=2048, server=server
)
model.start()
print(model._managed.process_group(), flush=True)
sys.stdin.read()
"""


def test_nothing_is_left_after_sigkill_of_the_parent(weights: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(weights), str(ENV)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        try:
            group = int(parent.stdout.readline())
            assert len(group_of(group)) > 1
        finally:
            parent.send_signal(signal.SIGKILL)
    assert wait_until_gone(group) == []


def test_a_server_that_cannot_start_says_why(tmp_path: Path, weights: Path) -> None:
    arguments = [
        str(weights),
        "--env",
        str(ENV),
        "--device",
        "cpu",
        "--",
        "--no-such-flag",
    ]
    with pytest.raises(ModelFault, match="no-such-flag"):
        VllmServer(arguments, start_timeout_s=1500, logs=tmp_path / "logs")
    (kept,) = (tmp_path / "logs").iterdir()
    assert "no-such-flag" in kept.read_text(encoding="utf-8")

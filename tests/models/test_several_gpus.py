"""A model on two cards: how many have to be there."""

from pathlib import Path

import pytest

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.vllm.settings import Server
from tests.models.test_vllm_settings import H100, plant_gpus


@pytest.mark.parametrize(
    ("server", "needed"),
    [
        (Server(tensor_parallel_size=2), 2),
        (Server(extra_arguments=("--data-parallel-size", "2")), 2),
        (
            Server(extra_arguments=("--data-parallel-size=2",), tensor_parallel_size=2),
            4,
        ),
        (
            Server(
                extra_arguments=(
                    "--data-parallel-size=8",
                    "--data-parallel-size-local=2",
                )
            ),
            2,
        ),
        (Server(extra_arguments=("-dp", "2")), 2),
        (Server(extra_arguments=("--data_parallel_size=2",)), 2),
        (
            Server(
                extra_arguments=(
                    "--data-parallel-size",
                    "8",
                    "--data-parallel-backend=ray",
                )
            ),
            1,
        ),
    ],
)
def test_each_copy_needs_its_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, needed: int
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plant_gpus(tmp_path, monkeypatch, *[H100] * needed)
    server.check_gpus()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(needed - 1))))
    with pytest.raises(
        MissingPart, match=rf"needs {needed} NVIDIA GPU.* and {needed - 1} are"
    ):
        server.check_gpus()

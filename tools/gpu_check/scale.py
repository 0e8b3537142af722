"""The size of each step, on a GPU and on a machine without one, which only rehearses
the steps.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from pddlego_local.models.machine import gpu_memory
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tools.bench.large_vocabulary import TINY

Device = Literal["cpu", "cuda"]
_ROOM_FOR_8B = 21 * 1024**3  # 16 GB of weights, and memory for the answers


@dataclass(frozen=True)
class Scale:
    """The sizes of the steps. Each rung decodes for `decoding_s` seconds, whatever the
    device's speed. Tokens are per answer. The time limits of the steps are multiplied
    by `limits_times`.
    """

    shape: Mapping[str, Any]
    dtype: Literal["bfloat16", "float32"]
    context_tokens: int
    decoding_at_once: Sequence[int]
    decoding_s: float
    first_token_turns: int
    in_process_tokens: int
    compared_answers: int
    compared_tokens: int
    compared_at_once: Sequence[int]
    games: str
    training: Sequence[str]
    limits_times: float = 1


_SCALES: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8")
)


def scale_for(device: Device) -> Scale:
    """Returns the sizes for a device. A GPU that eight billion parameters would fill
    gets a smaller model.
    """
    shape = TINY
    if device == "cuda":
        shape = _SCALES["shapes"][
            "llama_1b" if gpu_memory() < _ROOM_FOR_8B else "llama_8b"
        ]
    return Scale(shape=shape, **_SCALES[device])


@dataclass(frozen=True)
class Setting:
    """The setting of every step. `out` holds the findings and the weights that are made
    here.
    """

    device: Device
    out: Path
    scale: Scale

    @property
    def weights(self) -> Path:
        return self.out / "weights"

    @property
    def env(self) -> Path:
        return Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving"))

    @property
    def variables(self) -> dict[str, str]:
        """The server's variables. On a CPU, more threads would make so small a model
        slower.
        """
        threads = {"OMP_NUM_THREADS": "1"} if self.device == "cpu" else {}
        return {"VLLM_SERVER_DEV_MODE": "1", **threads}

    def server(self, *, batch_invariant: Literal["auto"] | bool = "auto") -> VllmModel:
        """Returns the model of random weights on a separate server, which is not
        started yet.
        """
        server = Server(
            env=self.env,
            device=self.device,
            kv_cache_gib=1,
            logs=self.out / "server_logs",
            variables=self.variables,
            batch_invariant=batch_invariant,
        )
        return VllmModel(
            weights=str(self.weights),
            dtype=self.scale.dtype,
            context_tokens=self.scale.context_tokens,
            server=server,
        )

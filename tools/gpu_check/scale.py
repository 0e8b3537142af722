"""How large each step is: on a GPU, and on a machine without one, where only the way is tried."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pddlego_local.models.machine import gpu_memory
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tools.bench.large_vocabulary import TINY

Device = Literal["cpu", "cuda"]
LLAMA_8B: Mapping[str, Any] = {  # the config.json of Llama 3.1 8B
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
LLAMA_1B: Mapping[str, Any] = {  # the config.json of Llama 3.2 1B
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
_ROOM_FOR_8B = 21 * 1024**3  # 16 GB of weights, and something to answer with


@dataclass(frozen=True)
class Scale:
    """What is asked for. Each rung decodes for `decoding_s` seconds, whatever the device's speed;
    tokens are those of an answer, limits are in seconds."""

    shape: Mapping[str, Any]
    dtype: Literal["bfloat16", "float32"]
    context_tokens: int
    decoding_at_once: tuple[int, ...]
    decoding_s: float
    first_token_turns: int
    in_process_tokens: int
    compared_answers: int
    compared_tokens: int
    compared_at_once: tuple[int, ...]
    drafts_at_once: tuple[int, ...]
    games: str
    training: tuple[str, ...]
    limits_times: float = 1


_ONE_ROUND = "rounds=[{{slips: {slips}, steps: {steps}, longest_tokens: 900, learning_rate: 1e-3}}]"
_NO_GAMES = (
    "play={games: 1, settings: ['method.variant=compact environment.rooms=3'], rungs: [free]}",
    "log_every=1",
)
ON_A_GPU = Scale(
    shape=LLAMA_8B,
    dtype="bfloat16",
    context_tokens=8192,
    decoding_at_once=(32, 64, 8, 1),
    decoding_s=8,
    first_token_turns=15,
    in_process_tokens=150,
    compared_answers=64,
    compared_tokens=600,
    compared_at_once=(8, 64),
    drafts_at_once=(1, 8, 32),
    games="3",
    training=(*_NO_GAMES, _ONE_ROUND.format(slips=60, steps=200), "processes=8"),
)
ON_A_CPU = Scale(
    shape=TINY,
    dtype="float32",
    context_tokens=4096,
    decoding_at_once=(2, 1),
    decoding_s=2,
    first_token_turns=1,
    in_process_tokens=15,
    compared_answers=4,
    compared_tokens=60,
    compared_at_once=(2, 4),
    drafts_at_once=(2,),
    games="3",
    training=(
        *_NO_GAMES,
        _ONE_ROUND.format(slips=4, steps=6),
        "shape={hidden_size: 32, intermediate_size: 64, layers: 1, heads: 1, vocabulary: 400, "
        "context_tokens: 2048}",
        *("held_out=2", "batch=2", "at_once=2", "warmup_steps=1", "processes=1", "compile=false"),
    ),
    limits_times=5,
)


def scale_for(device: Device) -> Scale:
    """A smaller model on a GPU whose memory eight billion parameters would fill."""
    if device == "cpu":
        return ON_A_CPU
    if gpu_memory() < _ROOM_FOR_8B:
        return Scale(**{**vars(ON_A_GPU), "shape": LLAMA_1B})
    return ON_A_GPU


@dataclass(frozen=True)
class Setting:
    """What every step is given. `out` holds its findings, and the weights that are made here."""

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
        """Of the server: more threads make so small a model slower on a CPU."""
        threads = {"OMP_NUM_THREADS": "1"} if self.device == "cpu" else {}
        return {"VLLM_SERVER_DEV_MODE": "1", **threads}

    def server(
        self,
        *,
        forced_tokens: bool | None = None,
        batch_invariant: Literal["auto"] | bool = "auto",
        variables: Mapping[str, str] | None = None,
    ) -> VllmModel:
        """The model of random weights behind a server of its own, which is not started yet."""
        server = Server(
            env=self.env,
            device=self.device,
            kv_cache_gib=1,
            logs=self.out / "server_logs",
            variables={**self.variables, **(variables or {})},
            forced_tokens=forced_tokens,
            batch_invariant=batch_invariant,
        )
        return VllmModel(
            weights=str(self.weights),
            dtype=self.scale.dtype,
            context_tokens=self.scale.context_tokens,
            server=server,
        )

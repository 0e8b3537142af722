"""The settings of a vLLM server, and the options that only a managed server has."""

import urllib.parse
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.models.cache import sha256_of
from pddlego_local.models.machine import compute_capability, gpu_count
from pddlego_local.models.vllm.server import serving_build

# As in serving/launch.py, which runs without this package.
PATCHED_VLLM = "0.32.0"
INVARIANT_CAPABILITY = 8.0
_NOT_OURS = "the server at model.server.url is not started by this program."
_SPECULATION = ("--speculative", "--spec-", "-sc")


def is_patched(version: str) -> bool:
    """Returns whether serving/launch.py loads vllm_patches.py into this version."""
    return version.partition("+")[0] == PATCHED_VLLM


@dataclass(
    frozen=True,
    kw_only=True,
    config=ConfigDict(extra="forbid", coerce_numbers_to_str=True),
)
class Server:
    """Where the server is or how it is run.

    With `url` (".../v1") None, the server is managed: it is started for the run from
    the serving environment `env` and ended with it. `name` is the name that an external
    server gives the model; None means the weights' name. A server that is not vLLM
    `accepts` only JSON schemas, in OpenAI's `response_format`. `extra_arguments` go to
    vLLM, and `variables` to its environment. Its logs are kept in the folder `logs`,
    beside the records. `download` permits the server to reach a hub.
    `request_timeout_s` is the total time of a request: a response must be complete by
    then.

    A `batch_invariant` server computes an answer in the same way whatever else it
    answers, which costs time (docs/understand/requests.md). "auto" turns this on if it
    is available.

    `matmul_tiles` is a table of tiles for the matrix products of a batch-invariant
    server on CUDA (serving/matmul_tiles.py), which changes answers.
    """

    url: str | None = None
    api_key: str = "none"
    name: str | None = None
    accepts: Literal["grammars", "json_schemas"] = "grammars"
    env: Path = Path(".venv-serving")
    device: Literal["auto", "cpu", "cuda"] = "auto"
    download: bool = False
    tensor_parallel_size: PositiveInt = 1
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    kv_cache_gib: PositiveInt = 4
    start_timeout_s: PositiveFloat = 1800.0
    request_timeout_s: PositiveFloat = 3600.0
    max_concurrent_requests: int = Field(default=512, ge=1, le=1000)
    max_restarts: int = Field(default=3, ge=0)
    batch_invariant: Literal["auto"] | bool = "auto"
    matmul_tiles: Path | None = None
    extra_arguments: tuple[str, ...] = ()
    variables: dict[str, str] = Field(default_factory=dict)
    logs: Path | None = None

    def check_url(self) -> None:
        """Raises ConfigError if `url` is not an HTTP address."""
        if self.url and urllib.parse.urlsplit(self.url).scheme in ("http", "https"):
            return
        raise ConfigError(
            f"model.server.url: {hidden_in_text(str(self.url))!r} is not an address;"
            " write it as http://HOST:PORT/v1."
        )

    def tiles_identity(self) -> dict[str, str]:
        """Returns what a record says about `matmul_tiles`. Raises ConfigError for a
        file that cannot be read.
        """
        if self.matmul_tiles is None:
            return {}
        try:
            return {"matmul_tiles_sha256": sha256_of(self.matmul_tiles)}
        except OSError as error:
            raise ConfigError(
                f"model.server.matmul_tiles: {self.matmul_tiles} cannot be read"
                f" ({error.strerror}); write the table with `python -m"
                " tools.gpu_check.tiles --out FILE` on the GPU that is used."
            ) from None

    def check_gpus(self) -> None:
        """Raises MissingPart if fewer GPUs are visible than one copy of the model
        needs.

        vLLM reports other obstacles (driver, compiler, memory, copies) when it starts.
        """
        needed, visible = self.tensor_parallel_size, gpu_count()
        if visible < needed:
            raise MissingPart(
                f"This model needs {needed} NVIDIA GPU{'s' if needed > 1 else ''} and"
                f" {visible} are visible; run it on a GPU machine, change"
                " model.server.tensor_parallel_size, or point model.server.url at a"
                " running server."
            )

    def is_batch_invariant(self, *, linear_attention: bool = False) -> bool:
        """Returns whether a managed server is started batch-invariant.
        `linear_attention` says whether the model has such layers.

        Raises ConfigError if this is requested but unavailable, if the arguments for
        vLLM ask for speculative decoding, or if a table of tiles would not be used, and
        MissingPart if this depends on the serving environment and it has no vLLM.
        """
        self._refuse_speculation()
        invariant = self._can_be_invariant(linear_attention)
        if self.matmul_tiles and not (
            invariant and is_patched(serving_build(self.env)[1])
        ):
            raise ConfigError(
                "model.server.matmul_tiles: only a batch-invariant server that this"
                f" program starts with vLLM {PATCHED_VLLM} uses such a table; leave the"
                " option out."
            )
        return invariant

    def _refuse_speculation(self) -> None:
        for given in self.extra_arguments:
            if given.replace("_", "-").startswith(_SPECULATION):
                raise ConfigError(
                    f"model.server.extra_arguments has {given}: vLLM's speculative"
                    " decoding lets tokens pass that a grammar forbids, or crashes on"
                    " them (vllm#27969 and vllm#46118 are open); take it out."
                )

    def _can_be_invariant(self, linear_attention: bool) -> bool:
        if self.batch_invariant is False:
            return False
        reason = self._not_batch_invariant(linear_attention)
        if reason and self.batch_invariant is True:
            raise ConfigError(
                f"model.server.batch_invariant=true is unavailable: {reason} Leave the"
                " option out, or set it to false."
            )
        return not reason

    def _not_batch_invariant(self, linear_attention: bool) -> str:
        """Returns why a server cannot be batch-invariant; "" if it can."""
        if self.url is not None:
            return _NOT_OURS
        if linear_attention:
            return "vLLM has no such mode for linear attention, which this model has."
        if serving_build(self.env)[0] != "cuda":
            return "vLLM's CPU build has no such mode."
        capability = compute_capability()
        if capability >= INVARIANT_CAPABILITY:
            return ""
        return (
            f"it needs NVIDIA GPUs of compute capability {INVARIANT_CAPABILITY:g} or"
            f" higher, and a GPU of this machine has {capability:g}."
        )

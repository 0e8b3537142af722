"""A model in process, through Outlines and transformers, on CPU or GPU.

The model answers one request at a time. `generate` runs under a lock, so an answer
depends on its own seed and not on simultaneous requests. Batching would change the
arithmetic of each row.
"""

import dataclasses
import threading
from typing import ClassVar, Literal

import torch
import transformers
from pydantic import ConfigDict, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import MissingPart, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.models.about import About
from pddlego_local.models.generation import Generation
from pddlego_local.models.machine import gpu_count
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.models.weights import identity_of, locate, training_maps


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Engine:
    """Where and how the weights are loaded and run; nothing here is part of a result's
    identity.

    `download` permits the download of weights, which is the only use of a network.
    `threads` sets torch's number of threads; None keeps its default. `forced_tokens`
    saves a forward pass for each token that is the only one the grammar permits.
    """

    device: Literal["auto", "cpu", "cuda"] = "auto"
    download: bool = False
    threads: PositiveInt | None = None
    forced_tokens: bool = True


@dataclass(kw_only=True, config=ConfigDict(extra="forbid"))
class TransformersModel:
    """Any causal model that transformers can load, from a folder or the local hub
    cache.

    `context_tokens` limits prompt and answer together; None means the model's own
    limit. `thinking` "auto" reads the markers and the switch from the tokenizer and its
    chat template. The first request loads the weights, or the first use of
    `generation`.
    """

    weights: str
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    context_tokens: PositiveInt | None = None
    thinking: Thinking | Literal["auto"] | None = "auto"
    engine: Engine = Engine()
    about: About | None = None

    decodes: ClassVar[Literal[True]] = True

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Generation | None = None
        self._closed = object()  # `close` replaces this object each time

    @property
    def thought_markers(self) -> tuple[str, str] | None:
        """The markers around a thought; with `thinking` "auto", None until the model is
        loaded.
        """
        thinking = self._loaded.thinking if self._loaded else self.thinking
        return thinking.markers if isinstance(thinking, Thinking) else None

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError if the model cannot be loaded here. Loads
        nothing.
        """
        if self.thinking != "auto":
            template_arguments(self.thinking, thinking, self.weights)
        self._check_parts()

    def _check_parts(self) -> None:
        if self.engine.device == "cuda":
            _require_cuda()
        if not self.engine.download:
            locate(self.weights, self.revision)

    def identity(self) -> dict[str, str]:
        """Returns what a record says about this model.

        Raises MissingPart or ConfigError if the weights cannot be found.
        """
        folder = locate(self.weights, self.revision, self.engine.download)
        return {
            "backend": "transformers",
            "backend_version": transformers.__version__,
            **identity_of(self.weights, self.revision, folder),
        }

    def trained_on(self) -> frozenset[str]:
        """Returns the training maps from the list beside the weights
        (`core.protocols.Trained`).
        """
        return training_maps(self.weights)

    @property
    def generation(self) -> Generation:
        """The loaded model, for training; it is loaded first if necessary."""
        with self._lock:
            return self._ensure_loaded()

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """Draws one answer, or the next stage of one; later stages contain no thought.

        The same messages, grammar and sampling give the same answer. If the answer
        reaches the token limit or the end of the context, its finish reason is
        "length". Raises GrammarFault for a grammar that does not compile, ConfigError
        for a prompt that leaves no room in the context and for thinking that the model
        does not support, and ModelFault if PyTorch fails (for example, out of memory)
        or the model was closed.
        """
        closed = self._closed
        with self._lock:
            if closed is not self._closed:
                raise ModelFault(
                    f"{self.weights} was closed while this request waited."
                )
            generation = self._ensure_loaded()
            try:
                return generation.answer(messages, grammar, sampling, prefix)
            except (RuntimeError, MemoryError, IndexError) as error:
                raise ModelFault(
                    f"{self.weights} failed in transformers: {error}"
                ) from error

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        """Draws `count` answers one after the other, each from a separate seed.

        Raises the same errors as `complete`.
        """
        seeds = (derive_seed(sampling.seed, number) for number in range(count))
        samplings = [dataclasses.replace(sampling, seed=seed) for seed in seeds]
        return tuple(self.complete(messages, grammar, own) for own in samplings)

    def close(self) -> None:
        """Frees the weights.

        Waiting requests and an answer that is being drawn fail with ModelFault. A later
        request loads the weights again.
        """
        loaded, self._loaded, self._closed = self._loaded, None, object()
        if loaded:
            loaded.stop()

    def _ensure_loaded(self) -> Generation:
        if self._loaded is not None:
            return self._loaded
        self._check_parts()
        device = self.engine.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if self.engine.threads:
            torch.set_num_threads(self.engine.threads)
        self._loaded = Generation(
            locate(self.weights, self.revision, self.engine.download),
            name=self.weights,
            device=device,
            dtype=self.dtype,
            context_tokens=self.context_tokens,
            thinking=self.thinking,
            forced_tokens=self.engine.forced_tokens,
        )
        return self._loaded


def _require_cuda() -> None:
    if gpu_count() == 0:
        raise MissingPart(
            "No NVIDIA GPU is visible, but device=cuda; run on a GPU machine or set "
            "model.engine.device=cpu."
        )
    if not torch.cuda.is_available():
        raise MissingPart(
            "This PyTorch cannot use the GPU (a CPU build, or a driver too old for it);"
            " install a CUDA build of torch or set model.engine.device=cpu."
        )

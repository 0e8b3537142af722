"""What a model needs of a device's memory, roughly: its weights, and a cache of keys and values for
an answer. A server says at its start what it really has.

The numbers come from the model's YAML or from its files. Sizes are in bytes; "GB" elsewhere is 10^9
of them.
"""

from pathlib import Path

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of

GPU_COUNTS = (1, 2, 4, 8)
SHARE = 0.9  # of a GPU's memory, which a vLLM server takes if it is told nothing else
# What is neither weights nor cache: activations, graphs, CUDA itself. It is a rough number, above
# what vLLM said on machines of others (docs/maintain/model_facts.md).
RESERVE = 2_500_000_000
_ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About:
    """What a YAML tells of a model without its weights. Nothing here changes how it is run.

    `parameters` are all that have to be in memory, experts and embeddings included. `weights_gb`
    (10^9 bytes) is the size of weights in fewer bits than 16. `most_context_tokens` is what the
    model was made for, without stretching. Of its `layers`, `windowed_layers` look back `window`
    tokens and the others at everything. `sampling` is what the makers recommend,
    `thinking_sampling` while the model thinks; both are told and never applied.
    """

    licence: str
    parameters: PositiveFloat
    weights_gb: PositiveFloat | None = None
    most_context_tokens: PositiveInt
    layers: PositiveInt
    windowed_layers: int = Field(default=0, ge=0)
    window: PositiveInt | None = None
    kv_heads: PositiveInt
    head_size: PositiveInt
    sampling: dict[str, float] = Field(default_factory=dict)
    thinking_sampling: dict[str, float] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True))
class Needs:
    """`weights` and `token`, which is the cache of a token in all layers, in bytes. `windowed` is
    the share of the layers that look back `window` tokens only."""

    parameters: PositiveFloat
    most_context_tokens: PositiveInt
    weights: NonNegativeInt
    token: PositiveInt
    windowed: float = 0.0
    window: int = 0

    def cache(self, tokens: int) -> int:
        """Of one answer, prompt included."""
        beyond = max(0, tokens - self.window)
        return round(self.token * (tokens - self.windowed * beyond))

    def answers(self, tokens: int, room: int) -> int:
        """How many of so many tokens fit into so many bytes at the same time, beside the
        weights."""
        return max(0, room - self.weights) // self.cache(tokens)

    def fewest(self, tokens: int, memory: int) -> int | None:
        """Of GPUs with so much memory each, on which one answer fits; None if eight are too few."""
        fitting = (n for n in GPU_COUNTS if self.answers(tokens, room_of_gpus(n, memory)))
        return next(fitting, None)


def room_of_gpus(count: int, memory: int, share: float = SHARE) -> int:
    """What `count` GPUs of `memory` bytes each have for weights and answers."""
    return count * (int(memory * share) - RESERVE)


def needs_told(about: About, dtype: str) -> Needs:
    """From a model's YAML. `dtype` "auto" is 16 bits, as all of them are published."""
    element = _ELEMENT.get(dtype, 2)
    weights = about.parameters * element
    if about.weights_gb is not None and dtype == "auto":
        weights = about.weights_gb * 1e9
    return Needs(
        parameters=about.parameters,
        most_context_tokens=about.most_context_tokens,
        weights=round(weights),
        token=2 * about.layers * about.kv_heads * about.head_size * element,
        windowed=about.windowed_layers / about.layers,
        window=about.window or 0,
    )


def needs_found(folder: Path, dtype: str) -> Needs:
    """From the files of a model folder: the sizes of its weights, and its config.json. Raises
    ConfigError if these do not tell."""
    path = folder / "config.json"
    try:
        config = object_of(path)
        config |= config.get("text_config", {})
        stored = _ELEMENT.get(str(config.get("dtype") or config.get("torch_dtype")), 2)
        element = _ELEMENT.get(dtype, stored)
        # As vLLM and transformers load them: safetensors where there are any.
        files = list(folder.glob("model*.safetensors")) or list(folder.glob("*.bin"))
        size = sum(file.stat().st_size for file in files)
        layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
        kv_heads = config.get("num_key_value_heads") or heads
        head_size = config.get("head_dim") or config["hidden_size"] // heads
        kinds = list(config.get("layer_types") or ())
        if min(heads, kv_heads) < 1:
            raise ValueError(f"{heads} heads")
        return Needs(
            parameters=size / stored,
            most_context_tokens=config["max_position_embeddings"],
            weights=size if "quantization_config" in config else size * element // stored,
            token=2 * layers * kv_heads * head_size * element,
            windowed=kinds.count("sliding_attention") / layers,
            window=config.get("sliding_window") or 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        words = " ".join(repr(error).split())
        raise ConfigError(
            f"model.weights: {path} does not tell the model's shape ({words:.200}); is the "
            "folder a whole Hugging Face model folder?"
        ) from error

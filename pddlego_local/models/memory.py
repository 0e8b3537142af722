"""What a model needs of a GPU's memory, roughly: its weights, and a cache of keys and values for
each answer. A server says at its start what it really has.

The model's shape comes from its YAML or its files. Sizes are in bytes; "GB" elsewhere is 10^9 of
them.
"""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of

GPU_COUNTS = (1, 2, 4, 8)
# What is neither weights nor cache: activations, graphs, CUDA itself. It is a rough number, above
# what vLLM said on machines of others (docs/models.md).
RESERVE = 2_500_000_000
READ_AT_ONCE = 16_384  # tokens of prompts, at most, which a layer with a window holds besides it
_ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About:
    """What a YAML tells of a model without its weights. Nothing here changes how it is run.

    `parameters` are all that have to be in memory, experts and embeddings included.
    `most_context_tokens` is what the model was made for, without stretching. Of its `layers`,
    `windowed_layers` look back `window` tokens and the others at everything. `weights_gb` (10^9
    bytes) is the size of weights in fewer bits than 16. `sampling` is what the makers recommend,
    `thinking_sampling` while the model thinks; both are told and never applied.
    """

    licence: str
    parameters: PositiveFloat
    most_context_tokens: PositiveInt
    layers: PositiveInt
    windowed_layers: int = Field(default=0, ge=0)
    window: PositiveInt | None = None
    kv_heads: PositiveInt
    head_size: PositiveInt
    weights_gb: PositiveFloat | None = None
    sampling: dict[str, float] = Field(default_factory=dict)
    thinking_sampling: dict[str, float] = Field(default_factory=dict)


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Shape:
    """`weights` in bytes; `element` is the size of one number of the cache, in bytes; `longest` is
    the context that the model was made for, in tokens."""

    weights: NonNegativeInt
    longest: PositiveInt
    layers: PositiveInt
    kv_heads: PositiveInt
    head_size: PositiveInt
    element: PositiveInt
    windowed_layers: NonNegativeInt = 0
    window: NonNegativeInt = 0

    def cache(self, tokens: int, gpus: int = 1) -> int:
        """Of one answer, prompt included, on each of so many GPUs: a head is never divided, and a
        layer with a window holds no more than that and what is being read."""
        heads, windowed = -(-self.kv_heads // gpus), self.windowed_layers
        held = (self.layers - windowed) * tokens + windowed * min(
            tokens, self.window + READ_AT_ONCE
        )
        return 2 * held * heads * self.head_size * self.element


@dataclasses.dataclass(frozen=True)
class Gpus:
    """GPUs of the same `memory` each, of which the server takes the share `used`."""

    count: int
    memory: int
    used: float = 0.9

    def left(self, shape: Shape) -> int:
        """On each, for the cache; negative if the weights alone are too large."""
        return int(self.memory * self.used) - RESERVE - -(-shape.weights // self.count)

    def answers(self, shape: Shape, tokens: int) -> int:
        """How many of so many tokens have room at the same time."""
        return max(0, self.left(shape)) // shape.cache(tokens, self.count)

    def most_tokens(self, shape: Shape) -> int:
        """The longest answer, prompt included, that has room, in whole thousands."""
        most = 0
        while self.answers(shape, most + 1000) and most < 10**6:
            most += 1000
        return most


def fewest(shape: Shape, tokens: int, memory: int, used: float = 0.9) -> int | None:
    """Of GPUs with so much memory, on which one answer has room; None if eight are too few."""
    fitting = (n for n in GPU_COUNTS if Gpus(n, memory, used).answers(shape, tokens))
    return next(fitting, None)


def shape_told(about: About, dtype: str) -> Shape:
    """From a model's YAML. `dtype` "auto" is 16 bits, as all of them are published."""
    element = _ELEMENT.get(dtype, 2)
    weights = about.parameters * element
    if about.weights_gb is not None and dtype == "auto":
        weights = about.weights_gb * 1e9
    return Shape(
        weights=round(weights),
        longest=about.most_context_tokens,
        layers=about.layers,
        windowed_layers=about.windowed_layers,
        window=about.window or 0,
        kv_heads=about.kv_heads,
        head_size=about.head_size,
        element=element,
    )


def shape_found(folder: Path, dtype: str, about: About | None = None) -> Shape:
    """From the files of a model folder: the sizes of its weights, and its config.json; what that
    leaves to its model class is taken from `about`.

    Raises ConfigError if neither tells what is needed.
    """
    path = folder / "config.json"
    told = shape_told(about, dtype) if about else None
    try:
        found = _found(object_of(path), folder, dtype)
        return replace(told, **found) if told else Shape(**found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        words = " ".join(repr(error).split())
        raise ConfigError(
            f"model.weights: {path} does not tell the model's shape ({words:.200}); is the "
            "folder a whole Hugging Face model folder?"
        ) from error


def _found(config: dict[str, Any], folder: Path, dtype: str) -> dict[str, Any]:
    """What a folder tells of a Shape."""
    config = {**config, **config.get("text_config", {})}
    # As vLLM and transformers load them: safetensors where there are any.
    files = list(folder.glob("model*.safetensors")) or list(folder.glob("*.bin"))
    weights = sum(file.stat().st_size for file in files)
    stored = _ELEMENT.get(str(config.get("dtype") or config.get("torch_dtype")), 2)
    element = _ELEMENT.get(dtype, stored)
    if "quantization_config" not in config:
        weights = weights * element // stored
    heads = config.get("num_attention_heads")
    perhaps = {
        "kv_heads": config.get("num_key_value_heads") or heads,
        "head_size": config.get("head_dim") or (heads and config["hidden_size"] // heads),
        "longest": config.get("max_position_embeddings"),
    }
    found = {"weights": weights, "layers": config["num_hidden_layers"], "element": element}
    found |= {key: value for key, value in perhaps.items() if value}
    if kinds := config.get("layer_types"):
        found["windowed_layers"] = list(kinds).count("sliding_attention")
        found["window"] = config.get("sliding_window") or 0
    return found

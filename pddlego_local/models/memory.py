"""What a model needs of a GPU's memory: its weights, and a cache of keys and values per answer.

Arithmetic on the model's shape. Sizes are in bytes; "GB" elsewhere is 10^9 of them.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.models.about import About

RESERVE = 2 * 10**9  # of each GPU, for what is neither: assumed, not measured
GPU_COUNTS = (1, 2, 4, 8)
_NO_WINDOWS = {"windowed_layers": 0, "window": 0}
_ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Shape:
    """`weights` in bytes; `element` is the size of one number of the cache, in bytes; `longest` is
    the context that the model was made for, in tokens."""

    weights: NonNegativeInt
    longest: PositiveInt
    layers: PositiveInt
    windowed_layers: NonNegativeInt
    window: NonNegativeInt
    kv_heads: PositiveInt
    head_size: PositiveInt
    element: PositiveInt

    def cache(self, tokens: int, gpus: int = 1) -> int:
        """Of one answer, prompt included, on each of so many GPUs: a head is never divided."""
        heads = -(-self.kv_heads // gpus)
        full = self.layers - self.windowed_layers
        looked_at = full * tokens + self.windowed_layers * min(tokens, self.window)
        return 2 * looked_at * heads * self.head_size * self.element


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
        config: Any = object_of(path)
        config = {**config, **config.get("text_config", {})}
        stored = _ELEMENT.get(str(config.get("dtype") or config.get("torch_dtype")), 2)
        element = _ELEMENT.get(dtype, stored)
        weights = sum(file.stat().st_size for file in _weight_files(folder))
        if "quantization_config" not in config:
            weights = weights * element // stored
        found = {"weights": weights, "layers": config["num_hidden_layers"], "element": element}
        found |= _heads(config) | _windows(config) | _longest(config)
        return replace(told, **found) if told else Shape(**{**_NO_WINDOWS, **found})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"model.weights: {path} does not tell the model's shape ({_first(error)}); is the "
            "folder a whole Hugging Face model folder?"
        ) from error


def _first(error: Exception) -> str:
    return " ".join(repr(error).split())[:200]


def _weight_files(folder: Path) -> list[Path]:
    """As vLLM and transformers load them: safetensors where there are any."""
    return list(folder.glob("model*.safetensors")) or list(folder.glob("*.bin"))


def _heads(config: Mapping[str, Any]) -> dict[str, int]:
    """What a configuration says of its heads, which may be nothing."""
    heads = config.get("num_attention_heads")
    kv_heads = config.get("num_key_value_heads") or heads
    size = config.get("head_dim") or (config["hidden_size"] // heads if heads else None)
    return {k: v for k, v in {"kv_heads": kv_heads, "head_size": size}.items() if v}


def _longest(config: Mapping[str, Any]) -> dict[str, int]:
    longest = config.get("max_position_embeddings")
    return {"longest": longest} if longest else {}


def _windows(config: Mapping[str, Any]) -> dict[str, int]:
    kinds = config.get("layer_types")
    if not kinds:
        return {}
    return {
        "windowed_layers": list(kinds).count("sliding_attention"),
        "window": config.get("sliding_window") or 0,
    }

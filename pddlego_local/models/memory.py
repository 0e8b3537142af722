"""What a model needs of a GPU's memory, roughly: its weights, and a cache of keys and values for
each answer. A server says at its start what it really has.

The model's shape comes from its YAML or its files. Sizes are in bytes; "GB" elsewhere is 10^9 of
them.
"""

import bisect
import dataclasses
from pathlib import Path

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of

GPU_COUNTS = (1, 2, 4, 8)
# What is neither weights nor cache: activations, graphs, CUDA itself. It is a rough number, above
# what vLLM said on machines of others (docs/maintain/model_facts.md).
RESERVE = 2_500_000_000
READ_AT_ONCE = 16_384  # tokens of prompts, at most, which a layer with a window holds besides it
_ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, kw_only=True)
class Layers:
    """`most_context_tokens` is what the model was made for, without stretching. Of its `layers`,
    `windowed_layers` look back `window` tokens and the others at everything."""

    most_context_tokens: PositiveInt
    layers: PositiveInt
    windowed_layers: int = Field(default=0, ge=0)
    window: PositiveInt | None = None
    kv_heads: PositiveInt
    head_size: PositiveInt


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About(Layers):
    """What a YAML tells of a model without its weights. Nothing here changes how it is run.

    `parameters` are all that have to be in memory, experts and embeddings included. `weights_gb`
    (10^9 bytes) is the size of weights in fewer bits than 16. `sampling` is what the makers
    recommend, `thinking_sampling` while the model thinks; both are told and never applied.
    """

    licence: str
    parameters: PositiveFloat
    weights_gb: PositiveFloat | None = None
    sampling: dict[str, float] = Field(default_factory=dict)
    thinking_sampling: dict[str, float] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True))
class Shape(Layers):
    """`weights` in bytes; `element` is the size of one number of the cache, in bytes."""

    weights: NonNegativeInt
    element: PositiveInt

    def cache(self, tokens: int, gpus: int = 1) -> int:
        """Of one answer, prompt included, on each of so many GPUs: a head is never divided, and a
        layer with a window holds no more than that and what is being read."""
        heads, windowed = -(-self.kv_heads // gpus), self.windowed_layers
        held = (self.layers - windowed) * tokens
        held += windowed * min(tokens, (self.window or 0) + READ_AT_ONCE)
        return 2 * held * heads * self.head_size * self.element

    def answers(self, tokens: int, gpus: int, memory: int, used: float = 0.9) -> int:
        """How many of so many tokens have room at the same time on GPUs of the same `memory` each,
        of which the server takes the share `used`."""
        left = int(memory * used) - RESERVE - -(-self.weights // gpus)
        return max(0, left) // self.cache(tokens, gpus)

    def most_tokens(self, gpus: int, memory: int, used: float) -> int:
        """The longest answer, prompt included, that has room there, in whole thousands."""
        longest = range(1000, 10**6, 1000)
        return 1000 * bisect.bisect_left(
            longest, True, key=lambda tokens: not self.answers(tokens, gpus, memory, used)
        )

    def fewest(self, tokens: int, memory: int, used: float = 0.9) -> int | None:
        """Of such GPUs, on which one answer has room; None if eight are too few."""
        fitting = (gpus for gpus in GPU_COUNTS if self.answers(tokens, gpus, memory, used))
        return next(fitting, None)


def shape_told(about: About, dtype: str) -> Shape:
    """From a model's YAML. `dtype` "auto" is 16 bits, as all of them are published."""
    element = _ELEMENT.get(dtype, 2)
    weights = about.parameters * element
    if about.weights_gb is not None and dtype == "auto":
        weights = about.weights_gb * 1e9
    layers = {field.name: getattr(about, field.name) for field in dataclasses.fields(Layers)}
    return Shape(weights=round(weights), element=element, **layers)


def shape_found(folder: Path, dtype: str, about: About | None = None) -> Shape:
    """From the files of a model folder: the sizes of its weights, and its config.json; what that
    leaves to its model class is taken from `about`.

    Raises ConfigError if neither tells what is needed.
    """
    path = folder / "config.json"
    try:
        config = object_of(path)
        config |= config.get("text_config", {})
        stored = _ELEMENT.get(str(config.get("dtype") or config.get("torch_dtype")), 2)
        element = _ELEMENT.get(dtype, stored)
        # As vLLM and transformers load them: safetensors where there are any.
        files = list(folder.glob("model*.safetensors")) or list(folder.glob("*.bin"))
        weights = sum(file.stat().st_size for file in files)
        if "quantization_config" not in config:
            weights = weights * element // stored
        heads, kinds = config.get("num_attention_heads"), list(config.get("layer_types") or ())
        told = {
            "layers": config["num_hidden_layers"],
            "kv_heads": config.get("num_key_value_heads") or heads,
            "head_size": config.get("head_dim") or (heads and config["hidden_size"] // heads),
            "most_context_tokens": config.get("max_position_embeddings"),
            "windowed_layers": kinds.count("sliding_attention"),
            "window": kinds and config.get("sliding_window"),
        }
        known = dataclasses.asdict(shape_told(about, dtype)) if about else {}
        known |= {key: value for key, value in told.items() if value}
        return Shape(**{**known, "weights": weights, "element": element})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        words = " ".join(repr(error).split())
        raise ConfigError(
            f"model.weights: {path} does not tell the model's shape ({words:.200}); is the "
            "folder a whole Hugging Face model folder?"
        ) from error

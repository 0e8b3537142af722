"""Estimates how much device memory a model needs: its weights, and the KV cache of an
answer.

A server prints at its start how much memory it really has. The numbers here come from
the model's YAML or from its files. Sizes are in bytes; "GB" elsewhere means 10^9 bytes.
"""

from pathlib import Path

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of

GPU_COUNTS = (1, 2, 4, 8)
SHARE = 0.9  # the share of a GPU's memory that a vLLM server takes by default
# Memory besides weights and cache: activations, graphs, CUDA itself. It is a rough
# number, higher than what vLLM reported on others' machines
# (docs/maintain/model_facts.md).
RESERVE = 2_500_000_000
_ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About:
    """Model metadata in a YAML, known without the weights. It does not change how the
    model runs.

    `parameters` counts all parameters that must be in memory, including experts and
    embeddings. `weights_gb` (10^9 bytes) is the size of weights that have fewer than 16
    bits. `most_context_tokens` is the context that the model was made for, without
    extension methods. `windowed_layers` of the `layers` attend to the last `window`
    tokens only, the others to all tokens. `sampling` holds the makers' recommended
    settings, and `thinking_sampling` those for thinking; both are only for information,
    and no command applies them.
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
    """The memory that a model needs.

    `weights` is the size of the weights, and `token` the KV cache of one token in all
    layers, both in bytes. `windowed` is the share of layers that attend to the last
    `window` tokens only.
    """

    parameters: PositiveFloat
    most_context_tokens: PositiveInt
    weights: NonNegativeInt
    token: PositiveInt
    windowed: float = 0.0
    window: int = 0

    def cache(self, tokens: int) -> int:
        """Returns the bytes of KV cache for one answer of `tokens` tokens, prompt
        included.
        """
        beyond = max(0, tokens - self.window)
        return round(self.token * (tokens - self.windowed * beyond))

    def answers(self, tokens: int, room: int) -> int:
        """Returns how many answers of `tokens` tokens fit at once into `room` bytes.

        The weights take a part of `room`.
        """
        return max(0, room - self.weights) // self.cache(tokens)

    def fewest(self, tokens: int, memory: int) -> int | None:
        """Returns the least number of GPUs, each with `memory` bytes, for one answer of
        `tokens`.

        The result is None if eight GPUs are too few.
        """
        return next(
            (n for n in GPU_COUNTS if self.answers(tokens, room_of_gpus(n, memory))),
            None,
        )


def room_of_gpus(count: int, memory: int, share: float = SHARE) -> int:
    """Returns the bytes that `count` GPUs of `memory` bytes each have for weights and
    answers.
    """
    return count * (int(memory * share) - RESERVE)


def needs_told(about: About, dtype: str) -> Needs:
    """Returns a model's needs from its YAML.

    `dtype` "auto" means 16 bits, the precision in which all these models are published.
    """
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
    """Returns a model's needs from its folder: the sizes of its weight files and its
    config.json.

    Raises ConfigError if these files do not contain the numbers.
    """
    path = folder / "config.json"
    try:
        config = object_of(path)
        config |= config.get("text_config", {})
        stored = _ELEMENT.get(str(config.get("dtype") or config.get("torch_dtype")), 2)
        element = _ELEMENT.get(dtype, stored)
        # vLLM and transformers load safetensors if there are any.
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
            weights=(
                size if "quantization_config" in config else size * element // stored
            ),
            token=2 * layers * kv_heads * head_size * element,
            windowed=kinds.count("sliding_attention") / layers,
            window=config.get("sliding_window") or 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        words = " ".join(repr(error).split())
        raise ConfigError(
            f"model.weights: {path} does not state the model's shape ({words:.200}); is"
            " the folder a complete Hugging Face model folder?"
        ) from error

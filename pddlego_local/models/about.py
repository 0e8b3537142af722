"""What is known of a model without its weights: licence, size and shape, as its YAML tells them.

Each YAML names the source of each fact. Nothing here changes how a model is run.
"""

from pydantic import ConfigDict, Field, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About:
    """`parameters` are all that have to be in memory, experts and embeddings included.

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

"""The licence of a model and the size of its weights, from the model's YAML."""

from pydantic import ConfigDict, PositiveFloat
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class About:
    """Model metadata that is known without the weights. It changes no result.

    `parameters` counts all parameters that must be in memory, including experts and
    embeddings. `weights_gb` (10^9 bytes) is the size of weights that have fewer than 16
    bits.
    """

    licence: str
    parameters: PositiveFloat
    weights_gb: PositiveFloat | None = None

    def weights_bytes(self, dtype: str) -> int:
        """Returns the size of the weights.

        `dtype` "auto" means the published precision: 16 bits, unless `weights_gb` says
        otherwise.
        """
        if dtype == "auto" and self.weights_gb is not None:
            return round(self.weights_gb * 1e9)
        return round(self.parameters * (4 if dtype == "float32" else 2))

"""How answers are drawn: the rung of the decoding ladder and the sampling settings."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core import Sampling


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Decoding:
    """`conf/decoding/<rung>.yaml`. Token limits count the answer and, if any, the thought."""

    rung: Literal["free", "json", "syntax"]
    temperature: Annotated[float, Field(ge=0, le=5)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 8192
    thinking: bool = False

    def sampling(self, seed: int) -> Sampling:
        return Sampling(self.temperature, self.top_p, self.max_tokens, seed, self.thinking)

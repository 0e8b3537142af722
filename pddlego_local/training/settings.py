"""The settings of a training: the keys of `conf/train/*.yaml`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import BeforeValidator, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt

from pddlego_local.core.resources import folder
from pddlego_local.decoding.rungs import RungName
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.training.examples import Kind, PlayedBy

_STRICT = ConfigDict(extra="forbid")
OWN = "environment="
WITHOUT_EFFECT = (
    *("out", "device", "threads", "compile", "processes"),
    *("save_every", "log_every", "play"),
)


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Shape:
    """A Llama from scratch. vLLM's CPU build wants heads of 32 or 64. `part_tokens`:
    lines that so large a share of the questions has that begin alike, and no answer, are one token
    each, beside `vocabulary`; with `answer_parts` those that answers have are special ones. With
    `related_tokens`, those that share a word or a number begin near each other."""

    hidden_size: PositiveInt
    intermediate_size: PositiveInt
    layers: PositiveInt
    heads: PositiveInt
    vocabulary: Annotated[int, Field(ge=300)]
    context_tokens: PositiveInt
    part_tokens: Annotated[float, Field(gt=0, le=1)] | None = None
    answer_parts: bool = False
    related_tokens: bool = False

    def __post_init__(self) -> None:
        if self.hidden_size / self.heads not in (32, 64):
            raise ValueError("hidden_size must be 32 or 64 times heads")


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Lora:
    """Low-rank adapters on all linear layers (peft), merged into the weights at the end."""

    rank: PositiveInt = 16
    alpha: PositiveInt = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Round:
    """More games, then steps on the examples of all games so far.

    `slips` games are played by the reference with planted slips, `student` ones by the weights of
    the round before. Questions that are longer with their answers than `longest_tokens` are left
    out: short ones are learned from first, for they cost little. The learning rate falls to a tenth
    of `learning_rate` along a cosine.
    """

    slips: NonNegativeInt = 0
    student: NonNegativeInt = 0
    steps: PositiveInt
    longest_tokens: PositiveInt
    learning_rate: PositiveFloat


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Play:
    """Games that are played to see what a round's weights can do: seeds from 0 on, by rung, with
    each of the overrides in `settings`."""

    games: PositiveInt
    settings: Annotated[tuple[str, ...], Field(min_length=1)]
    rungs: Annotated[tuple[RungName, ...], Field(min_length=1)]


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class TrainSettings:
    """One of `shape` (from scratch) and `weights` (a local model folder) is given.

    `batch` examples make a step, `at_once` of them are computed together. `question_loss` is the
    weight of the loss on the questions' tokens; that on the answers' has 1. A question that many
    games ask is learned from `repeats` times at most; of those of one game whose answers differ in
    numbered names alone, `alike` are, if it is given. `methods` play the games. `optimizer` is that
    of the matrices (`training.optimizer`). `threads` are those of a CPU that trains; `processes`
    play games. `compile` joins small operations into large ones (`torch.compile`).
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    out: Path
    seed: NonNegativeInt
    environment: Annotated[tuple[Kind, ...], BeforeValidator(_several), Field(min_length=1)]
    methods: Annotated[tuple[PlayedBy, ...], Field(min_length=1)]
    shape: Shape | None
    weights: str | None
    lora: Lora | None
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "bf16", "float32"]
    threads: PositiveInt
    compile: bool
    processes: PositiveInt
    batch: PositiveInt
    at_once: PositiveInt
    question_loss: Annotated[float, Field(ge=0)]
    optimizer: Literal["adamw", "muon"]
    warmup_steps: NonNegativeInt
    save_every: PositiveInt
    log_every: PositiveInt
    held_out: PositiveInt
    repeats: PositiveInt
    alike: PositiveInt | None
    rounds: Annotated[tuple[Round, ...], Field(min_length=1)]
    play: Play | None

    def __post_init__(self) -> None:
        if (self.shape is None) == (self.weights is None):
            raise ValueError("give either shape (from scratch) or weights (a model to fine-tune)")
        if self.lora and not self.weights:
            raise ValueError("lora needs weights to adapt")
        if self.lora and self.optimizer != "adamw":
            raise ValueError("lora needs optimizer=adamw")
        if self.batch % self.at_once:
            raise ValueError("batch must be a multiple of at_once")

    def identity(self) -> dict[str, Any]:
        """What changes the weights."""
        everything: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return {key: value for key, value in everything.items() if key not in WITHOUT_EFFECT}


def compose_training(name: str, overrides: Sequence[str]) -> TrainSettings:
    """From `conf/train/NAME.yaml` and Hydra overrides. Raises ConfigError naming the key."""
    with clear_errors(""):
        with initialize_config_dir(str(folder("conf")), version_base="1.3"):
            cfg = compose(f"train/{name}", [o for o in overrides if not o.startswith(OWN)])
        # A group of conf/ has this name, and Hydra takes it for that.
        cfg.merge_with_dotlist([o for o in overrides if o.startswith(OWN)])
        tree = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
        assert isinstance(tree, dict)
        return TrainSettings(**{str(key): value for key, value in tree.items()})

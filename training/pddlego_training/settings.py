"""The settings of a training: the keys of `conf/*.yaml` beside this file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)

from pddlego_local.decoding.rungs import RungName
from pddlego_local.environments.described.generated import Family
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.overrides import at_home, read_override
from pddlego_training.examples import Kind, PlayedBy

_STRICT = ConfigDict(extra="forbid")
CONF = Path(__file__).parent / "conf"
WITHOUT_EFFECT = (
    "out",
    "device",
    "threads",
    "compile",
    "processes",
    "save_every",
    "log_every",
    "play",
)


_SEVERAL = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Shape:
    """The shape of a Llama that is trained from scratch.

    vLLM's CPU build needs heads of size 32 or 64. With `part_tokens`, a line is one
    token, in addition to `vocabulary`, if at least this share of the questions with the
    same first line contains it. Lines that also occur in answers are left out or, with
    `answer_parts`, are special tokens. With `related_tokens`, the initial embeddings of
    tokens that share a word or a number are similar.
    """

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
class Round:
    """A round plays more games, and then trains for `steps` steps on the examples of
    all games so far.

    The reference plays `slips` games with planted slips, and the weights of the
    previous round play `student` games. Questions that have more than `longest_tokens`
    tokens with their answers are left out, so that early rounds can use short
    questions, which cost little. The learning rate falls from `learning_rate` to a
    tenth of it along a cosine.
    """

    slips: NonNegativeInt = 0
    student: NonNegativeInt = 0
    steps: PositiveInt
    longest_tokens: PositiveInt
    learning_rate: PositiveFloat


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Play:
    """Games that are played to evaluate the weights of a round: `games` seeds from 0
    on, under each of `rungs`, with each of the overrides in `settings`.
    """

    games: PositiveInt
    settings: Annotated[tuple[str, ...], Field(min_length=1)]
    rungs: Annotated[tuple[RungName, ...], Field(min_length=1)]


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class TrainSettings:
    """The settings of a training, which starts from random weights.

    A step has `batch` examples, of which `at_once` are computed together.
    `question_loss` is the weight of the loss on the tokens of questions; the loss on
    answers has weight 1. A question that several games ask is used at most `repeats`
    times. If `alike` is given, at most `alike` questions are used among those of one
    game whose answers differ only in numbered names. `method` plays the games. Games
    with environment=described have methods of their own, and draw one of `worlds`.
    `optimizer` is used for
    matrices (`optimizer.py`). `threads` is the number of threads for training on
    a CPU, and `processes` the number of processes that play games. `compile` fuses
    small operations (`torch.compile`).
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    out: Path
    seed: NonNegativeInt
    environment: Annotated[tuple[Kind, ...], _SEVERAL, Field(min_length=1)]
    method: PlayedBy
    worlds: tuple[Family, ...]
    shape: Shape
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
        if self.rounds[0].student:
            raise ValueError(
                "rounds: there is no student in the first round; give it only slips"
            )
        if "described" in self.environment and len(self.environment) > 1:
            raise ValueError("described worlds are learned alone")
        if "described" in self.environment and not self.worlds:
            raise ValueError("environment=described needs worlds")
        by_edits = set(self.environment) - {"coin", "described"}
        if by_edits and self.method == "compact":
            raise ValueError(
                f"{', '.join(sorted(by_edits))}: method=pddl_edit is needed"
            )
        if self.batch % self.at_once:
            raise ValueError("batch must be a multiple of at_once")


def identity(settings: TrainSettings) -> dict[str, Any]:
    """Returns the settings that affect the weights, as JSON values."""
    everything: dict[str, Any] = json.loads(json.dumps(asdict(settings), default=str))
    for key in WITHOUT_EFFECT:
        del everything[key]
    return everything


def compose_settings(name: str, overrides: Sequence[str]) -> TrainSettings:
    """Composes the settings of `conf/NAME.yaml` and Hydra overrides.

    Raises ConfigError that names the wrong key.
    """
    with clear_errors(""):
        with initialize_config_dir(str(CONF), version_base="1.3"):
            read = [read_override(override.lstrip("+")) for override in overrides]
            # "++", so that the dataclass names an unknown option
            cfg = compose(name, [f"++{override.input_line}" for override in read])
        tree: Any = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
        return TrainSettings(**at_home(tree))

"""Hydra's side of the project: composing `conf/`, checking it, and building the parts from it."""

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import pydantic
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import Environment, Numbered
from pddlego_local.core.record.run_record import MOST_EPISODES, parse_games
from pddlego_local.core.resources import folder
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.environments import family
from pddlego_local.methods import prompts
from pddlego_local.runner.compare import Compare

GROUPS = ("environment", "method", "model", "decoding", "planner")
# Limits, concurrency, paths, and what is told of a model: they do not change results and are not
# part of a cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about"),
    "planner": ("limits", "workers"),
}


def quote_games(overrides: Sequence[str]) -> list[str]:
    """The overrides, with the value of `games` as one text: to Hydra a bare comma begins a sweep.

    games=0-9,17 and games=[0,3] become games="0-9,17" and games="[0,3]".
    """
    return [_quoted(override) for override in overrides]


def _quoted(override: str) -> str:
    match = re.fullmatch(r"(\+{0,2}games=)(.*)", override, re.DOTALL)
    if not match:
        return override
    bare = re.sub(r"""["'\\]""", "", match[2])
    return f'{match[1]}"{bare}"'


def _path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no path holds a NUL")
    return path


def _folder(name: str) -> str:
    """What can be the name of one folder, and is not hidden."""
    if not re.fullmatch(r"[\w-][\w.-]*", name) or len(name.encode()) > 100:
        raise ValueError(
            "write letters, digits, '_', '-' and '.', which does not come first; at most 100 bytes"
        )
    return name


_STRICT = ConfigDict(extra="forbid")


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class RunSettings:
    """How a cell is carried out; nothing here changes its results.

    `retries` is how often an episode is tried again after an infrastructure fault. At a limit, None
    for none, no further episode begins. `max_tokens_total` are all tokens of the command's cells,
    prompts and answers, whenever played; `max_hours` count from the command's start.
    """

    out: Annotated[Path, AfterValidator(_path)]
    concurrency: Annotated[int, Field(ge=1, le=4096)]
    retries: Annotated[int, Field(ge=0)]
    max_tokens_total: Annotated[int, Field(ge=1)] | None
    max_hours: Annotated[float, Field(gt=0)] | None


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Settings:
    """The keys of `conf/config.yaml` outside the groups. `games` are the games' seeds."""

    name: Annotated[str, AfterValidator(_folder)]
    seed: Annotated[int, Field(ge=0)]
    games: Annotated[tuple[int, ...], BeforeValidator(parse_games)]
    trials: Annotated[int, Field(ge=1, le=MOST_EPISODES)]
    run: RunSettings
    compare: Compare = None

    def __post_init__(self) -> None:
        if len(self.games) * self.trials > MOST_EPISODES:
            raise ValueError(
                f"{len(self.games):,} games and trials={self.trials}: a cell has at most "
                f"{MOST_EPISODES:,} episodes; ask for fewer"
            )


@dataclass(frozen=True)
class CellConfig:
    """One resolved configuration. `labels` are the YAML stems of its groups."""

    tree: Mapping[str, Any]
    labels: Mapping[str, str]
    _checked: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, cfg: DictConfig, choices: Mapping[str, str]) -> "CellConfig":
        """Raises ConfigError if a mandatory value is missing or an interpolation fails."""
        with clear_errors(""):
            tree = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
        assert isinstance(tree, dict)
        return cls(
            {str(key): value for key, value in tree.items()}, {g: choices[g] for g in GROUPS}
        )

    @property
    def identity(self) -> dict[str, Any]:
        """What changes results. A folder of weights, data or wins counts by its name alone."""
        kept = {
            group: {
                k: v for k, v in self.tree[group].items() if k not in WITHOUT_EFFECT.get(group, ())
            }
            for group in GROUPS
        }
        for group, key in (("model", "weights"), ("environment", "data"), ("method", "domains")):
            folder = kept[group].get(key)
            if folder and Path(folder).is_dir():
                kept[group][key] = Path(folder).name
        rung = RUNGS.get(str(kept["decoding"].get("rung")))
        if kept["decoding"].get("reading") != "lenient" or rung is None or rung.constrained:
            kept["decoding"].pop("reading", None)  # strict, as all was read before one could choose
        return {**kept, "seed": self.tree["seed"]}

    @property
    def cell(self) -> str:
        """A stable folder name: labels, seed, and a hash of everything that changes results."""
        text = json.dumps(self.identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return "-".join(
            [*(self.labels[group] for group in GROUPS[:4]), f"s{self.tree['seed']}", digest]
        )

    @cached_property
    def settings(self) -> Settings:
        """Raises ConfigError naming the key that is unknown or impossible."""
        with clear_errors(""):
            return Settings(**{k: v for k, v in self.tree.items() if k not in GROUPS})

    def check(self) -> dict[str, Any]:
        """Every group's part; loads nothing heavy.

        Raises ConfigError for the first unknown key or impossible value.
        """
        _ = self.settings
        self._checked.update({group: self.build(group) for group in GROUPS})
        self.check_games(self._checked["environment"])
        return dict(self._checked)

    def check_games(self, environment: Environment) -> None:
        """Raises ConfigError for a game that the environment does not have."""
        if not isinstance(environment, Numbered):
            return
        seeds = environment.seeds
        for game in self.settings.games:
            if game not in seeds:
                raise ConfigError(
                    f"games: there is no game {game} of {self.labels['environment']}; there are "
                    f"{seeds[0]} to {seeds[-1]}"
                )

    def _check_environment(self) -> None:
        """Raises ConfigError naming what its folder lacks for this method and this model."""
        target = str(self.tree["environment"].get("_target_"))
        package, _, _ = target.rpartition(".game.")
        if not package:
            raise ConfigError(f"environment._target_={target}: write PACKAGE.game.CLASS")
        by_rules = str(self.tree["model"].get("_target_")).endswith(".ReferenceFormalizer")
        family.check(package, *["reference.py"] * by_rules)
        method: Any = get_class(self.tree["method"]["_target_"])
        prompts.check(method.prompts, package)

    def build(self, group: str) -> Any:
        """The part that this group configures: the only place where `_target_` is followed.

        Raises ConfigError naming the key that was unknown or impossible, or the file that an
        environment's folder lacks. What `check` has built is given out first, once.
        """
        if group in self._checked:
            return self._checked.pop(group)
        if group == "environment":
            self._check_environment()
        with clear_errors(group):
            part = instantiate(self.tree[group], _convert_="all")
        context_tokens = self.tree["model"].get("context_tokens")
        if group == "decoding" and isinstance(context_tokens, int):
            part.check_room(context_tokens)
        return part


def compose_cell(overrides: Sequence[str]) -> CellConfig:
    """Composes `conf/config.yaml` with Hydra overrides such as "model=random".

    Raises ConfigError for an unknown group, option or key.
    """
    if GlobalHydra.instance().is_initialized():  # inside `pddlego run`, Hydra is at our folder
        here: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    else:
        here = initialize_config_dir(str(folder("conf")), version_base="1.3")
    with clear_errors(""), here:
        cfg = compose("config", quote_games(overrides), return_hydra_config=True)
    choices = cfg.hydra.runtime.choices
    plain = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
    return CellConfig.of(plain, choices)


class clear_errors:
    """Turns what pydantic and Hydra say of a bad value of a group ("" for none) into a ConfigError:
    one sentence naming the key."""

    def __init__(self, group: str) -> None:
        self.group = group

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        cause = error.__cause__ if isinstance(error, InstantiationException) else error
        if isinstance(cause, ImportError) and isinstance(cause.__cause__, ConfigError):
            cause = cause.__cause__  # of a module that reads its files as it is loaded
        if isinstance(cause, pydantic.ValidationError):
            raise ConfigError("; ".join(self._sentence(e) for e in cause.errors())) from error
        if isinstance(cause, ConfigError):
            raise cause
        if isinstance(error, InstantiationException) and isinstance(
            cause, TypeError | ValueError | ImportError
        ):
            raise ConfigError(f"{self.group}: {cause}") from error
        if isinstance(error, OmegaConfBaseException):
            raise ConfigError(
                ": ".join(filter(None, [error.full_key, _first_line(error)]))
            ) from error
        if isinstance(error, HydraException) and not isinstance(error, InstantiationException):
            options = ", ".join(getattr(error, "options", None) or ())
            there_are = f"; there are {options}" if options else ""
            raise ConfigError(_first_line(error) + there_are) from error

    def _sentence(self, error: Any) -> str:
        key = ".".join([part for part in (self.group, *map(str, error["loc"])) if part])
        if error["type"] == "unexpected_keyword_argument":
            return f"{key}: there is no such option"
        if error["type"] == "missing_argument":
            return f"{key}: must be given"
        words = error["msg"].removeprefix("Value error, ")
        told = f"{key}={error['input']!r}: " if error["loc"] else f"{key}: " if key else ""
        return f"{told}{words[0].lower()}{words[1:]}"


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]

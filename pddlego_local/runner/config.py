"""Hydra's side of the project: composing `conf/`, checking it, and building the parts from it."""

import contextlib
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import Environment, Numbered
from pddlego_local.core.resources import folder
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments import family
from pddlego_local.methods import prompts
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.settings import Settings

GROUPS = ("environment", "method", "model", "decoding", "planner")
# Limits, concurrency, paths, and what is told of a model: they do not change results and are not
# part of a cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about", "refuses_grammars"),
    "planner": ("limits", "workers"),
}

_FOLDERS = (
    ("model", "weights"),
    ("environment", "data"),
    ("environment", "folder"),
    ("method", "domains"),
)


def quote_games(overrides: Sequence[str]) -> list[str]:
    """The overrides, with the value of `games` as one text: to Hydra a bare comma begins a sweep.

    games=0-9,17 and games=[0,3] become games="0-9,17" and games="[0,3]".
    """

    def quoted(match: re.Match[str]) -> str:
        bare = re.sub(r"""["'\\]""", "", match[2])
        return f'{match[1]}"{bare}"'

    return [re.sub(r"(?s)\A(\+{0,2}games=)(.*)", quoted, override) for override in overrides]


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
        options: dict[str, Any] = {
            group: {
                k: v for k, v in self.tree[group].items() if k not in WITHOUT_EFFECT.get(group, ())
            }
            for group in GROUPS
        }
        for group, key in _FOLDERS:
            path = options[group].get(key)
            if path and Path(path).is_dir():
                options[group][key] = Path(path).name
        decoding = options["decoding"]
        rung = RUNGS.get(str(decoding.get("rung")))
        if decoding.get("reading") != "lenient" or rung is None or rung.constrained:
            decoding.pop("reading", None)  # strict, as all was read before one could choose
        decoding["repair"] = "none"  # it could be "lenient" once, and was a part of every name
        if options["environment"].get("shows_commands") is False:  # as all ALFWorld was
            del options["environment"]["shows_commands"]
        return {**options, "seed": self.tree["seed"]}

    @property
    def cell(self) -> str:
        """A stable folder name: labels, seed, and a hash of everything that changes results."""
        text = json.dumps(self.identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        labels = (self.labels[group] for group in GROUPS[:4])
        return "-".join([*labels, f"s{self.tree['seed']}", digest])

    @cached_property
    def folder(self) -> Path:
        """Where its record is."""
        return self.settings.run.out / self.settings.name / self.cell

    @property
    def episodes(self) -> Iterator[tuple[int, int]]:
        """(game, trial) of each that is asked for."""
        return itertools.product(self.settings.games, range(self.settings.trials))

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
        if group == "decoding":
            self._check_decoding(part)
        return part

    def _check_decoding(self, decoding: Decoding) -> None:
        """Raises ConfigError if the model cannot answer so."""
        model = self.tree["model"]
        context_tokens, refusal = model.get("context_tokens"), model.get("refuses_grammars")
        if isinstance(context_tokens, int):
            decoding.check_room(context_tokens)
        if refusal and RUNGS[decoding.rung].constrained:
            raise ConfigError(
                f"decoding={self.labels['decoding']} cannot be had of model="
                f"{self.labels['model']}: {refusal}. Its rung is decoding=free."
            )


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

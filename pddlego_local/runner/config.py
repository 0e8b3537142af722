"""Composes the configuration in `conf/` with Hydra, checks it, and builds the parts
from it.
"""

import contextlib
import hashlib
import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pydantic
from hydra import compose
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.version import setbase
from omegaconf import DictConfig, OmegaConf

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import declare
from pddlego_local.core.protocols import Environment, Numbered, WithGold
from pddlego_local.core.record.rows import GameTrial
from pddlego_local.core.record.run_record import (
    check_readable,
    with_first_names,
    with_options_renamed,
)
from pddlego_local.core.resources import folder
from pddlego_local.core.secrets import without_secrets
from pddlego_local.decoding.forms import WITH_PDDL
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding, configured, default_of
from pddlego_local.methods import Method
from pddlego_local.runner import parts
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.overrides import (
    GROUPS,
    as_meant,
    at_home,
    known_options,
    refuse_sweep,
)
from pddlego_local.runner.settings import BY_GOLD, Settings

# Limits, concurrency, paths, and model metadata do not change results, so they are not
# part of a cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about", "refuses_grammars"),
    "planner": ("limits", "workers"),
}


_PLAIN = pydantic.TypeAdapter(
    dict[str, pydantic.JsonValue], config=pydantic.ConfigDict(allow_inf_nan=False)
)
"""The values that a record can hold. Other values and keys would change when they are
read back.
"""

_FOLDERS = (
    ("model", "weights"),
    ("environment", "data"),
    ("environment", "folder"),
    ("method", "domains"),
)


@dataclass(frozen=True)
class CellConfig:
    """One resolved configuration. `labels` maps each group to the stem of its YAML
    file, and `arm` is that of the arm, "" without one. `tree` has each value as its
    field reads it.
    """

    tree: Mapping[str, Any]
    labels: Mapping[str, str]
    arm: str = ""

    @classmethod
    def of(cls, cfg: DictConfig, choices: Mapping[str, str]) -> "CellConfig":
        """Resolves a composed configuration; `choices` maps each group to its YAML
        stem.

        Raises ConfigError if a mandatory value is missing or an interpolation fails.
        """
        with clear_errors(""):
            tree = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
            plain = _PLAIN.validate_python(tree)
        labels = {group: choices[group] for group in GROUPS if group in choices}
        if missing := [group for group in GROUPS if group not in labels]:
            raise ConfigError(f"{', '.join(missing)}: must be given")
        written = with_options_renamed(at_home(plain))
        read = {group: parts.as_fields_read(written[group]) for group in GROUPS}
        arm = choices.get("arm") or ""
        return cls({**written, **read}, labels, arm)

    @property
    def identity(self) -> dict[str, Any]:
        """The options that change results, and the seed. A folder of weights, data or
        domains is represented by its name only. A secret is no part of it: another key
        gives the same cell. Neither is the default of an option that was added later,
        so that a cell keeps its name.
        """
        options: dict[str, Any] = {}
        for group in GROUPS:
            without_effect = WITHOUT_EFFECT.get(group, ())
            given = self.tree[group]
            later = parts.defaults_of_later(str(given.get("_target_")))
            options[group] = {
                key: value
                for key, value in given.items()
                if key not in without_effect
                and (key not in later or value != later[key])
            }
        for group, key in _FOLDERS:
            path = options[group].get(key)
            if path and Path(path).is_dir():
                options[group][key] = Path(path).name
        identity: dict[str, Any] = without_secrets(options)
        return {**identity, "seed": self.settings.seed}

    @property
    def paths(self) -> dict[str, str]:
        """The options that can be folders, with their values."""
        paths = {}
        for group, key in _FOLDERS:
            if path := self.tree[group].get(key):
                paths[f"{group}.{key}"] = path
        return paths

    @cached_property
    def cell(self) -> str:
        """A stable folder name from labels, seed, and a hash of everything that changes
        results.
        """
        text = json.dumps(with_first_names(self.identity), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        labels = [self.labels[group] for group in GROUPS[:4]]
        seed = f"s{self.settings.seed}"
        return "-".join([*labels, seed, digest])

    @cached_property
    def folder(self) -> Path:
        """The folder of the cell's record."""
        settings = self.settings
        return settings.run.out / settings.name / self.cell

    @property
    def episodes(self) -> Iterator[GameTrial]:
        """Yields the requested episodes."""
        trials = range(self.settings.trials)
        return itertools.product(self.settings.games, trials)

    @cached_property
    def settings(self) -> Settings:
        """The settings outside the groups. Raises ConfigError for an unknown or
        impossible key.
        """
        with clear_errors(""):
            others = {key: self.tree[key] for key in self.tree if key not in GROUPS}
            return Settings(**others)

    def check(self, games: Iterable[int] | None = None) -> dict[str, Any]:
        """Builds and returns every group's part without loading models or data.

        `games` are the games that will be played, by default those of the settings.
        Raises ConfigError naming all unknown keys and impossible values.
        """
        self._check_arm()
        built = dict[str, Any]()
        faults = list[str]()
        for group in GROUPS:
            try:
                built[group] = self.build(group)
            except ConfigError as error:
                faults.append(str(error))
        if faults:
            raise ConfigError("; ".join(faults))
        check_readable(
            {
                "labels": dict(self.labels),
                "identity": self.identity,
                "task_groups": {},
                "starts": [{"config": dict(self.tree)}],
            }
        )
        asked = self.settings.games if games is None else games
        self.check_games(built["environment"], asked)
        decoding = built["decoding"]
        forms = {form.name for form in built["method"].forms}
        if decoding.repair != "none" and forms.isdisjoint(WITH_PDDL):
            raise ConfigError(
                f"decoding.repair={decoding.repair} repairs PDDL, but method="
                f"{self.labels['method']} requests none; choose decoding.repair=none."
            )
        unfit = getattr(built["method"], "unfit", None)
        if unfit is not None and (why := unfit(built["environment"])):
            raise ConfigError(why)
        self._check_outcomes(built["environment"], built["method"])
        return built

    def _check_outcomes(self, environment: Environment, method: Method) -> None:
        """Raises ConfigError if a declared comparison needs a gold file that there is
        not.
        """
        has_gold = isinstance(environment, WithGold)
        if has_gold and getattr(method, "one_problem", False):
            return
        for declared in self.settings.compare or ():
            if declared.outcome in BY_GOLD:
                raise ConfigError(
                    f"compare: outcome={declared.outcome} needs an environment with"
                    " gold files (environment=described) and a method whose episode"
                    " ends with one problem file (such as method=formalizer), and this"
                    f" is environment={self.labels['environment']} and method="
                    f"{self.labels['method']}; choose outcome=success, accepted or"
                    " plan."
                )

    def check_games(self, environment: Environment, games: Iterable[int]) -> None:
        """Raises ConfigError for a game that the environment does not have."""
        if not isinstance(environment, Numbered):
            return
        seeds = environment.seeds
        for game in games:
            if game not in seeds:
                raise ConfigError(
                    f"games: {self.labels['environment']} has no game {game}; its games"
                    f" are {seeds[0]} to {seeds[-1]}"
                )

    def kind(self, group: str) -> str:
        """Returns what the environment or method is, whatever its YAML file is called:
        the name of its module or folder in this project, or the class of one from
        elsewhere.
        """
        target = str(self.tree[group].get("_target_"))
        module = target.rpartition(".")[0].removesuffix(".game")
        ours = module.startswith("pddlego_local.")
        return module.rpartition(".")[2] if ours else target

    def _check_arm(self) -> None:
        """Raises ConfigError if the arm was made for other environments or methods.
        Those from elsewhere may fit any arm.
        """
        for group, names in self.settings.arm_fits.items():
            kind = self.kind(group)
            if kind not in names and "." not in kind:
                raise ConfigError(
                    f"arm={self.arm} is made for {group}={' or '.join(names)}, but this"
                    f" is {group}={self.labels[group]}: choose another {group} or arm,"
                    " or set the options that you want of this arm (its file in"
                    " conf/arm lists them)"
                )

    def build(self, group: str) -> Any:
        """Builds the part that a group configures. No other code follows `_target_`.

        Raises ConfigError as `parts.build` does, and if the model does not support the
        settings of decoding.
        """
        part = parts.build(self.tree, group)
        declare(getattr(part, "outcomes", {}))
        if group == "decoding":
            self._check_decoding(part)
        return part

    def class_of(self, group: str) -> object:
        """Returns the class that a group names, None if it cannot be loaded."""
        return parts.class_named(str(self.tree[group].get("_target_")))

    def _check_decoding(self, decoding: Decoding) -> None:
        """Raises ConfigError if the model does not support these decoding settings."""
        model = self.tree["model"]
        context_tokens = model.get("context_tokens")
        if isinstance(context_tokens, int):
            decoding.check_room(context_tokens)
        refusal = model.get("refuses_grammars")
        if refusal and RUNGS[decoding.rung].constrained:
            raise ConfigError(
                f"decoding={self.labels['decoding']} cannot be used with model="
                f"{self.labels['model']}: {refusal}. Choose decoding=free."
            )


ConfigStore.instance().store("common_decoding", configured())
OmegaConf.register_new_resolver("default_of", default_of, replace=True)

_composing = threading.RLock()
"""Hydra holds one configuration for the whole process."""
_ours: Hydra | None = None


def compose_cell(
    overrides: Sequence[str], config_dir: str | Path | None = None
) -> CellConfig:
    """Composes `conf/config.yaml` with Hydra overrides such as "model=random".

    `config_dir` is a folder with configurations of one's own, which are found before
    those in `conf/`. Raises ConfigError for an unknown group, option or key.
    """
    with _composing, _set_up(config_dir), clear_errors(""):
        words = as_meant(overrides)
        for word in words:
            refuse_sweep(word)
        with known_options(words):
            cfg = compose("config", words, return_hydra_config=True)
    choices = cfg.hydra.runtime.choices
    keys = [str(key) for key in cfg if key != "hydra"]
    plain = OmegaConf.masked_copy(cfg, keys)
    return CellConfig.of(plain, choices)


@contextlib.contextmanager
def _set_up(config_dir: str | Path | None) -> Iterator[None]:
    """Sets Hydra up, unless `pddlego run` has done so for all of its cells."""
    if _ours is not None and GlobalHydra.instance().hydra is _ours:
        yield
    else:
        with hydra_for(config_dir):
            yield


@contextlib.contextmanager
def hydra_for(config_dir: str | Path | None) -> Iterator[Hydra]:
    """Sets Hydra up for `config_dir` and `conf/`; within the block, `compose_cell` uses
    both.

    A caller that uses Hydra itself keeps its own. Raises ConfigError if there is no
    such folder.
    """
    global _ours
    path = create_config_search_path(str(folder("conf")))
    if config_dir is not None:
        own = Path(at_home(str(config_dir)))
        if not own.is_dir():
            raise ConfigError(
                f"{config_dir}: there is no such folder of configurations"
            )
        schema = SearchPathQuery(provider="schema")
        path.prepend("command-line", f"file://{own.resolve()}", anchor=schema)
    before = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    setbase("1.3")
    try:
        _ours = Hydra.create_main_hydra2("pddlego", path)
        yield _ours
    finally:
        GlobalHydra.instance().hydra = before
        _ours = None

"""Composes the configuration in `conf/` with Hydra, checks it, and builds the parts from it."""

import contextlib
import hashlib
import inspect
import itertools
import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pydantic
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from typing_extensions import get_protocol_members

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import declare
from pddlego_local.core.protocols import Environment, LanguageModel, Numbered, Planner
from pddlego_local.core.record.run_record import check_readable
from pddlego_local.core.resources import folder
from pddlego_local.decoding.forms import WITH_PDDL
from pddlego_local.decoding.question import WholeAnswerModel
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments import family, own_pddl, tables
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.methods import Method, prompting
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.overrides import GROUPS, known_options, quote_games, refuse_sweep
from pddlego_local.runner.settings import Settings

# Limits, concurrency, paths, and model metadata do not change results, so they are not part of a
# cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about", "refuses_grammars"),
    "planner": ("limits", "workers"),
}

# Options that older records lack, with the values that leave a cell's name as it was.
_ABSENT_IN_OLDER_NAMES = {"reject": None, "rollback": True, "names": "prompt"}

_PLAIN = pydantic.TypeAdapter(
    dict[str, pydantic.JsonValue], config=pydantic.ConfigDict(allow_inf_nan=False)
)
"""The values that a record can hold. Other values and keys would change when they are read back."""

_PROTOCOLS: dict[str, type[Any]] = {
    "environment": Environment,
    "method": Method,
    "model": LanguageModel,
    "planner": Planner,
}

_FOLDERS = (
    ("model", "weights"),
    ("environment", "data"),
    ("environment", "folder"),
    ("method", "domains"),
)


@dataclass(frozen=True)
class CellConfig:
    """One resolved configuration. `labels` maps each group to the stem of its YAML file."""

    tree: Mapping[str, Any]
    labels: Mapping[str, str]

    @classmethod
    def of(cls, cfg: DictConfig, choices: Mapping[str, str]) -> "CellConfig":
        """Resolves a composed configuration; `choices` maps each group to its YAML stem.

        Raises ConfigError if a mandatory value is missing or an interpolation fails.
        """
        with clear_errors(""):
            tree = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
            plain = _PLAIN.validate_python(tree)
        labels = {group: choices[group] for group in GROUPS if group in choices}
        if missing := [group for group in GROUPS if group not in labels]:
            raise ConfigError(f"{', '.join(missing)}: must be given")
        return cls(plain, labels)

    @property
    def identity(self) -> dict[str, Any]:
        """The options that change results, and the seed. A folder of weights, data or domains is
        represented by its name only."""
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
            decoding.pop("reading", None)  # records older than this option were read strictly
        decoding.setdefault("repair", "none")  # all records have this key
        for option, default in _ABSENT_IN_OLDER_NAMES.items():
            if decoding.get(option) == default:
                decoding.pop(option, None)
        for key, old in {"shows_commands": False, "constraint": "none", "listing": "each"}.items():
            if options["environment"].get(key) == old:  # the value before the option existed
                del options["environment"][key]
        return {**options, "seed": self.settings.seed}

    @property
    def paths(self) -> dict[str, str]:
        """The options that can be folders, with their values."""
        values = {f"{group}.{key}": self.tree[group].get(key) for group, key in _FOLDERS}
        return {option: path for option, path in values.items() if path}

    @property
    def cell(self) -> str:
        """A stable folder name from labels, seed, and a hash of everything that changes results."""
        text = json.dumps(self.identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        labels = (self.labels[group] for group in GROUPS[:4])
        return "-".join([*labels, f"s{self.settings.seed}", digest])

    @cached_property
    def folder(self) -> Path:
        """The folder of the cell's record."""
        return self.settings.run.out / self.settings.name / self.cell

    @property
    def episodes(self) -> Iterator[tuple[int, int]]:
        """Yields (game, trial) for each requested episode."""
        return itertools.product(self.settings.games, range(self.settings.trials))

    @cached_property
    def settings(self) -> Settings:
        """The settings outside the groups. Raises ConfigError for an unknown or impossible key."""
        with clear_errors(""):
            return Settings(**{k: v for k, v in self.tree.items() if k not in GROUPS})

    def check(self) -> dict[str, Any]:
        """Builds and returns every group's part without loading models or data.

        Raises ConfigError naming all unknown keys and impossible values.
        """
        _ = self.settings
        built, faults = dict[str, Any](), list[str]()
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
        self.check_games(built["environment"], self.settings.games)
        decoding, forms = built["decoding"], {form.name for form in built["method"].forms}
        if decoding.repair != "none" and forms.isdisjoint(WITH_PDDL):
            raise ConfigError(
                f"decoding.repair={decoding.repair} repairs PDDL, but method="
                f"{self.labels['method']} requests none; choose decoding.repair=none."
            )
        return built

    def check_games(self, environment: Environment, games: Iterable[int]) -> None:
        """Raises ConfigError for a game that the environment does not have."""
        if not isinstance(environment, Numbered):
            return
        seeds = environment.seeds
        for game in games:
            if game not in seeds:
                raise ConfigError(
                    f"games: {self.labels['environment']} has no game {game}; its games are "
                    f"{seeds[0]} to {seeds[-1]}"
                )

    def _folder_faults(self) -> list[str]:
        """Returns a sentence for each part that the environment's folder lacks. A class derived
        from BaseEnvironment needs no folder."""
        kind = self._class("environment")
        if isinstance(kind, type) and issubclass(kind, BaseEnvironment):
            return []
        target = str(self.tree["environment"].get("_target_"))
        package, _, _ = target.rpartition(".game.")
        if not package:
            raise ConfigError(
                f"environment._target_={target}: write PACKAGE.game.CLASS, or the path of a class "
                "that is derived from BaseEnvironment"
            )
        return [*self._environment_faults(package, *family.ALWAYS), *own_pddl.faults(package)]

    def _environment_faults(self, package: str, *always: str) -> list[str]:
        """Returns a sentence for each part that the folder lacks for this method and model."""
        by_rules = str(self.tree["model"].get("_target_")).endswith(".ReferenceFormalizer")
        files = (*always, *["reference.py"] * by_rules)
        prompts = getattr(self._class("method"), "prompts", "")  # "" if it cannot be loaded
        return [
            *family.missing(package, *files),
            *tables.faults(package),
            *prompting.missing(str(prompts), package),
        ]

    def _class(self, group: str) -> object:
        """Returns None if the class cannot be loaded; `build` reports the error."""
        try:
            return pkgutil.resolve_name(self.tree[group]["_target_"])
        except Exception:  # a module can raise anything on import
            return None

    def build(self, group: str) -> Any:
        """Builds the part that a group configures. No other code follows `_target_`.

        Raises ConfigError naming the unknown or impossible keys, and everything that the folder or
        the class of an environment or a method lacks.
        """
        faults = self._folder_faults() if group == "environment" else []
        if "_target_" not in self.tree[group]:
            raise ConfigError(f"{group}._target_: must be given; write a class, PACKAGE.CLASS")
        try:
            with clear_errors(group):
                part = instantiate(self.tree[group], _convert_="all")
            if group in _PROTOCOLS:
                whole = group == "model" and not getattr(part, "decodes", True)
                faults += _lacking(part, WholeAnswerModel if whole else _PROTOCOLS[group])
            if isinstance(part, BaseEnvironment):
                faults += self._environment_faults(part.package)
        except ConfigError as error:
            if not faults or "Error loc" not in str(error):  # else `faults` names the file already
                faults += str(error).split("; ")
        if faults:
            raise ConfigError("; ".join(dict.fromkeys(faults)))
        declare(getattr(part, "outcomes", {}))
        if group == "decoding":
            self._check_decoding(part)
        return part

    def _check_decoding(self, decoding: Decoding) -> None:
        """Raises ConfigError if the model does not support these decoding settings."""
        model = self.tree["model"]
        context_tokens, refusal = model.get("context_tokens"), model.get("refuses_grammars")
        if isinstance(context_tokens, int):
            decoding.check_room(context_tokens)
        if refusal and RUNGS[decoding.rung].constrained:
            raise ConfigError(
                f"decoding={self.labels['decoding']} cannot be used with model="
                f"{self.labels['model']}: {refusal}. Choose decoding=free."
            )


def _lacking(part: object, protocol: type[Any]) -> Iterator[str]:
    """Yields a sentence for each attribute of the protocol that a part does not have."""
    kind = type(part)
    for name in sorted(get_protocol_members(protocol)):
        if inspect.getattr_static(part, name, part) is part:
            what, where = f"{kind.__module__}.{kind.__qualname__}", protocol.__module__
            yield f"{what} has no `{name}` (see {where}.{protocol.__name__})"


def compose_cell(overrides: Sequence[str]) -> CellConfig:
    """Composes `conf/config.yaml` with Hydra overrides such as "model=random".

    Raises ConfigError for an unknown group, option or key.
    """
    if GlobalHydra.instance().is_initialized():  # `pddlego run` has set up Hydra with conf/
        here: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    else:
        here = initialize_config_dir(str(folder("conf")), version_base="1.3")
    words = quote_games(overrides)
    for word in words:
        refuse_sweep(word)
    with clear_errors(""), here, known_options(words):
        cfg = compose("config", words, return_hydra_config=True)
    choices = cfg.hydra.runtime.choices
    plain = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
    return CellConfig.of(plain, choices)

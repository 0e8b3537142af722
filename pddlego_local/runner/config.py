"""Composes the configuration in `conf/` with Hydra, checks it, and builds the parts
from it.
"""

import contextlib
import hashlib
import inspect
import itertools
import json
import pkgutil
import re
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
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from hydra.version import setbase
from omegaconf import DictConfig, OmegaConf
from typing_extensions import get_protocol_members

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import declare
from pddlego_local.core.protocols import Environment, LanguageModel, Numbered, Planner
from pddlego_local.core.record.run_record import check_readable
from pddlego_local.core.resources import folder
from pddlego_local.core.secrets import without_secrets
from pddlego_local.decoding.forms import WITH_PDDL
from pddlego_local.decoding.question import WholeAnswerModel
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding, configured, default_of
from pddlego_local.environments import family, own_pddl, tables
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.methods import Method, prompting
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.overrides import (
    GROUPS,
    known_options,
    refuse_sweep,
)
from pddlego_local.runner.settings import Settings
from pddlego_local.runner.values import as_fields_read, at_home
from pddlego_local.runner.words import as_meant, quote_games

# Limits, concurrency, paths, and model metadata do not change results, so they are not
# part of a cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about", "refuses_grammars"),
    "planner": ("limits", "workers"),
}

# Options that older records lack, with the values that leave a cell's name as it was.
_ABSENT_IN_OLDER_NAMES = {"reject": None}

_OF_HYDRA = ("_target_", "_convert_")

_PLAIN = pydantic.TypeAdapter(
    dict[str, pydantic.JsonValue], config=pydantic.ConfigDict(allow_inf_nan=False)
)
"""The values that a record can hold. Other values and keys would change when they are
read back.
"""

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
    """One resolved configuration. `labels` maps each group to the stem of its YAML
    file, and `arm` is that of the arm, "" without one. `tree` has each value as its
    field reads it, and `written` as it was written.
    """

    tree: Mapping[str, Any]
    labels: Mapping[str, str]
    written: Mapping[str, Any]
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
        written = at_home(plain)
        read = {group: as_fields_read(written[group]) for group in GROUPS}
        return cls({**written, **read}, labels, written, choices.get("arm") or "")

    @property
    def identity(self) -> dict[str, Any]:
        """The options that change results, and the seed. A folder of weights, data or
        domains is represented by its name only. A secret is no part of it: another key
        gives the same cell.
        """
        identity: dict[str, Any] = without_secrets(self._identity_of(self.tree))
        return identity

    def _identity_of(self, tree: Mapping[str, Any]) -> dict[str, Any]:
        options: dict[str, Any] = {
            group: {
                k: v
                for k, v in tree[group].items()
                if k not in WITHOUT_EFFECT.get(group, ())
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
            decoding.pop(
                "reading", None
            )  # records older than this option were read strictly
        decoding.setdefault("repair", "none")  # all records have this key
        for option, default in _ABSENT_IN_OLDER_NAMES.items():
            if decoding.get(option) == default:
                decoding.pop(option, None)
        for key, old in {
            "shows_commands": False,
            "constraint": "none",
            "listing": "each",
        }.items():
            if (
                options["environment"].get(key) == old
            ):  # the value before the option existed
                del options["environment"][key]
        return {**options, "seed": self.settings.seed}

    @property
    def paths(self) -> dict[str, str]:
        """The options that can be folders, with their values."""
        values = {
            f"{group}.{key}": self.tree[group].get(key) for group, key in _FOLDERS
        }
        return {option: path for option, path in values.items() if path}

    @cached_property
    def cell(self) -> str:
        """A stable folder name from labels, seed, and a hash of everything that changes
        results.

        Earlier versions hashed the values as they were written. A record that was begun
        under such a name keeps it.
        """
        name, older = map(self._named, (self.identity, self._identity_of(self.written)))
        begun = (self._experiment / older / "run.json").is_file()
        return older if begun and not (self._experiment / name).is_dir() else name

    def _named(self, identity: Mapping[str, Any]) -> str:
        decoding = dict(identity["decoding"])
        rung = RUNGS.get(str(decoding.get("rung")))
        if rung and rung.typed:
            decoding["lists"] = "free"  # an option until its other value was removed
        text = json.dumps({**identity, "decoding": decoding}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        labels = (self.labels[group] for group in GROUPS[:4])
        return "-".join([*labels, f"s{self.settings.seed}", digest])

    @property
    def _experiment(self) -> Path:
        return self.settings.run.out / self.settings.name

    @cached_property
    def folder(self) -> Path:
        """The folder of the cell's record."""
        return self._experiment / self.cell

    @property
    def episodes(self) -> Iterator[tuple[int, int]]:
        """Yields (game, trial) for each requested episode."""
        return itertools.product(self.settings.games, range(self.settings.trials))

    @cached_property
    def settings(self) -> Settings:
        """The settings outside the groups. Raises ConfigError for an unknown or
        impossible key.
        """
        with clear_errors(""):
            return Settings(**{k: v for k, v in self.tree.items() if k not in GROUPS})

    def check(self, games: Iterable[int] | None = None) -> dict[str, Any]:
        """Builds and returns every group's part without loading models or data.

        `games` are the games that will be played, by default those of the settings.
        Raises ConfigError naming all unknown keys and impossible values.
        """
        self._check_arm()
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
        asked = self.settings.games if games is None else games
        self.check_games(built["environment"], asked)
        decoding, forms = (
            built["decoding"],
            {form.name for form in built["method"].forms},
        )
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

    def _folder_faults(self) -> list[str]:
        """Returns a sentence for each part that the environment's folder lacks. A class
        derived from BaseEnvironment needs no folder.
        """
        kind = self.class_of("environment")
        if isinstance(kind, type) and issubclass(kind, BaseEnvironment):
            return []
        target = str(self.tree["environment"].get("_target_"))
        package, _, _ = target.rpartition(".game.")
        if not package:
            raise ConfigError(
                f"environment._target_={target}: write PACKAGE.game.CLASS, or the path"
                " of a class that is derived from BaseEnvironment"
            )
        return [
            *self._environment_faults(package, *family.ALWAYS),
            *own_pddl.faults(package),
        ]

    def _environment_faults(self, package: str, *always: str) -> list[str]:
        """Returns a sentence for each part that the folder lacks for this method and
        model.
        """
        by_rules = str(self.tree["model"].get("_target_")).endswith(
            ".ReferenceFormalizer"
        )
        files = (*always, *["reference.py"] * by_rules)
        prompts = getattr(
            self.class_of("method"), "prompts", ""
        )  # "" if it cannot be loaded
        return [
            *family.missing(package, *files),
            *tables.faults(package),
            *prompting.missing(str(prompts), package),
        ]

    def class_of(self, group: str) -> object:
        """Returns the class that a group names, None if it cannot be loaded, which
        `build` reports.
        """
        try:
            return pkgutil.resolve_name(self.tree[group]["_target_"])
        except Exception:  # a module can raise anything on import
            return None

    def build(self, group: str) -> Any:
        """Builds the part that a group configures. No other code follows `_target_`.

        Raises ConfigError naming the unknown or impossible keys, and everything that
        the folder or the class of an environment or a method lacks.
        """
        faults = self._folder_faults() if group == "environment" else []
        if "_target_" not in self.tree[group]:
            raise ConfigError(
                f"{group}._target_: must be given; write a class, PACKAGE.CLASS"
            )
        try:
            with clear_errors(group):
                part = _built(self.tree[group])
            if group in _PROTOCOLS:
                whole = group == "model" and not getattr(part, "decodes", True)
                faults += _lacking(
                    part, WholeAnswerModel if whole else _PROTOCOLS[group]
                )
            if isinstance(part, BaseEnvironment):
                faults += self._environment_faults(part.package)
        except ConfigError as error:
            if not faults or "Error loc" not in str(
                error
            ):  # else `faults` names the file already
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
        context_tokens, refusal = (
            model.get("context_tokens"),
            model.get("refuses_grammars"),
        )
        if isinstance(context_tokens, int):
            decoding.check_room(context_tokens)
        if refusal and RUNGS[decoding.rung].constrained:
            raise ConfigError(
                f"decoding={self.labels['decoding']} cannot be used with model="
                f"{self.labels['model']}: {refusal}. Choose decoding=free."
            )


def _built(node: Any) -> Any:
    """Calls the `_target_` of a part with its values, those of parts within it first.

    Hydra finds the target, and refuses dangerous ones. The values do not pass through
    Hydra again: they are resolved, and a text in them that looks like an interpolation
    is only text.
    """
    if isinstance(node, list):
        return [_built(inner) for inner in node]
    if not isinstance(node, Mapping):
        return node
    values = {key: _built(value) for key, value in node.items() if key not in _OF_HYDRA}
    if "_target_" not in node:
        return values
    target = node["_target_"]
    if not isinstance(target, str) or not re.fullmatch(r"\w+(\.\w+)*", target):
        raise ConfigError(
            f"_target_={target!r}: write the path of a class, PACKAGE.CLASS"
        )
    make = instantiate({"_target_": target, "_partial_": True})
    try:
        return make(**values)
    except InstantiationException:
        raise
    except Exception as error:
        raise InstantiationException(f"{target} cannot be built: {error!r}") from error


def _lacking(part: object, protocol: type[Any]) -> Iterator[str]:
    """Yields a sentence for each attribute of the protocol that a part does not
    have.
    """
    kind = type(part)
    for name in sorted(get_protocol_members(protocol)):
        if inspect.getattr_static(part, name, part) is part:
            what, where = f"{kind.__module__}.{kind.__qualname__}", protocol.__module__
            yield f"{what} has no `{name}` (see {where}.{protocol.__name__})"


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
        words = as_meant(quote_games(overrides), GlobalHydra.instance().config_loader())
        for word in words:
            refuse_sweep(word)
        with known_options(words):
            cfg = compose("config", words, return_hydra_config=True)
    choices = cfg.hydra.runtime.choices
    plain = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
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
        GlobalHydra.instance().hydra, _ours = before, None

"""Hydra's side of the project: composing `conf/`, checking it, and building the parts from it."""

import contextlib
import hashlib
import inspect
import itertools
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
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
from pddlego_local.environments import family, tables
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.methods import Method, prompting
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.overrides import GROUPS, known_options, quote_games, refuse_sweep
from pddlego_local.runner.settings import Settings

# Limits, concurrency, paths, and what is told of a model: they do not change results and are not
# part of a cell's name.
WITHOUT_EFFECT = {
    "environment": ("limits",),
    "model": ("server", "engine", "about", "refuses_grammars"),
    "planner": ("limits", "workers"),
}

_PLAIN = pydantic.TypeAdapter(
    dict[str, pydantic.JsonValue], config=pydantic.ConfigDict(allow_inf_nan=False)
)
"""What a record can hold: other values and keys would be read back as something else."""

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
    """One resolved configuration. `labels` are the YAML stems of its groups."""

    tree: Mapping[str, Any]
    labels: Mapping[str, str]

    @classmethod
    def of(cls, cfg: DictConfig, choices: Mapping[str, str]) -> "CellConfig":
        """Raises ConfigError if a mandatory value is missing or an interpolation fails."""
        with clear_errors(""):
            tree = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
            plain = _PLAIN.validate_python(tree)
        labels = {group: choices[group] for group in GROUPS if group in choices}
        if missing := [group for group in GROUPS if group not in labels]:
            raise ConfigError(f"{', '.join(missing)}: must be given")
        return cls(plain, labels)

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
        decoding.setdefault("repair", "none")  # as all records have it
        for option, default in (("reject", None), ("rollback", True)):  # names of before have none
            if decoding.get(option) == default:
                decoding.pop(option, None)
        for option, old in {"shows_commands": False, "constraint": "none"}.items():
            if options["environment"].get(option) == old:  # as all was before there was a choice
                del options["environment"][option]
        return {**options, "seed": self.settings.seed}

    @property
    def cell(self) -> str:
        """A stable folder name: labels, seed, and a hash of everything that changes results."""
        text = json.dumps(self.identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        labels = (self.labels[group] for group in GROUPS[:4])
        return "-".join([*labels, f"s{self.settings.seed}", digest])

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
        self.check_games(built["environment"])
        decoding, forms = built["decoding"], {form.name for form in built["method"].forms}
        if decoding.repair != "none" and forms.isdisjoint(WITH_PDDL):
            raise ConfigError(
                f"decoding.repair={decoding.repair} mends PDDL, and method={self.labels['method']} "
                "asks for none; choose decoding.repair=none."
            )
        return built

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

    def _folder_faults(self) -> list[str]:
        """A sentence for each thing that an environment's folder lacks; none where it has none."""
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
        return self._environment_faults(package, *family.ALWAYS)

    def _environment_faults(self, package: str, *always: str) -> list[str]:
        """A sentence for each thing that it lacks for this method and this model."""
        by_rules = str(self.tree["model"].get("_target_")).endswith(".ReferenceFormalizer")
        files = (*always, *["reference.py"] * by_rules)
        return [
            *family.missing(package, *files),
            *tables.faults(package),
            *prompting.missing(self._prompts, package),
        ]

    @property
    def _prompts(self) -> str:
        """The folder of the method's prompts; "" where the method itself is at fault."""
        return str(getattr(self._class("method"), "prompts", ""))

    def _class(self, group: str) -> object:
        """None where the part itself is at fault, which is told when it is built."""
        try:
            return pkgutil.resolve_name(self.tree[group]["_target_"])
        except Exception:  # whatever a module raises while it is loaded
            return None

    def build(self, group: str) -> Any:
        """The part that this group configures: the only place where `_target_` is followed.

        Raises ConfigError naming the keys that were unknown or impossible, and all that the folder
        or the class of an environment or a method lacks.
        """
        faults = self._folder_faults() if group == "environment" else []
        if "_target_" not in self.tree[group]:
            raise ConfigError(f"{group}._target_: must be given; it is the class, PACKAGE.CLASS")
        try:
            with clear_errors(group):
                part = instantiate(self.tree[group], _convert_="all")
            if group in _PROTOCOLS:
                whole = group == "model" and not getattr(part, "decodes", True)
                faults += _lacking(part, WholeAnswerModel if whole else _PROTOCOLS[group])
            if isinstance(part, BaseEnvironment):
                faults += self._environment_faults(part.package)
        except ConfigError as error:
            if not faults or "Error loc" not in str(error):  # else the file is named already
                faults += str(error).split("; ")
        if faults:
            raise ConfigError("; ".join(dict.fromkeys(faults)))
        declare(getattr(part, "outcomes", {}))
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


def _lacking(part: object, protocol: type[Any]) -> Iterator[str]:
    """A sentence for each attribute of the protocol that a part does not have."""
    kind = type(part)
    for name in sorted(get_protocol_members(protocol)):
        if inspect.getattr_static(part, name, part) is part:
            what, where = f"{kind.__module__}.{kind.__qualname__}", protocol.__module__
            yield f"{what} has no `{name}` (see {where}.{protocol.__name__})"


def compose_cell(overrides: Sequence[str]) -> CellConfig:
    """Composes `conf/config.yaml` with Hydra overrides such as "model=random".

    Raises ConfigError for an unknown group, option or key.
    """
    if GlobalHydra.instance().is_initialized():  # inside `pddlego run`, Hydra is at our folder
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

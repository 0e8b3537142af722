"""An evaluation: what a model plays of the frozen suite, what it does not, and why."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.api.canary import LARK, Canary, canary
from pddlego_local.api.evaluation_folder import check_possible, clear, is_of_another
from pddlego_local.api.not_played import not_installed, not_obeyed, not_trained
from pddlego_local.api.options import model_options, overrides_of
from pddlego_local.core.errors import ConfigError, MissingPart, PddlegoError
from pddlego_local.core.formats import object_of
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.record.entry import Entry, Played, write_entry
from pddlego_local.core.record.run_record import in_ranges
from pddlego_local.core.secrets import hidden_in_word
from pddlego_local.models.vllm.server import serving_build
from pddlego_local.models.weights import identity_of, locate
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.overrides import at, choices_of, default_tree, suggestion
from pddlego_local.runner.run import asked_and_missing
from pddlego_local.runner.suite import (
    BY_RULES,
    RANDOM,
    REFERENCE,
    Part,
    check_frozen,
    compare_word,
    suite,
    words_of,
)
from pddlego_local.runner.sweep import write_sweep

OWN_OPTIONS = ("model=", "model.", "run.", "name=")
"""The overrides that leave the suite as it is."""


@dataclass(frozen=True)
class Cell:
    """A cell of an evaluation, and the overrides that ask for it."""

    words: list[str]
    config: CellConfig


@dataclass(frozen=True)
class Evaluation:
    """The record of an evaluation, and the cells that it plays, each once. If
    `replaces`, the folder has what another evaluation left that played no episode.
    """

    entry: Entry
    cells: list[Cell]
    replaces: bool

    @property
    def folder(self) -> Path:
        return self.cells[0].config.folder.parent

    @property
    def configs(self) -> list[CellConfig]:
        return [cell.config for cell in self.cells]

    def begin(self) -> None:
        """Writes eval.json and the sweep, after looking at the model if it is needed.
        Raises ConfigError or MissingPart, and nothing is written, if it cannot play.
        """
        _, missing = asked_and_missing(self.configs)
        if missing:
            first = self.configs[0]
            thinking = first.build("decoding").thinking
            first.build("model").preflight(thinking=thinking)
        if self.replaces:
            clear(self.folder)
        write_entry(self.folder, self.entry)
        write_sweep(self.configs)


@dataclass(frozen=True)
class _Model:
    """An entry's model: its name, its overrides, and what its running server obeys;
    None for a model that this program runs.
    """

    name: str
    words: list[str]
    obeyed: Sequence[str] | None = None

    def refuses(self, config: CellConfig) -> str:
        """Returns why the model cannot play a cell; "" if it may."""
        why = not_trained(config)
        if not why and self.obeyed is not None:
            why = not_obeyed(config, self.obeyed)
        return why


def evaluation(
    model: str = "",
    size: str = "quick",
    *,
    server: str | None = None,
    thinking: bool = False,
    overrides: Sequence[str] = (),
) -> Evaluation:
    """Returns what a model plays of a size of the suite; nothing is played.

    A running `server` is asked what it obeys. Raises ConfigError for an unknown model
    or size, for an option that would change the suite, if there is nothing to play, and
    if the folder has episodes of another evaluation.
    """
    _refuse_others(overrides)
    sha256 = check_frozen(suite().size(size))
    found = _model_of(model, server, thinking, overrides)
    title = f"{found.name}-thinking" if thinking else found.name
    # An option that is given takes the place of ours.
    given = {word.partition("=")[0] for word in overrides}
    ours = [f"name=eval-{title}-{size}", *found.words]
    shared = [word for word in ours if word.partition("=")[0] not in given]
    shared += overrides
    _check_options(shared, overrides)
    plays, cells = _plays_of(found, size, shared, thinking)
    first = cells[0].config
    settings = first.tree["model"]
    files = _files_of(settings)
    entry = Entry(
        suite=suite().number,
        sha256=sha256,
        size=size,
        name=found.name,
        thinking=thinking,
        model=first.identity["model"],
        quantization=_quantization(files),
        plays=plays,
        canary=[*(found.obeyed or ())],
    )
    weights = dict[str, str]()
    if files:
        weights = identity_of(settings["weights"], settings.get("revision"), files)
    replaces = is_of_another(first.folder.parent, entry, weights)
    return Evaluation(entry, cells, replaces)


def _refuse_others(overrides: Sequence[str]) -> None:
    for word in overrides:
        if "=" not in word:
            raise ConfigError(
                f"{word}: an evaluation has one model, and this is a second one; give"
                " each its own command. (An option is OPTION=VALUE.)"
            )
        if not word.lstrip("+").startswith(OWN_OPTIONS):
            raise ConfigError(
                f"{hidden_in_word(word)}: the suite is frozen, so an evaluation takes"
                " options of model, run and name alone, such as run.concurrency=8."
            )


def _check_options(words: Sequence[str], given: Sequence[str]) -> None:
    """Raises ConfigError for an unknown option or an impossible value, whatever is
    played. The nearest option is proposed among those that an evaluation takes.
    """
    tree = default_tree(words)
    takes = {key: tree.get(key) for key in ("model", "run", "name")}
    for word in given:
        key = word.partition("=")[0]
        above, _, name = key.rpartition(".")
        beside = at(takes, above)
        if isinstance(beside, Mapping) and beside and name not in beside:
            raise ConfigError(f"there is no option {key!r}{suggestion(key, takes)}")
    config = compose_cell(words)
    check_possible(config)
    config.build("model")


def _plays_of(
    model: _Model, size: str, shared: list[str], thinking: bool
) -> tuple[list[Played], list[Cell]]:
    """Returns what is played of each part, and the distinct cells. Raises ConfigError
    if nothing can be played.
    """
    chosen = suite().size(size)
    plays = list[Played]()
    cells = list[Cell]()
    lacking = dict[str, str]()
    for name, number in chosen.parts.items():
        part = suite().parts[name]
        games = part.games[:number]
        for arm in _arms_of(model, part, chosen.arms):
            words = [*words_of(part, arm, games, thinking=thinking), *shared]
            words.append(compare_word(chosen))
            config = compose_cell(words)
            why = model.refuses(config) or _lacks(config, lacking)
            cell = "" if why else config.cell
            plays.append(
                Played(part=name, arm=arm, games=in_ranges(games), cell=cell, why=why)
            )
            if not why and config.cell not in {cell.config.cell for cell in cells}:
                cells.append(Cell(words, config))
    if not cells:
        reasons = dict.fromkeys(play.why for play in plays)
        raise ConfigError(f"nothing of this size can be played: {'; '.join(reasons)}")
    return plays, cells


def _arms_of(model: _Model, part: Part, arms: Sequence[str]) -> list[str]:
    if model.name == RANDOM:
        return [RANDOM]
    of_part = [arm for arm in part.arms if arm in arms]
    # No grammar changes what the rules write.
    return of_part[:1] if model.name == REFERENCE else of_part


def _lacks(config: CellConfig, known: dict[str, str]) -> str:
    """Returns what a cell lacks on this machine; "" if nothing. `known` has what is
    known of environments.
    """
    try:
        parts = config.check()
    except ConfigError as error:
        return str(error)
    environment = str(config.tree["environment"]["_target_"])
    if environment not in known:
        try:
            parts["environment"].preflight()
            known[environment] = ""
        except MissingPart:  # its message names a folder of this machine
            known[environment] = not_installed(config)
    return known[environment]


# ---- The model


def _model_of(
    model: str, server: str | None, thinking: bool, overrides: Sequence[str]
) -> _Model:
    """Returns the model by its name in conf/model, its hub name, its folder or its
    GGUF file, or the one of a running server.
    """
    if server is not None:
        return _served(model, server, overrides)
    if not model:
        raise ConfigError(
            "name a model: one that `pddlego doctor` lists, a hub name, a folder or a"
            " GGUF file; or a running server with --url http://HOST:PORT/v1."
        )
    if model in BY_RULES:
        if thinking:
            raise ConfigError(f"{model} plays by rules and does not think.")
        return _Model(model, ["model=reference"])
    options = model_options(model)
    if options == {"model": model} and model not in choices_of("model"):
        end = did_you_mean(model, choices_of("model"))
        raise ConfigError(
            f"there is no model {model}{end} `pddlego doctor` lists the models; a"
            f" folder is written with a slash, ./{model}."
        )
    if options["model"] == "transformers" and _has_vllm():
        options["model"] = "vllm"
    named = Path(model)
    name = named.stem if named.suffix == ".gguf" else named.name
    return _Model(_as_name(name), overrides_of(options))


def _has_vllm() -> bool:
    try:
        serving_build(Path(".venv-serving"))
    except PddlegoError:
        return False
    return True


def _served(model: str, server: str, overrides: Sequence[str]) -> _Model:
    """Asks the server what it obeys. One that obeys no Lark grammar plays freely."""
    found: Canary = canary(server, model or None, key=_key_in(overrides))
    options = model_options(found.model, server)
    if LARK not in found.obeyed:
        options["model"] = "openai_server"
    words = overrides_of(options)
    if found.thinking:
        words.append(found.thinking)
    name = _as_name(Path(found.model).name)
    return _Model(name, words, found.obeyed)


def _key_in(overrides: Sequence[str]) -> str:
    for word in overrides:
        if word.startswith("model.server.api_key="):
            config = compose_cell(["model=vllm", "model.weights=none", word])
            return str(config.tree["model"]["server"]["api_key"])
    return "none"


def _as_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "model"


def _files_of(settings: Mapping[str, Any]) -> Path | None:
    """Returns the folder of the model's weights; None if it has none, a server has
    them, or they are not here. Raises ConfigError for files that are no model's.
    """
    weights = settings.get("weights")
    server = settings.get("server") or {}
    if not weights or server.get("url"):
        return None
    try:
        return locate(weights, settings.get("revision"))
    except MissingPart:
        return None


def _quantization(files: Path | None) -> str:
    """Returns how the weights are quantized, as their config.json says; "" if they are
    not, or are not here.
    """
    if files is None:
        return ""
    config = object_of(files / "config.json")
    how = config.get("quantization_config") or {}
    return str(how.get("quant_method", ""))

"""The public functions of `pddlego_local`, for notebooks and scripts. Everything else
is private.

The options are those of `conf/`, which `pddlego run --help` lists. A dot in a key is
written as two underscores: `decoding__temperature=0`. `config_dir` is a folder with
configurations of your own, such as the YAML file of an environment that Python can
import. All errors are subclasses of `pddlego_local.core.errors.PddlegoError`. Their
messages say what to do.
"""

import itertools
import os.path
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pddlego_local.api.canary import Canary as Canary
from pddlego_local.api.canary import canary as canary
from pddlego_local.api.cell_warnings import cell_warnings
from pddlego_local.api.evaluation import evaluation
from pddlego_local.api.formalize import Formalized as Formalized
from pddlego_local.api.formalize import formalizer
from pddlego_local.api.game import Game as Game
from pddlego_local.api.options import dotted, model_options, overrides_of
from pddlego_local.api.paths import planned, refuse_paths
from pddlego_local.api.sample import Sample as Sample
from pddlego_local.api.sample import first_question, model_of, samples
from pddlego_local.core.errors import ConfigError, InfrastructureError
from pddlego_local.core.nouns import Message
from pddlego_local.core.nouns import PlanResult as PlanResult
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.pddl.check import Check as Check
from pddlego_local.pddl.check import check as check
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.report.card import write_card
from pddlego_local.report.cells import find_cells
from pddlego_local.report.exports import TABLES
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.config import CellConfig, compose_cell, hydra_for
from pddlego_local.runner.run import run_cells
from pddlego_local.runner.sweep import write_sweep

if TYPE_CHECKING:
    import pandas


def plan(domain: str, problem: str, seconds: float = 60) -> PlanResult:
    """Plans with Fast Downward for two PDDL texts, within `seconds` of CPU time.

    The result's `outcome` is one of solved, goal_already_true, unsolvable,
    translate_error, timeout, out_of_memory, planner_fault.

    Raises ConfigError for impossible seconds, and PlannerFault or MissingPart if the
    planner cannot be run.
    """
    with clear_errors("seconds"):
        limits = Limits(cpu_s=seconds)
    with FastDownward(limits=limits) as planner:
        return planned(planner, domain, problem)


def question(*, config_dir: str | Path | None = None, **options: object) -> AnyQuestion:
    """Returns the first question that a method asks in a game, for `sample` to answer.

    The game is the first of `games`: `question(environment="coin",
    environment__rooms=5, games="7")`.

    Raises ConfigError for an unknown option, and for a game that ends before a model is
    asked.
    """
    # The context of the rung "grounded" includes what all other rungs need.
    words = overrides_of({"decoding": "grounded", **options})
    return first_question(compose_cell(words, config_dir))


def sample(
    asked: str | AnyQuestion,
    model: str,
    rung: str = "free",
    *,
    n: int = 1,
    server: str | None = None,
    config_dir: str | Path | None = None,
    **options: object,
) -> list[Sample]:
    """Draws `n` answers, each with a domain and a problem, to your own prompt or to a
    `question`.

    `model` is a name that `pddlego doctor` lists, a Hugging Face name in the local
    cache, or a model folder. The model runs in this process, or behind the vLLM
    `server` ("http://HOST:PORT/v1"). `rung` is a rung of the decoding ladder
    (docs/understand/ladder.md). Your own prompt lists no actions or names, so its rungs
    are free, json and syntax. Another `seed`, such as `seed=1`, draws other answers.

    Raises ConfigError for impossible options, MissingPart for missing weights, and
    ModelFault if the server cannot be reached.
    """
    options = {**model_options(model, server), "decoding": rung, **options}
    config = compose_cell(overrides_of(options), config_dir)
    if isinstance(asked, str):
        if RUNGS[rung].needs_context:
            raise ConfigError(
                f"rung={rung}: your own prompt can use free, json and syntax; for other"
                " rungs use a game's question:"
                " pddlego_local.question(environment='coin')"
            )
        asked = Question(PDDL, (Message("user", asked),), GrammarContext())
    with model_of(config) as opened:
        return samples(config, opened, asked, n)


def formalize(
    text: str,
    model: str,
    rung: str = "typed",
    *,
    domain: str = "",
    server: str | None = None,
    **options: object,
) -> Formalized:
    """Lets a model turn a description in words into a domain and a problem, and plans
    with them.

    The text may list its actions in the format of described worlds
    (docs/use/formalize.md). `domain` is the text of an existing PDDL domain; with it,
    the model writes only the problem. If the model's card names the texts that the
    model knows, other texts are refused with the outcome unknown_text. `model` and
    `server` are those of `sample`. `rung` may be any rung except grounded.

    Raises the errors of `sample`, PlannerFault, and ConfigError for grounded, for
    `decoding.reject`, and for a path in place of a text.
    """
    refuse_paths(text=text, domain=domain)
    options = {**model_options(model, server), "decoding": rung, **options}
    with formalizer(options, domain=domain) as formalized:
        return formalized(text)


def evaluate(
    model: str = "",
    size: str = "quick",
    *,
    server: str | None = None,
    thinking: bool = False,
    **options: object,
) -> Path:
    """Lets a model play a size of the frozen suite, and returns the path of its card.

    `model` is a name that `pddlego doctor` lists, a hub name in the local cache, a
    model folder or a GGUF file; or the name that a running `server` gives it. `options`
    are those of model and run, such as `run__concurrency=16`. Finished episodes are not
    played again.

    Raises ConfigError for an unknown model or size, and for an option that would change
    the suite, and the errors of `run`.
    """
    overrides = overrides_of(options)
    with hydra_for(None):
        evaluated = evaluation(
            model, size, server=server, thinking=thinking, overrides=overrides
        )
    evaluated.begin()
    _played(evaluated.configs)
    return write_card(evaluated.folder)


def run(*, config_dir: str | Path | None = None, **options: object) -> list[Path]:
    """Plays a cell, or with lists or ranges of values one cell for each combination of
    them.

    `run(model="nano", decoding=["free", "grounded"], games=range(10),
    method__variant="compact")`

    One value that consists of several is a tuple: `environment__sizes=(3, 4)`. All
    `games` are one value, as a text or in a list. Finished episodes are not played
    again. Returns the cells' folders, below runs/ or `run__out`; `load` reads them.

    Raises ConfigError for an unknown option, and InfrastructureError if the
    infrastructure failed and an episode has no result. The same call then tries that
    episode again.
    """
    cells = _cells(options, config_dir)
    for warning in cell_warnings(cells):
        warnings.warn(warning, stacklevel=2)
    if len(cells) > 1:
        write_sweep(cells)
    return _played(cells)


def _played(cells: Sequence[CellConfig]) -> list[Path]:
    """Plays the cells, and returns their folders. Raises InfrastructureError."""
    results: list[CellResult] = []
    run_cells(cells, results.append)
    for result in results:
        if result.refused:
            raise result.refused
        if result.faults:
            raise InfrastructureError(f"{result.folder}: {result.faults[0]}")
    return [result.folder for result in results]


def _cells(
    options: Mapping[str, object], config_dir: str | Path | None
) -> list[CellConfig]:
    """Returns the checked cells for all combinations of the values in lists and
    ranges.
    """
    games = options.get("games")
    if isinstance(games, list | tuple | range):
        options = {**options, "games": ",".join(map(str, games))}
    swept: dict[str, Sequence[object]] = {}
    for key, value in options.items():
        if isinstance(value, list | range):
            if not value:
                raise ConfigError(f"{dotted(key)}: an option's list of values is empty")
            swept[key] = value
    cells = []
    for values in itertools.product(*swept.values()):
        chosen = dict(zip(swept, values, strict=True))
        try:
            cell = compose_cell(overrides_of({**options, **chosen}), config_dir)
            cell.check()
        except ConfigError as error:
            raise ConfigError(f"{error}{_tuple_meant(swept, str(error))}") from error
        cells.append(cell)
    return cells


def _tuple_meant(swept: Mapping[str, Sequence[object]], error: str) -> str:
    """Returns the remedy if an error is about the option of a list that may be one
    value.
    """
    for key, values in swept.items():
        if error.startswith(f"{dotted(key)}="):
            return (
                f"; the list {[*values]} is a sweep with a cell for each value: for one"
                f" value that is a list, write the tuple {(*values,)}"
            )
    return ""


def load(
    runs: str | Path | Iterable[str | Path],
    lines: Literal["episodes", "calls"] = "episodes",
) -> "pandas.DataFrame":
    """Returns the records at and below these folders as a pandas DataFrame.

    The frame has one row for each episode, or with `lines="calls"` one for each model
    call. The columns are those of `pddlego export`. A warning names each record that
    cannot be read.

    Raises ConfigError for a folder without records, and for other `lines`.
    """
    import pandas

    if lines not in TABLES:
        raise ConfigError(f"lines={lines!r}: write lines='episodes' or lines='calls'")
    folders = [runs] if isinstance(runs, str | Path) else runs
    cells = find_cells(Path(os.path.expanduser(folder)) for folder in folders)  # noqa: PTH111 - an unknown user is no error
    rows, names = TABLES[lines]
    frame = pandas.DataFrame(rows(cells), columns=list(names))
    for problem in cells.problems:  # those of transcripts are known only now
        warnings.warn(problem, stacklevel=2)
    return frame

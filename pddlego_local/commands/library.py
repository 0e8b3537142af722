"""What `import pddlego_local` offers, for notebooks and scripts. Everything else is private.

Options are those of `conf/`, as `pddlego run --help` lists them: a dot in a key is written as two
underscores, `decoding__temperature=0`. Errors are `pddlego_local.core.errors.PddlegoError`s, whose
message says what to do.
"""

import contextlib
import itertools
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pddlego_local.commands.formalize import Formalized as Formalized
from pddlego_local.commands.formalize import formalizer
from pddlego_local.commands.game import Game as Game
from pddlego_local.commands.sample import Sample as Sample
from pddlego_local.commands.sample import first_question, samples
from pddlego_local.commands.shared.options import model_options, overrides_of
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.errors import ConfigError, InfrastructureError
from pddlego_local.core.nouns import Message
from pddlego_local.core.nouns import PlanResult as PlanResult
from pddlego_local.decoding.forms import PDDL, Fields
from pddlego_local.decoding.question import GrammarContext, Model, Question
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.pddl.check import Check as Check
from pddlego_local.pddl.check import check as check
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.report.cells import find_cells
from pddlego_local.report.exports import CALL_COLUMNS, EPISODE_COLUMNS, call_rows, episode_rows
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cells

if TYPE_CHECKING:
    import pandas


def plan(domain: str, problem: str, seconds: float = 60) -> PlanResult:
    """What Fast Downward says of two PDDL texts within so many CPU seconds; its `outcome` is one of
    solved, goal_already_true, unsolvable, translate_error, timeout, out_of_memory, planner_fault.

    Raises PlannerFault or MissingPart if the planner cannot be run.
    """
    with FastDownward(limits=Limits(cpu_s=seconds)) as planner:
        return planner.plan(domain, problem)


def question(**options: object) -> Question[Fields]:
    """What a method asks first in an environment's first game, to be answered by `sample`.

    `question(environment="coin", environment__rooms=5, games="7")`. Raises ConfigError for an
    option that there is not, and for a game that is over before a model is asked.
    """
    # The scene of the rung "grounded" holds all that others need.
    return first_question(compose_cell(overrides_of({"decoding": "grounded", **options})))


def sample(
    asked: str | Question[Fields],
    model: str,
    rung: str = "free",
    *,
    n: int = 1,
    server: str | None = None,
    **options: object,
) -> list[Sample]:
    """`n` answers with a domain and a problem, to a prompt of one's own or to a `question`.

    `model` has a configuration (`pddlego doctor`), or is a Hugging Face name in the local cache or
    a model folder; it runs in this process, or behind the vLLM `server`, "http://HOST:PORT/v1".
    `rung` is one of the decoding ladder (docs/understand/ladder.md); a prompt of one's own says
    nothing of actions and names, so that free, json and syntax are its rungs. `seed=1` draws
    others.

    Raises ConfigError for what cannot be, MissingPart for weights or a server that are not there.
    """
    options = {**model_options(model, server), "decoding": rung, **options}
    config = compose_cell(overrides_of(options))
    if isinstance(asked, str):
        if RUNGS[rung].needs_context:
            raise ConfigError(
                f"rung={rung}: a prompt of one's own has free, json and syntax; ask a question of "
                "a game: pddlego_local.question(environment='coin')"
            )
        asked = Question(PDDL, (Message("user", asked),), GrammarContext())
    built: Model = config.build("model")
    built.preflight(thinking=config.build("decoding").thinking)
    with contextlib.closing(built):
        return samples(config, built, asked, n)


def formalize(
    text: str,
    model: str,
    rung: str = "typed",
    *,
    domain: str = "",
    server: str | None = None,
    **options: object,
) -> Formalized:
    """What a model makes of a description in words: a domain, a problem, and the planner's plan.

    The text may name its actions as described worlds do (docs/use/formalize.md); `domain` is a file
    of yours, for which only the problem is written. A model whose card names the texts that it
    knows is not asked for others: then the outcome is unknown_text. Models, rungs and errors are
    those of `sample`.
    """
    options = {**model_options(model, server), "decoding": rung, **options}
    with formalizer(options, domain=domain) as formalized:
        return formalized(text)


def run(**options: object) -> list[Path]:
    """Plays a cell, or with lists of values each combination of them; what is done already is not
    played again. Returns the cells' folders, below runs/ or `run__out`, for `load`.

    `run(model="nano", decoding=["free", "grounded"], games="0-9", method__variant="compact")`

    Raises ConfigError for an option that there is not, and InfrastructureError if an episode has no
    result because something of ours failed: the same call tries it again.
    """
    lists = {key: value if isinstance(value, list) else [value] for key, value in options.items()}
    every = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    cells, results = [compose_cell(overrides_of(one)) for one in every], list[CellResult]()
    if not cells:
        raise ConfigError("an option's list of values is empty")
    for warning in training_warnings(cells):
        warnings.warn(warning, stacklevel=2)
    run_cells(cells, results.append)
    for result in results:
        if result.refused:
            raise result.refused
        if result.faults:
            raise InfrastructureError(f"{result.folder}: {result.faults[0]}")
    return [result.folder for result in results]


def load(
    runs: str | Path | Iterable[Path], lines: Literal["episodes", "calls"] = "episodes"
) -> "pandas.DataFrame":
    """The records at and below these folders as a frame: a line for each episode, or for each call
    of a model, as `pddlego export` writes them. A warning says which records cannot be read.

    Raises ConfigError for a folder without records.
    """
    import pandas

    cells = find_cells([Path(runs)] if isinstance(runs, str | Path) else runs)
    for problem in cells.problems:
        warnings.warn(problem, stacklevel=2)
    if lines == "calls":
        return pandas.DataFrame(call_rows(cells), columns=list(CALL_COLUMNS))
    return pandas.DataFrame(episode_rows(cells), columns=list(EPISODE_COLUMNS))

"""The arms of experiment=question/instead and of its kin: what they are, and what they
cost.
"""

from collections.abc import Iterable, Sequence

from pddlego_local.core.grouping import grouped
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.costs import cost_of
from tools.pages import tables
from tools.pages.records import scored

WAYS = {
    "free": "one free answer",
    "repair_typed": "a free answer, repaired with what `typed` knows",
    "repair_grounded": "a free answer, repaired with what `grounded` knows",
    "rounds": (
        "if an answer has no plan, the model sees it with the error and answers again,"
        " at most twice"
    ),
    "best_of_3": "three free answers; the first with a plan is taken",
    "reject_grounded": (
        "free answers, at most sixteen, until one is in the language of `grounded`"
    ),
    "typed": "the rung `typed`",
    "grounded": "the rung `grounded`",
    "repair_grounded_rounds": "as `rounds`, and each answer is repaired",
    "grounded_rounds": "as `rounds`, under `grounded`",
}


def by_way(cells: Iterable[CellRecord]) -> dict[str, list[CellRecord]]:
    """Returns the cells of each arm that was played, in the order of WAYS."""
    found = grouped((_way(cell), cell) for cell in cells)
    return {name: found[name] for name in WAYS if name in found}


def _way(cell: CellRecord) -> str:
    """Returns the name of the arm's file in conf/arm/instead."""
    named = [start.arm for start in cell.run.starts if start.arm]
    return named[-1].rpartition("/")[2]


def total_won(cells: Sequence[CellRecord]) -> int:
    return sum(map(tables.won, cells))


def share_won(cells: Sequence[CellRecord]) -> str:
    games = sum(len(scored(cell)) for cell in cells)
    return tables.percent(total_won(cells), games)


def costs(cells: Sequence[CellRecord], won: int) -> dict[str, str]:
    """Returns the columns of tokens and requests, for each game and for each of the
    `won` ones.
    """
    games = sum(len(scored(cell)) for cell in cells)
    each = [cost_of(cell) for cell in cells]
    answers = sum(cost.completion_tokens for cost in each)
    prompts = sum(cost.prompt_tokens for cost in each)
    requests = sum(cost.requests for cost in each)
    return {
        "answer tokens a game": f"{answers / games:,.0f}",
        "prompt tokens a game": f"{prompts / games:,.0f}",
        "requests a game": f"{requests / games:.1f}",
        "answer tokens a game won": f"{answers / won:,.0f}",
    }

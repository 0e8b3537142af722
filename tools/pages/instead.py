"""docs/results/instead.md: a mask, or what one does without a constrained decoder."""

from collections.abc import Sequence

from pddlego_local.core.grouping import grouped
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.costs import cost_of
from pddlego_local.report.numbers import tries_used_up
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored

COIN = "instead/records.tar.xz", "instead_coin"
EDITS = "mechanism/edit_records.tar.xz", "mechanism_edit"
WAYS = {
    "free": "one free answer",
    "repair_typed": "a free answer, repaired with what `typed` knows",
    "repair_grounded": "a free answer, repaired with what `grounded` knows",
    "rounds": "without a plan, shown its answer and the error, at most twice",
    "best_of_3": "three free answers; the first with a plan is taken",
    "reject_grounded": (
        "free answers, at most sixteen, until one is in the language of `grounded`"
    ),
    "typed": "the rung `typed`",
    "grounded": "the rung `grounded`",
    "repair_grounded_rounds": "as `rounds`, and each answer is repaired",
    "grounded_rounds": "as `rounds`, under `grounded`",
}

EDIT_ARMS = {
    "free": "one free answer",
    "free, asked again": "without a plan, the same question again, up to five times",
    "free + repair typed": "repaired with what `typed` knows: renames or removes names",
    "free + repair grounded": "the same, with what `grounded` knows",
    "free + reject typed": "at most four free answers, until one is in `typed`",
    "free + reject grounded": "at most four free answers, until one is in `grounded`",
    "typed": "the rung `typed`",
    "grounded": "the rung `grounded`",
}
NAMES = {
    "repair none": "free",
    "repair typed": "free + repair typed",
    "repair grounded": "free + repair grounded",
    "layout line": "typed",
    "layout any": "typed, any layout",
    "max_retries 0": "free",
    "max_retries 5": "free, asked again",
}


def way(cell: CellRecord) -> str:
    """Returns the name of the arm's file in conf/arm/instead."""
    named = [start.arm for start in cell.run.starts if start.arm]
    return named[-1].rpartition("/")[2]


def by_way(records: Records) -> dict[str, list[CellRecord]]:
    """Returns the cells of each arm, in the order of WAYS."""
    found = grouped((way(cell), cell) for cell in records.sweep(*COIN))
    return {name: found[name] for name in WAYS}


def arms(records: Records) -> str:
    """The table of games won, answers and costs."""
    rows = []
    for name, cells in by_way(records).items():
        games = sum(len(scored(cell)) for cell in cells)
        won = sum(map(tables.won, cells))
        row = {
            "arm": f"`{name}`",
            "what it is": WAYS[name],
            "games won": f"{won} of {games}",
            "share": tables.percent(won, games),
            "answers with a plan": _with_a_plan(cells),
        }
        rows.append(row | _costs(cells, games, won))
    return tables.table(rows)


def _with_a_plan(cells: Sequence[CellRecord]) -> str:
    played = [row for cell in cells for row in scored(cell)]
    solved = sum(row.causes.get("solved", 0) for row in played)
    return tables.percent(solved, sum(row.calls for row in played))


def _costs(cells: Sequence[CellRecord], games: int, won: int) -> dict[str, str]:
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


def by_rooms(records: Records) -> str:
    """Games won in houses of each size."""
    rows = []
    for name, cells in by_way(records).items():
        in_order = sorted(cells, key=_rooms)
        won = {f"{_rooms(cell)} rooms": tables.games_won(cell) for cell in in_order}
        rows.append({"arm": f"`{name}`", **won})
    return tables.table(rows)


def _rooms(cell: CellRecord) -> int:
    return int(cell.options["environment.rooms"])


def used_up(records: Records) -> str:
    """For example "68 of 259": answers for which all sixteen tries were rejected."""
    cells = by_way(records)["reject_grounded"]
    answers = [tries_used_up(cell, scored(cell))[0] for cell in cells]
    return f"{sum(rate.k for rate in answers)} of {sum(rate.n for rate in answers)}"


def verdicts(records: Records) -> str:
    return tables.verdict_lines(records.compared(*COIN))


def edit_arms(records: Records) -> str:
    """The table of the earlier experiment, without arms whose options are gone."""
    found = {}
    for cell in records.sweep(*EDITS):
        again = ", asked again" if tables.times_asked_again(cell) else ""
        found[tables.arm_name(cell) + again] = cell
    return tables.table(
        {
            "arm": f"`{name}`",
            "what it is": what,
            "games won": tables.games_won(found[name]),
            "share": tables.share_won(found[name]),
            "answers with a plan": tables.answers_with_a_plan(found[name]),
            "answer tokens a game": tables.tokens_per_game(found[name]),
            "answer tokens a game won": tables.tokens_per_win(found[name]),
            "answers with all four tries rejected": tables.all_tries_rejected(
                found[name]
            ),
        }
        for name, what in EDIT_ARMS.items()
    )


def edit_verdicts(records: Records) -> str:
    return tables.verdict_lines(records.compared(*EDITS), NAMES)


PAGES = (
    Page(
        "docs/results/instead.md",
        {
            "arms of Coin": arms,
            "Coin by rooms": by_rooms,
            "tries used up": used_up,
            "verdicts of Coin": verdicts,
            "arms of edits": edit_arms,
            "verdicts of edits": edit_verdicts,
        },
    ),
)

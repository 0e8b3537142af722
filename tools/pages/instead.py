"""docs/results/instead.md: a mask, or what one does without a constrained decoder."""

from collections.abc import Sequence
from functools import partial

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.numbers import tries_used_up
from pddlego_local.report.verdicts import in_short
from pddlego_local.runner.settings import Outcome
from tools.pages import instead_partial, instead_pretrained, tables
from tools.pages.blocks import Page
from tools.pages.instead_partial import PARTIAL, PRETRAINED, answers
from tools.pages.instead_pretrained import (
    LARGE,
    SMALL,
    odd_goals,
    shared_draws,
    without_a_car,
)
from tools.pages.pooled import pooled
from tools.pages.records import Records, scored
from tools.pages.ways import WAYS, by_way, costs, share_won, total_won

COIN = "instead/records.tar.xz", "instead_coin"
EDITS = "mechanism/edit_records.tar.xz", "mechanism_edit"
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

TASKS: tuple[tuple[str, tuple[str, str], Outcome], ...] = (
    ("`nano_early`, CoinCollector, whole files", COIN, "success"),
    ("`nano_explored`, partly seen worlds, edits", PARTIAL, "success"),
    ("Qwen2.5-Coder 1.5B, CoinCollector, edits", PRETRAINED, "success"),
    ("Qwen2.5-Coder 1.5B, right files", LARGE, "equivalent"),
    ("Qwen2.5-Coder 0.5B, right files", SMALL, "equivalent"),
)
COMPARED = ("free", "rounds", "best_of_3", "repair_grounded", "grounded")


def tasks(records: Records) -> str:
    """The table of all models and tasks: the share of games won in five ways, and the
    difference between the repair and the rung.
    """
    rows = []
    for title, sweep, outcome in TASKS:
        ways = by_way(records.sweep(*sweep))
        games = sum(len(scored(cell)) for cell in ways["free"])
        row = {"model and task": title, "games": str(games)}
        for way in COMPARED:
            won = tables.wins(ways.get(way, ()), outcome)
            row[f"`{way}`"] = tables.percent(won, games) if way in ways else "–"
        row["from `repair_grounded` to `grounded`"] = _from_repair(records, sweep)
        rows.append(row)
    return tables.table(rows)


def _from_repair(records: Records, sweep: tuple[str, str]) -> str:
    """For example "+5 points (2 to 9 at 97.5 %)"."""
    compared = pooled if sweep == PARTIAL else Records.compared
    (found,) = (
        tested
        for tested in compared(records, *sweep).tested
        if tables.short_name(tested.base.value, {}) == "repair_grounded"
        and tables.short_name(tested.other.value, {}) == "grounded"
    )
    difference, _, _ = in_short(found, found.new).partition(", p")
    return difference


def played(records: Records) -> dict[str, list[CellRecord]]:
    return by_way(records.sweep(*COIN))


def arms(records: Records, sweep: tuple[str, str]) -> str:
    """The table of games won, answers and costs."""
    rows = []
    for name, cells in by_way(records.sweep(*sweep)).items():
        row = {
            "arm": f"`{name}`",
            "what it is": WAYS[name],
            "games won": tables.games_won(*cells),
            "share": share_won(cells),
            "answers with a plan": _with_a_plan(cells),
        }
        rows.append(row | costs(cells, total_won(cells)))
    return tables.table(rows)


def _with_a_plan(cells: Sequence[CellRecord]) -> str:
    rows = [row for cell in cells for row in scored(cell)]
    solved = sum(row.causes.get("solved", 0) for row in rows)
    return tables.percent(solved, sum(row.calls for row in rows))


def by_rooms(records: Records) -> str:
    """Games won in houses of each size."""
    rows = []
    for name, cells in played(records).items():
        in_order = sorted(cells, key=_rooms)
        won = {f"{_rooms(cell)} rooms": tables.games_won(cell) for cell in in_order}
        rows.append({"arm": f"`{name}`", **won})
    return tables.table(rows)


def _rooms(cell: CellRecord) -> int:
    return int(cell.options["environment.rooms"])


def used_up(records: Records) -> str:
    """For example "68 of 259": answers for which all sixteen tries were rejected."""
    cells = played(records)["reject_grounded"]
    answers = [tries_used_up(cell, scored(cell))[0] for cell in cells]
    return f"{sum(rate.k for rate in answers)} of {sum(rate.n for rate in answers)}"


def verdicts(records: Records, sweep: tuple[str, str]) -> str:
    return tables.verdict_lines(records.compared(*sweep))


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
            "all tasks": tasks,
            "arms of Coin": partial(arms, sweep=COIN),
            "Coin by rooms": by_rooms,
            "tries used up": used_up,
            "verdicts of Coin": partial(verdicts, sweep=COIN),
            "arms of edits": edit_arms,
            "verdicts of edits": edit_verdicts,
            "arms of partly seen worlds": instead_partial.arms,
            "answers in partly seen worlds": partial(answers, sweep=PARTIAL),
            "verdicts of partly seen worlds": instead_partial.verdicts,
            "partly seen worlds one by one": instead_partial.by_world,
            "declared afterwards": instead_partial.declared_afterwards,
            "arms of the 1.5B": partial(instead_pretrained.arms, sweep=LARGE),
            "first draws of the 1.5B": partial(shared_draws, sweep=LARGE),
            "verdicts of the 1.5B": partial(verdicts, sweep=LARGE),
            "arms of the 0.5B": partial(instead_pretrained.arms, sweep=SMALL),
            "first draws of the 0.5B": partial(shared_draws, sweep=SMALL),
            "verdicts of the 0.5B": partial(verdicts, sweep=SMALL),
            "arms of edits by the 1.5B": partial(arms, sweep=PRETRAINED),
            "answers of edits by the 1.5B": partial(answers, sweep=PRETRAINED),
            "verdicts of edits by the 1.5B": partial(verdicts, sweep=PRETRAINED),
            "pilot of edits by the 1.5B": instead_partial.pilot,
            "random commands": instead_partial.floor,
            "as if applied": instead_partial.as_if_applied,
            "no car, free": partial(without_a_car, way="free"),
            "no car, grounded": partial(without_a_car, way="grounded"),
            "odd goals, free": partial(odd_goals, way="free"),
            "odd goals, typed": partial(odd_goals, way="typed"),
            "odd goals, grounded": partial(odd_goals, way="grounded"),
            "pilot of described worlds": instead_pretrained.pilot,
        },
    ),
)

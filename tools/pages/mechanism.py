"""docs/results/mechanism.md: whether a rung helps by its masks or only by what it
knows.
"""

import shutil
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

from pddlego_local.report.arms import Arm
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.figures.plotting import Dot, draw_dots, drawing, rows_height
from pddlego_local.report.pairs import pairs_of, tallied
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import RESULTS, Records, calls, scored

FILES = "mechanism/records.tar.xz", "mechanism"
EDITS = "mechanism/edit_records.tar.xz", "mechanism_edit"
COSTS = "mechanism/cost_records.tar.xz"

WHAT_IT_IS = {
    "free": "one free answer",
    "free + repair {rung}": (
        "free, repaired with what `{rung}` knows: renames or removes names"
    ),
    "free + reject {rung}": (
        "at most four free answers, until one is in the language of `{rung}`"
    ),
    "{rung} + draft": "a free draft, then `{rung}`",
    "{rung}, tight lists": "`{rung}`, and nothing may be said twice",
    "{rung}, without rollback": (
        "the masks of `{rung}` alone; only brackets are rolled back"
    ),
    "typed, any layout": "`typed` with any layout",
    "{rung}": "the rung",
}
STEPS = {
    "all (free → {rung})": ("free", "{rung}"),
    "knowledge (free → free + repair)": ("free", "free + repair {rung}"),
    "form (free + repair → free + reject)": (
        "free + repair {rung}",
        "free + reject {rung}",
    ),
    "from four tries to the rung (free + reject → {rung})": (
        "free + reject {rung}",
        "{rung}",
    ),
    "layout ({rung} with any layout → {rung})": ("{rung}, any layout", "{rung}"),
}
RUNGS = ("typed", "grounded")
NAMES = {
    "repair none": "free",
    "repair typed": "free + repair typed",
    "layout line": "typed",
    "repair grounded": "free + repair grounded",
    "layout any": "typed, any layout",
    "max_retries 0": "free",
    "max_retries 5": "free, asked again",
    "rounds 0": "free",
    "rounds 5": "free, asked again",
}


def by_name(cells: Iterable[CellRecord]) -> dict[str, CellRecord]:
    """Returns the cells by the names of their arms. One arm is asked again if it has no
    plan.
    """
    found = {}
    for cell in cells:
        name = tables.arm_name(cell)
        if tables.times_asked_again(cell):
            name += ", asked again"
        found[name] = cell
    return found


def arms(records: Records, sweep: tuple[str, str]) -> str:
    """The table of arms, in the order of the way from free answers to the rung. Arms
    with drafts that won no game are left out.
    """
    found = by_name(records.sweep(*sweep))
    rows = []
    for name, what in _in_order(found):
        cell = found[name]
        if "draft" in name and not tables.total(cell, "won"):
            continue
        rows.append(
            {
                "arm": f"`{name}`",
                "what it is": what,
                "games won": tables.games_won(cell),
                "share": tables.share_won(cell),
                "answers with a plan": tables.answers_with_a_plan(cell),
                "answers per game": tables.answers_per_game(cell),
                "tokens per answer": tables.tokens_per_answer(cell),
                "prompt tokens per game": tables.prompt_tokens_per_game(cell),
                "tokens per game won": tables.tokens_per_win(cell),
                "answers with all four tries rejected": tables.all_tries_rejected(cell),
            }
        )
    return tables.table(rows)


def _in_order(found: dict[str, CellRecord]) -> list[tuple[str, str]]:
    """Each arm's name, and what it is."""
    listed = {}
    for name, what in WHAT_IT_IS.items():
        for rung in RUNGS:
            listed[name.format(rung=rung)] = what.format(rung=rung)
        if name == "free":
            listed["free, asked again"] = what_again_shows(found["free, asked again"])
    return [(name, what) for name, what in listed.items() if name in found]


def what_again_shows(cell: CellRecord) -> str:
    """Says what the prompts of retries show, as the transcripts have them."""
    same = other = 0
    for of_game in calls(cell):
        for before, call in pairwise(of_game):
            if call.where.retry:
                same += call.messages == before.messages
                other += call.messages != before.messages
    retries = tables.times_asked_again(cell)
    asked = f"free answers; without a plan, asked again up to {retries} times"
    every = f"{same + other} retries"
    if other > same:
        return f"{asked} with a message about the fault ({other} of {every})"
    return f"{asked}; the same question, without a message ({same} of {every})"


def at_equal_cost(records: Records, sweep: tuple[str, str], more: str) -> str:
    """A table of all arms that draw one answer or several, by their tokens."""
    found = by_name(records.sweep(*sweep)) | _with_more_samples(records, more)
    shown = {
        name: cell
        for name, cell in found.items()
        if not any(word in name for word in ("draft", "tight", "rollback", "layout"))
    }
    in_order = sorted(shown, key=lambda name: _tokens(shown[name]))
    return tables.table(
        {
            "arm": f"`{name}`",
            "tokens of answers per game": tables.tokens_per_game(shown[name]),
            "tokens of prompts per game": tables.prompt_tokens_per_game(shown[name]),
            "games won": tables.games_won(shown[name]),
        }
        for name in in_order
    )


def _with_more_samples(records: Records, sweep: str) -> dict[str, CellRecord]:
    found = {}
    for name, cell in by_name(records.sweep(COSTS, sweep)).items():
        if cell.run.identity["decoding"]["feedback"] == "planner":
            found[f"{name}, with the planner's messages"] = cell
        else:
            found[name] = cell
    return found


def _tokens(cell: CellRecord) -> float:
    return tables.total(cell, "completion_tokens") / len(scored(cell))


def verdicts(records: Records, sweep: tuple[str, str]) -> str:
    return tables.verdict_lines(records.compared(*sweep), NAMES)


def steps(cells: Iterable[CellRecord], rung: str) -> list[Dot]:
    """Returns the steps to a rung with their differences in games won, from -1 to 1,
    and the 95 % intervals of these for new maps.
    """
    found, rows = by_name(cells), []
    for title, ends in STEPS.items():
        base, other = (found.get(name.format(rung=rung)) for name in ends)
        if base and other:
            pairs = pairs_of(Arm((base,)), Arm((other,)), ())
            finished = [pair for pair in pairs if pair.finished]
            paired = tallied(finished, lambda pair: pair.cluster)
            step, difference = title.format(rung=rung), paired.difference or 0.0
            rows.append(Dot(step, difference, paired.interval()))
    return rows


def draw(records: Records) -> None:
    """Draws which part of the way from free answers to a rung each step is: a figure
    for each sweep.
    """
    for name, sweep in {"steps": FILES, "steps_edits": EDITS}.items():
        panels = {
            f"{sweep[1]}: {rung}": steps(records.sweep(*sweep), rung) for rung in RUNGS
        }
        heights = [rows_height(len(rows)) for rows in panels.values()]
        with drawing(records.folder, name, heights) as axes:
            for axis, (title, rows) in zip(axes, panels.items(), strict=True):
                draw_dots(axis, title, rows, differences=True)
        shutil.copy(records.folder / f"{name}.png", RESULTS / "mechanism")


def games(sweep: tuple[str, str]) -> Callable[[Records], str]:
    """Returns a block that says how many games are scored, of how many."""

    def counted(records: Records) -> str:
        cell = records.sweep(*sweep)[0]
        return f"{len(scored(cell))} of {len(cell.rows)}"

    return counted


PAGES = (
    Page(
        "docs/results/mechanism.md",
        {
            "games of whole files": games(FILES),
            "arms of whole files": partial(arms, sweep=FILES),
            "verdicts of whole files": partial(verdicts, sweep=FILES),
            "whole files at equal cost": partial(
                at_equal_cost, sweep=FILES, more="mechanism_cost"
            ),
            "games of edits": games(EDITS),
            "arms of edits": partial(arms, sweep=EDITS),
            "verdicts of edits": partial(verdicts, sweep=EDITS),
            "edits at equal cost": partial(
                at_equal_cost, sweep=EDITS, more="mechanism_edit_cost"
            ),
        },
    ),
)

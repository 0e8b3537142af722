"""docs/results/nano_edit.md: a small model that writes edits, in three games."""

from functools import partial

from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored

OWN = "nano_edit/records.tar.xz", "nano_edit"
REAL = "nano_edit/valid_unseen", "valid_unseen"
REPAIRED = "nano_edit/repair_records.tar.xz", "nano_edit_repair"
RULES_SEEN = "nano_edit/floor_records.tar.xz", "floor"
ENVIRONMENTS = {
    "alfworld_unseen": "ALFWorld-like, 12 new floor plans",
    "coin": "Coin, 11 rooms, new houses",
    "cooking_easy": "easy Cooking, new kitchens",
    "cooking_hard": "hard Cooking, new houses",
}
RUNGS = ("free", "json", "typed", "grounded")


def of_environment(records: Records, environment: str) -> dict[str, CellRecord]:
    cells = records.sweep(*OWN)
    return {
        tables.arm_name(c): c for c in cells if c.labels["environment"] == environment
    }


def won(cell: CellRecord) -> str:
    return (
        f"{tables.games_won(cell)},"
        f" {100 * tables.total(cell, 'won') / len(scored(cell)):.1f} %"
    )


def generated(records: Records) -> str:
    rows = []
    for environment, title in ENVIRONMENTS.items():
        found = of_environment(records, environment)
        name = next(label for label in found if label.startswith("typed"))
        lists = name.removeprefix("typed")
        row = {"generated games": title}
        for rung in RUNGS:
            row[f"`{rung}`"] = won(found.get(rung) or found[f"{rung}{lists}"])
        rows.append(row)
    return tables.table(rows)


def real(records: Records) -> str:
    """The real games of ALFWorld's valid_unseen."""
    by_rung = {
        cell.run.identity["decoding"]["rung"]: cell for cell in records.sweep(*REAL)
    }
    shares = {f"`{rung}`": won(by_rung[rung]) for rung in ("free", "grounded")}
    return tables.table([{"real games": "valid_unseen, four floor plans", **shares}])


def rules(records: Records) -> str:
    (cell,) = records.sweep(*RULES_SEEN)
    return tables.games_won(cell)


def verdicts(records: Records, sweep: tuple[str, str]) -> str:
    return tables.verdict_lines(records.compared(*sweep), where=["environment"])


def costs(records: Records) -> str:
    """Means per game; the tokens of answers include those that a grammar forced."""
    rows = []
    places = {
        title: of_environment(records, name) for name, title in ENVIRONMENTS.items()
    }
    places["ALFWorld, valid_unseen"] = {
        tables.arm_name(c): c for c in records.sweep(*REAL)
    }
    for title, found in places.items():
        for name, cell in found.items():
            rows.append(
                {
                    "games": title,
                    "arm": f"`{name.partition(',')[0]}`",
                    "answers": tables.answers_per_game(cell),
                    "tokens of prompts": tables.prompt_tokens_per_game(cell),
                    "tokens of answers": tables.tokens_per_game(cell),
                }
            )
    return tables.table(rows)


def repaired(records: Records) -> str:
    (cell,) = records.sweep(*REPAIRED)
    return tables.games_won(cell)


PAGES = (
    Page(
        "docs/results/nano_edit.md",
        {
            "real games": real,
            "rules": rules,
            "generated games": generated,
            "verdict of real games": partial(verdicts, sweep=REAL),
            "verdicts": partial(verdicts, sweep=OWN),
            "repaired": repaired,
            "costs": costs,
        },
    ),
)

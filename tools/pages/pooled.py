"""The declared comparisons of an experiment, each over all kinds of its games, also if
these have their own prompts and budgets. A report pools only kinds that share both.
"""

from dataclasses import replace

from pddlego_local.report.comparisons import Compared, family
from pddlego_local.report.contrasts import Group, Role, contrasts, matching
from pddlego_local.report.declared import declarations, declared_by
from tools.pages.records import Records


def pooled(records: Records, archive: str, sweep: str) -> Compared:
    """Returns the comparisons that the report makes, with the declared ones pooled."""
    groups = declared_groups(records, archive, sweep)
    tested = []
    for role, of_role in groups.items():
        tested += family(role, of_role, frozenset(), ())
    return replace(records.compared(archive, sweep), tested=tested)


def declared_groups(
    records: Records, archive: str, sweep: str
) -> dict[Role, list[Group]]:
    """Returns a group for each declared comparison: its contrasts, one for each kind of
    games, in the order of the cells.
    """
    cells = records.sweep(archive, sweep)
    every = contrasts(cells)
    declared, _ = declared_by(declarations(cells))
    found: dict[Role, list[Group]] = {"primary": [], "secondary": []}
    for one in declared:
        role: Role = "primary" if one.primary else "secondary"
        found[role].append(matching(one, every))
    return found

"""What `pddlego run` prints when it has ended: its table, and what to type next."""

import shlex
from collections.abc import Sequence

from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.runner.cell import folder_of
from pddlego_local.runner.config import CellConfig

MOST_CELLS_SHOWN = 24  # of more than a screen, the report is to be asked


def show_results(cells: Sequence[CellConfig]) -> None:
    """On standard output, as `pddlego report` does. Raises ConfigError as `find_cells`."""
    from pddlego_local.report.cells import find_cells
    from pddlego_local.report.numbers import report_numbers
    from pddlego_local.report.text import on_screen

    begun = [path for path in dict.fromkeys(map(folder_of, cells)) if (path / "run.json").exists()]
    if not begun:
        return
    if len(begun) <= MOST_CELLS_SHOWN:
        show(screen(), on_screen(report_numbers(find_cells(begun))))
    runs = shlex.quote(str(begun[0].parent))
    print(f"next: pddlego report {runs} --open   (tables, figures, and a page for every episode)")

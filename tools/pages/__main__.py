"""Writes the generated blocks and pictures of the pages on results anew, from the
records that ship, and names each file that changes.

    python -m tools.pages [--check]

A block stands on a page between `<!-- records: NAME -->` and `<!-- end -->`; what is
between blocks is written by hand. With --check nothing is written, and the exit code is
1 if a block or the picture of a moment would change; charts depend on the version of
matplotlib, and are not checked. The modules of this folder say how each block is made,
one module for each page.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import visible
from tools.pages import (
    described,
    instead,
    models,
    moment,
    nano,
    nano_edit,
    nano_explored,
    overview,
    pretrained,
    selector,
)
from tools.pages.blocks import Page, regenerated
from tools.pages.records import RESULTS, ROOT, Records

PAGES: tuple[Page, ...] = (
    *models.PAGES,  # first: its bundles are of others, and may be damaged
    *overview.PAGES, *instead.PAGES, *pretrained.PAGES, *described.PAGES, *nano.PAGES,
    *nano_edit.PAGES, *nano_explored.PAGES, *selector.PAGES,
)  # fmt: skip


Drawn = Mapping[str, Callable[[Records], bytes]]
"""Pictures below docs/results, and the functions that draw them."""

PICTURES: Drawn = {"moment.svg": moment.draw}
CHARTS: Drawn = {
    "differences.png": overview.draw,
    "pretrained/outcomes.png": pretrained.draw,
}


def outdated(records: Records, drawn: Drawn) -> dict[Path, bytes]:
    """Returns the new content of each page and picture that is not that of the
    records.
    """
    made = dict[Path, bytes]()
    for page in PAGES:
        path = ROOT / page.path
        text = path.read_text(encoding="utf-8")
        made[path] = regenerated(text, page, records).encode()
    for name, draw in drawn.items():
        made[RESULTS / name] = draw(records)
    return {
        path: content
        for path, content in made.items()
        if not path.is_file() or path.read_bytes() != content
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="only say which files would change"
    )
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        records = Records(Path(folder))
        changed = outdated(records, PICTURES if check else {**PICTURES, **CHARTS})
    for path, content in changed.items():
        print(f"{path.relative_to(ROOT)}: {'outdated' if check else 'written'}")
        if not check:
            path.write_bytes(content)
    return int(check and bool(changed))


def named() -> int:
    """Returns the exit code: that of `main`, or 2 after one sentence on a file that
    cannot be used.
    """
    try:
        return main()
    except ConfigError as error:
        print(visible(str(error)), file=sys.stderr)
        return ConfigError.exit_code


if __name__ == "__main__":
    sys.exit(named())

"""Writes the generated blocks of the pages on results anew, from the records that ship.

    python -m tools.pages [--check]

A block stands on a page between `<!-- records: NAME -->` and `<!-- end -->`; what is
between blocks is written by hand. With --check nothing is written, and the exit code is
1 if a block would change. The modules of this folder say how each block is made, one
module for each page.
"""

import argparse
import sys
import tempfile
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
    overview,
    pretrained,
    selector,
)
from tools.pages.blocks import Page, regenerated
from tools.pages.records import ROOT, Records

PAGES: tuple[Page, ...] = (
    *models.PAGES,  # first: its bundles are of others, and may be damaged
    *overview.PAGES, *instead.PAGES, *pretrained.PAGES, *described.PAGES, *nano.PAGES,
    *nano_edit.PAGES, *selector.PAGES,
)  # fmt: skip


def outdated(records: Records) -> dict[Path, str]:
    """Returns the new text of each page whose blocks are not those of the records."""
    found = {}
    for page in PAGES:
        path = ROOT / page.path
        before = path.read_text(encoding="utf-8")
        after = regenerated(before, page, records)
        if after != before:
            found[path] = after
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="only say which pages would change"
    )
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        records = Records(Path(folder))
        changed = outdated(records)
        if not check:
            overview.draw(records)
            pretrained.draw(records)
            moment.draw(records)
    for path, text in changed.items():
        print(f"{path.relative_to(ROOT)}: {'outdated' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
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

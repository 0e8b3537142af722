"""Reports on records that ship with the docs."""

import tarfile
from pathlib import Path

from pddlego_local.cli import run

DOCS = Path(__file__).parents[2] / "docs"


def report_shipped(archive: str, folder: Path, *sweeps: str, options: tuple[str, ...] = ()) -> Path:
    """The folder, in `folder`, of a report on each of the `sweeps` that docs/`archive` holds."""
    with tarfile.open(DOCS / archive) as packed:
        packed.extractall(folder, filter="data")
    for name in sweeps:
        out = str(folder / "reports" / name)
        assert run(["report", str(folder / name), "--out", out, "--without-pages", *options]) == 0
    return folder / "reports"

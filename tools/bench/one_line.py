"""Plays planning domains of others as partly seen worlds of one line.

    python -m tools.bench.one_line --data FOLDER --out runs/one_line.md

FOLDER is searched for archives of domains. A domain is played if it lies beside a
`world.yaml`, or if one_line_worlds.yaml names its folder. The table says, for each, how
many games the reference won, why it lost the others, or why the domain was refused.
"""

import argparse
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from pddlego_local.commands.shared.world_check import check_world
from pddlego_local.commands.world import COLUMNS, row_of
from pddlego_local.core.errors import ConfigError
from tools.bench.markdown import table

LINES = Path(__file__).with_name("one_line_worlds.yaml")
GAMES, WALKS, SECONDS = 3, 10, 5


def worlds_in(data: Path, out: Path) -> Iterator[Path]:
    """Copies the worlds of all archives, each with its line, and yields their
    folders.
    """
    lines = yaml.safe_load(LINES.read_text(encoding="utf-8"))
    for archive in sorted(data.rglob("*.tar.xz")):
        with tempfile.TemporaryDirectory() as unpacked, tarfile.open(archive) as files:
            files.extractall(unpacked, filter="data")
            for domain in sorted(Path(unpacked).rglob("domain.pddl")):
                source = domain.parent
                folder = out / source.name
                has_line = (source / "world.yaml").is_file()
                if folder.exists() or not (has_line or source.name in lines):
                    continue
                shutil.copytree(source, folder)
                if not has_line:
                    line = f"here: {lines[source.name]}\n"
                    (folder / "world.yaml").write_text(line, encoding="utf-8")
                yield folder


def played(folder: Path) -> Mapping[str, str]:
    """Returns the row of a world."""
    try:
        row = dict(row_of(check_world(folder, GAMES, WALKS, SECONDS)))
    except ConfigError as error:
        why = str(error).replace(f"{folder}/", "")
        row = {"world": folder.name, "lost, why": f"refused: {why}"}
    line = yaml.safe_load((folder / "world.yaml").read_text(encoding="utf-8"))
    return row | {"here": f"`{line['here']}`"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of archives")
    parser.add_argument("--out", type=Path, default=Path("runs/one_line.md"))
    given = parser.parse_args()
    columns = ("world", "here", *COLUMNS[1:])
    rows = list[list[str]]()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folders:
        for folder in worlds_in(given.data, Path(folders)):
            row = played(folder)
            rows.append([row.get(name, "") for name in columns])
            print(*rows[-1], sep=" | ", flush=True)
            given.out.write_text(table(columns, sorted(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()

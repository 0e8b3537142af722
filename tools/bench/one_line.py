"""Plays planning domains of others as partly seen worlds of one line.

    python -m tools.bench.one_line --data FOLDER --out runs/one_line.md

FOLDER is searched for archives of domains. A domain is played if it lies beside a
`world.yaml`, or if one_line_worlds.yaml names its folder. The first table says how many
games the reference won in each, and why it lost the others; the second one says which
domains were refused, and why.
"""

import argparse
import re
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
PLACE = re.compile(r"[\w.]+: (?:domain|problem) line \d+, column \d+: ")
TOLD = ("world", "here", *COLUMNS[1:])


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
                folder = out / archive.name.partition(".")[0] / source.name
                has_line = (source / "world.yaml").is_file()
                if not has_line and source.name not in lines:
                    continue
                shutil.copytree(source, folder)
                if not has_line:
                    line = f"here: {lines[source.name]}\n"
                    (folder / "world.yaml").write_text(line, encoding="utf-8")
                yield folder


def played(folder: Path) -> Mapping[str, str]:
    """Returns the row of a world. Raises ConfigError if it is refused."""
    row = row_of(check_world(folder, GAMES, WALKS, SECONDS))
    line = yaml.safe_load((folder / "world.yaml").read_text(encoding="utf-8"))["here"]
    return {**row, "world": short(folder), "here": f"`{line}`"}


def short(folder: Path) -> str:
    return folder.name.rpartition("__")[2]


def why_refused(error: ConfigError, folder: Path) -> str:
    """Returns the main clause of the sentence, without the place in the file."""
    sentence = PLACE.sub("", str(error).replace(f"{folder}/", ""))
    return re.split(r"(?<!`):|, | \(", sentence.removeprefix(f"{folder}: "))[0]


def report(
    rows: Mapping[str, list[Mapping[str, str]]], refused: Mapping[str, list[str]]
) -> str:
    """Returns a table for each archive, and one of what was refused."""
    parts = []
    for archive, own in sorted(rows.items()):
        lines = [[row.get(name, "") for name in TOLD] for row in own]
        parts.append(f"**{archive}**\n\n{table(TOLD, lines)}\n")
    lines = [[why, ", ".join(names)] for why, names in sorted(refused.items())]
    parts.append(f"**refused**\n\n{table(('why', 'domains'), lines)}\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of archives")
    parser.add_argument("--out", type=Path, default=Path("runs/one_line.md"))
    given = parser.parse_args()
    rows = dict[str, list[Mapping[str, str]]]()
    refused = dict[str, list[str]]()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folders:
        for folder in worlds_in(given.data, Path(folders)):
            try:
                row = played(folder)
            except ConfigError as error:
                names = refused.setdefault(why_refused(error, folder), [])
                names.append(short(folder))
                print(folder.name, error, flush=True)
            else:
                rows.setdefault(folder.parent.name, []).append(row)
                print(*row.values(), sep=" | ", flush=True)
            given.out.write_text(report(rows, refused), encoding="utf-8")


if __name__ == "__main__":
    main()

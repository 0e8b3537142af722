"""One file with a run's records, which a stranger can check.

    RUN/eval.json                                 the suite, if it is an evaluation
    RUN/sweep-<hash>.json                         what was requested
    RUN/<cell>/run.json                           settings, hashes, versions
    RUN/<cell>/episodes.jsonl
    RUN/<cell>/transcripts/<game>-<trial>.jsonl

The same records give the same bytes. What says where and by whom a run was made is not
packed: commands, addresses, keys, folders, and how the model's server was started.
"""

import contextlib
import getpass
import io
import json
import lzma
import os
import re
import socket
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from pddlego_local.core.durable import unused_name
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.core.record.entry import RECORD
from pddlego_local.core.record.folder import recording
from pddlego_local.core.secrets import hidden
from pddlego_local.report.cells import find_cells

MOST_BYTES = 4_000_000_000
"""The limit for an unpacked bundle. Without it, a small file could fill the disk."""

PRIVATE = "<private>"
"""Stands in a bundle in place of the names of a user and a machine."""
SUFFIX = ".tar.xz"

_FILES = re.compile(
    r"(?:[\w-][\w.-]*/){0,4}"
    r"(?:eval\.json|sweep-[0-9a-f]{12}\.json|run\.json|episodes\.jsonl"
    r"|transcripts/\d{1,30}-\d{1,30}\.jsonl)"
)
_PRESET: Final = 8  # of xz: 32 MiB are searched for what was said before
_PRIVATE_OF_A_START = ("command", "servers")
_PRIVATE_OF_A_MODEL = ("server", "engine")  # how it was run, not what it is
_HOME = re.compile(r"(?:/home/|/Users/|C:\\Users\\)[^\s/\\'\"]+")


def check_name(file: Path) -> None:
    """Raises ConfigError if no bundle can be written there, before anything is
    played.
    """
    if not file.name.endswith(SUFFIX):
        raise ConfigError(
            f"--bundle {file}: a bundle is a compressed archive, so its name must end"
            f" in {SUFFIX}."
        )
    if file.is_dir():
        raise ConfigError(f"--bundle {file} is a folder; name a file.")
    if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
        raise ConfigError(
            f"--bundle {file}: the folder {file.parent} does not exist, or cannot be"
            " written; make it, or name another one."
        )


def pack(run_folder: Path, file: Path) -> None:
    """Writes the records of all cells at or below a folder into one file.

    Raises ConfigError if a cell cannot be read, and RecordFault if the file cannot be
    written.
    """
    if left_out := find_cells([run_folder]).left_out:
        raise ConfigError("; ".join(left_out))
    root = run_folder.resolve()
    unfinished = unused_name(file, ".new")
    with recording(file), contextlib.ExitStack() as stack:
        stack.callback(unfinished.unlink, missing_ok=True)
        with tarfile.open(unfinished, "w:xz", preset=_PRESET) as archive:
            for path in sorted(root.rglob("*")):
                name = path.relative_to(root.parent).as_posix()
                if path.is_file() and _FILES.fullmatch(name):
                    _add(archive, name, _public(path))
        unfinished.replace(file)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)  # its time is 0, and its owner has no name
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _public(path: Path) -> bytes:
    """Returns the content of a file without what is private."""
    if path.suffix == ".jsonl":
        return path.read_bytes().replace(str(Path.home()).encode(), b"~")
    content = hidden(object_of(path))
    for start in content.get("starts", ()):
        for key in _PRIVATE_OF_A_START:
            start.pop(key, None)
        config = start["config"]
        config.pop("run", None)
        for key in _PRIVATE_OF_A_MODEL:
            config["model"].pop(key, None)
    text = json.dumps(_without_places(content), indent=2, sort_keys=True) + "\n"
    return text.encode()


def _without_places(tree: Any) -> Any:
    """Returns a JSON value with the last name in place of each path, and without the
    names of this user and this machine in sentences.
    """
    if isinstance(tree, Mapping):
        return {key: _without_places(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_without_places(value) for value in tree]
    if not isinstance(tree, str):
        return tree
    if tree.startswith("~") or PurePosixPath(tree).is_absolute():
        return PurePosixPath(tree).name
    if PureWindowsPath(tree).is_absolute():
        return PureWindowsPath(tree).name
    text = _HOME.sub("~", tree)
    if " " in text:
        for name in (getpass.getuser(), socket.gethostname()):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", PRIVATE, text)
    return text


@contextlib.contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """Lends a folder with the records of a bundle, for the block. What a bundle does
    not hold is an error.

    Raises ConfigError if the file is no bundle. A ConfigError of the block names the
    bundle in place of the folder, which nobody will find.
    """
    if not file.exists():
        raise ConfigError(f"{file}: there is no such file or folder.")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tarfile.open(file, "r:xz") as archive:
                archive.extractall(folder, _members(archive, file), filter="data")
        except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
            raise ConfigError(
                f"{file} is not a bundle ({error!s:.200}); `pddlego eval --bundle`"
                " writes one"
            ) from error
        try:
            yield Path(folder)
        except ConfigError as error:
            raise ConfigError(str(error).replace(folder, str(file))) from error


@contextlib.contextmanager
def evaluation_in(file: Path) -> Iterator[Path]:
    """Lends the folder of the evaluation that a bundle holds. A folder is lent as it
    is. Raises ConfigError as `unpacked`, and if a bundle holds no evaluation, or more
    than one.
    """
    if file.is_dir():
        yield file
        return
    with unpacked(file) as folder:
        runs = [path.parent for path in folder.rglob(RECORD)]
        if len(runs) != 1:
            found = f"{len(runs)} files {RECORD}" if runs else f"no {RECORD}"
            raise ConfigError(
                f"{file} holds {found}, so it is not the bundle of one evaluation;"
                f" `pddlego eval MODEL --bundle FILE{SUFFIX}` writes one."
            )
        yield runs[0]


def _members(archive: tarfile.TarFile, file: Path) -> Iterator[tarfile.TarInfo]:
    """Yields the members while they are files of a record and not too large."""
    names = set[str]()
    left = MOST_BYTES
    for member in archive:
        if member.isdir():
            continue  # archives that tar made have folders too
        left -= member.size
        is_new = member.name not in names
        names.add(member.name)
        if not (member.isreg() and is_new and _FILES.fullmatch(member.name)):
            raise ConfigError(f"{file} holds {member.name!r:.100}, which no run writes")
        if left < 0:
            raise ConfigError(f"{file} is larger than {MOST_BYTES:,} bytes unpacked")
        yield member

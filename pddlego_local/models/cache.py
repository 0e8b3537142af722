"""The user's cache folder, which keeps folders that are made only once."""

import functools
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import filelock

from pddlego_local.core.durable import rename_synced
from pddlego_local.core.errors import MissingPart


def kept(name: str) -> Path:
    """Returns the path of the cache's folder `name`, whether or not it exists."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return Path(cache) / "pddlego_local" / name


def keep_compiled_code_private() -> None:
    """Makes torch keep the code that it compiles in the user's cache, unless a folder
    is named.

    torch itself takes a folder in /tmp with the user's name. Another user can make it
    first, and torch would run the code that it finds there.
    """
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(kept("torchinductor")))


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """Returns the cache's folder `name`; if it does not exist, `make` fills it.

    The folder exists only once it is complete. If another process is making it, this
    one waits. Raises MissingPart if the cache cannot be written.
    """
    folder = kept(name)
    try:
        return folder if folder.is_dir() else _made(folder, make)
    except OSError as error:
        raise MissingPart(
            f"The cache folder {folder.parent} cannot be used:"
            f" {error.strerror or error}; set XDG_CACHE_HOME to a folder that can be"
            " written."
        ) from error


def _made(folder: Path, make: Callable[[Path], object]) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f".unfinished-{folder.name}")
    with filelock.FileLock(folder.with_name(f".lock-{folder.name}")):
        if not folder.is_dir():
            # A process that did not finish may have left it.
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            rename_synced(unfinished, folder)
    return folder


def sha256_of(path: Path) -> str:
    """Returns the SHA-256 of a file's content.

    The file is read again only if its size or modification time has changed.
    """
    state = path.stat()
    return _sha256_of(path, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=100)
def _sha256_of(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

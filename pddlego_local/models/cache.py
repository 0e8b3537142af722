"""What is made once and kept in the user's cache folder."""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def kept(name: str) -> Path:
    """The folder `name` of the cache, be it there or not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "pddlego_local" / name


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` of the cache. If it is not there yet, `make` fills it.

    It is there whole or not at all. Several processes may make it at the same time, provided that
    they make the same.
    """
    folder = kept(name)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder.parent))
        try:
            make(unfinished)
            with contextlib.suppress(OSError):  # another process was first: its files are the same
                unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def sha256_of(path: Path) -> str:
    """Of a file's content; read again only if its size or its time of change differs."""
    state = path.stat()
    return _sha256_of(path, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=100)
def _sha256_of(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

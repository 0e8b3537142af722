"""Writes files that are complete or absent, whatever else happens: other processes that
write the same file, a process that is killed, or a machine that loses its power.

A file is first written beside its place, under a name that nobody else uses. It gets
its own name when its content is on the disk. A folder has its names on the disk after
`sync_folder`.
"""

import errno
import os
import uuid
from pathlib import Path

# Some network file systems cannot sync folders, and say so in one of these ways.
_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


def unused_name(path: Path, ending: str) -> Path:
    """Returns a name beside `path` that no other process uses, such as
    "7-0.4f…e1.partial".
    """
    return path.with_name(f"{path.stem}.{uuid.uuid4().hex}{ending}")


def replace_file(path: Path, content: bytes) -> None:
    """Gives the file this content, at once. Raises OSError; the file is then
    unchanged.
    """
    unfinished = unused_name(path, ".new")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Waits until the names in the folder are on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def rename_synced(unfinished: Path, folder: Path) -> None:
    """Renames a folder when all that is in it is on the disk. Raises OSError."""
    for parent, _, names in os.walk(unfinished):
        for name in names:
            with Path(parent, name).open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(parent))
    unfinished.rename(folder)
    sync_folder(folder.parent)

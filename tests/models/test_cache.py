"""Folders of the cache are made once, whoever asks at the same time, and also after a failure."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from pddlego_local.models.cache import made_once


def test_who_asks_at_the_same_time_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made, goes_on = list[Path](), Event()

    def make(folder: Path) -> None:
        made.append(folder)
        goes_on.wait(10)
        (folder / "file").write_text("whole")

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(made_once, "folder", make) for _ in range(3)]
        goes_on.set()
        (folder,) = {each.result() for each in asked}
    assert len(made) == 1 and [file.name for file in folder.iterdir()] == ["file"]


def test_a_failure_leaves_nothing_that_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def breaks(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        made_once("folder", breaks)
    folder = made_once("folder", lambda folder: (folder / "file").touch())
    assert [file.name for file in folder.iterdir()] == ["file"]

"""Folders of the cache are made once, whoever asks at the same time, and also after a
failure.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.cache import keep_compiled_code_private, made_once


def test_who_asks_at_the_same_time_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = list[Path]()

    def make(folder: Path) -> None:
        made.append(folder)
        time.sleep(0.2)  # the others ask meanwhile
        (folder / "file").write_text("whole", encoding="utf-8")

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(made_once, "folder", make) for _ in range(3)]
        (folder,) = {each.result() for each in asked}
    assert len(made) == 1 and [file.name for file in folder.iterdir()] == ["file"]


def test_a_failure_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def breaks(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space")

    with pytest.raises(MissingPart, match=r"no space; set XDG_CACHE_HOME"):
        made_once("folder", breaks)
    folder = made_once("folder", lambda folder: (folder / "file").touch())
    assert [file.name for file in folder.iterdir()] == ["file"]


def test_compiled_code_is_not_looked_for_where_others_may_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "/named")
    keep_compiled_code_private()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == "/named"
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    keep_compiled_code_private()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(
        tmp_path / "pddlego_local/torchinductor"
    )

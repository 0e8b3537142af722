"""A copy of conf/ whose files a test may change, and a suite in it that is small."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core import resources
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import hydra_for
from pddlego_local.runner.suite import suite
from tools.suite import hashes

LINKED = ("grammars", "serving", "weights")
SMALL = """\
sizes:
  quick:
    tested: false
    arms: [free, typed]
    parts: {coin_compact: 2, coin_edits: 2}
  standard:
    tested: true
    arms: [free, repair_typed, typed]
    parts: {coin_compact: 1, coin_edits: 1}

parts:
"""


class Conf:
    """A copy of conf/ that is used in place of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def change(self, file: str, before: str, after: str) -> None:
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        suite.cache_clear()

    def small(self) -> None:
        """Makes the suite small, and freezes it."""
        path = self.root / "suite" / "1.yaml"
        text = path.read_text(encoding="utf-8")
        head, _, rest = text.partition("sizes:\n")
        _, _, parts = rest.partition("parts:\n  coin_compact:")
        parts = f"  coin_compact:{parts}"
        wanted = parts[: parts.index("  coin_11_edits:")]
        path.write_text(head + SMALL + wanted, encoding="utf-8")
        suite.cache_clear()
        (self.root / "suite" / "frozen.yaml").write_text(hashes(), encoding="utf-8")
        shutil.rmtree(self.root / "suite" / "1", ignore_errors=True)


def small_conf(tmp_path: Path) -> Iterator[Conf]:
    """For a fixture: a copy of conf/ with a small suite."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for conf in own_conf(tmp_path, monkeypatch):
            conf.small()
            yield conf


def own_conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Conf]:
    """For a fixture: conf/ is a copy within it."""
    root = tmp_path / "project"
    shutil.copytree(folder("conf"), root / "conf")
    for name in LINKED:
        (root / name).symlink_to(folder(name))
    monkeypatch.setattr(resources, "_PACKAGE", root / "pddlego_local")
    suite.cache_clear()
    with hydra_for(None):
        yield Conf(root / "conf")
    suite.cache_clear()

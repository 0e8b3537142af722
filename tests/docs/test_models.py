"""The bundles behind the tables of models, and the tables."""

import io
import json
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.commands.shared.bundle_check import check
from pddlego_local.core.record.entry import RECORD
from pddlego_local.report.bundle import evaluation_in
from tools.pages import models
from tools.pages.__main__ import named
from tools.pages.records import Records

SHIPPED = sorted(models.BUNDLES.glob("*.tar.xz"))
MOST_BYTES = 3_000_000
Members = dict[str, bytes]


def test_there_are_bundles_and_they_are_small() -> None:
    names = {path.name.partition(".")[0] for path in SHIPPED}
    assert {"nano", "nano_edit", "reference", "random_policy"} <= names
    assert all(path.stat().st_size <= MOST_BYTES for path in SHIPPED)


@pytest.mark.long
@pytest.mark.parametrize("bundle", SHIPPED, ids=lambda path: path.name)
def test_fifty_rows_of_each_bundle_are_confirmed(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = check(bundle, most_rows=50)
    assert code == 0, capsys.readouterr().out


# ---- The tables


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of that of the bundles, with nano's alone."""
    folder = tmp_path / "bundles"
    folder.mkdir()
    shutil.copy(models.BUNDLES / "nano.tar.xz", folder)
    monkeypatch.setattr(models, "BUNDLES", folder)
    return folder


def packed_again(file: Path, change: Callable[[Members], object]) -> None:
    with tarfile.open(file) as archive:
        members = {
            member.name: content.read()
            for member in archive
            if (content := archive.extractfile(member))
        }
    change(members)
    with tarfile.open(file, "w:xz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def name_of(members: Members, end: str) -> str:
    return next(name for name in members if name.endswith(end))


@pytest.mark.usefixtures("bundles")
def test_each_part_has_a_table_with_the_models_and_the_arms(tmp_path: Path) -> None:
    text = models.models(Records(tmp_path))
    assert text.startswith("### CoinCollector, 5 rooms, whole files")
    head = "| model | `free` | `repair_typed` | `typed` | `grounded` |"
    assert head in text
    assert "| `nano` | 19 of 20 [76.4, 99.1] | 19 of 20 [76.4, 99.1] |" in text
    assert "edits" not in text, "nano did not play them"


def test_two_bundles_of_one_model_are_told_apart(bundles: Path, tmp_path: Path) -> None:
    shutil.copy(bundles / "nano.tar.xz", bundles / "mine.tar.xz")
    text = models.models(Records(tmp_path))
    assert "| `nano` (mine.tar.xz) |" in text
    assert "| `nano` (nano.tar.xz) |" in text


def no_archive(file: Path) -> None:
    file.write_text("This is a text.\n", encoding="utf-8")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20_000])


def altered_bytes(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[15_000:15_100] = bytes(100)
    file.write_bytes(data)


def without_eval_json(file: Path) -> None:
    packed_again(file, lambda members: members.pop(name_of(members, RECORD)))


def with_two(file: Path) -> None:
    def change(members: Members) -> None:
        members[f"other/{RECORD}"] = members[name_of(members, RECORD)]

    packed_again(file, change)


def with_a_damaged_eval_json(file: Path) -> None:
    def change(members: Members) -> None:
        members[name_of(members, RECORD)] = b"{"

    packed_again(file, change)


def with_a_damaged_row(file: Path) -> None:
    def change(members: Members) -> None:
        members[name_of(members, "episodes.jsonl")] += b"{}\n"

    packed_again(file, change)


def with_a_row_less(file: Path) -> None:
    def change(members: Members) -> None:
        name = name_of(members, "episodes.jsonl")
        members[name] = members[name].partition(b"\n")[2]

    packed_again(file, change)


def without_a_run_json(file: Path) -> None:
    packed_again(file, lambda members: members.pop(name_of(members, "run.json")))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (no_archive, "bad.tar.xz is not a bundle"),
        (cut, "bad.tar.xz is not a bundle"),
        (altered_bytes, "bad.tar.xz is not a bundle"),
        (without_eval_json, f"bad.tar.xz holds no {RECORD}"),
        (with_two, f"bad.tar.xz holds 2 files {RECORD}"),
        (with_a_damaged_eval_json, f"bad.tar.xz/eval-nano-quick/{RECORD} is not valid"),
        (with_a_damaged_row, "episodes.jsonl line 21 "),
        (with_a_row_less, "bad.tar.xz: 1 episodes have no result"),
        (without_a_run_json, "bad.tar.xz: 20 episodes have no result"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_bundle_that_cannot_be_shown_is_named_in_one_sentence(
    bundles: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], Any], said: str,
) -> None:  # fmt: skip
    bad = bundles / "bad.tar.xz"
    shutil.copy(bundles / "nano.tar.xz", bad)
    damage(bad)
    monkeypatch.setattr(sys, "argv", ["tools.pages", "--check"])
    assert named() == 2
    printed = capsys.readouterr().err
    assert str(bad) in printed and said in printed, printed
    assert printed.count("\n") == 1


def test_the_page_says_how_each_entry_was_played() -> None:
    """The prose names each bundle, and the weights that nobody else can know."""
    page = (models.BUNDLES.parent / "models.md").read_text(encoding="utf-8")
    for path in SHIPPED:
        with evaluation_in(path) as run:
            entry = json.loads((run / RECORD).read_text(encoding="utf-8"))
            records = [
                json.loads(cell.read_text(encoding="utf-8"))["model"]
                for cell in run.glob("*/run.json")
            ]
        assert f"`{entry['name']}`" in page.partition("<!--")[0]
        for record in records:
            assert record.get("gguf_sha256", "") in page

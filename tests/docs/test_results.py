"""The pages on results: their generated blocks, and when the games behind them were
played.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.pages.__main__ import PAGES
from tools.pages.blocks import Page, regenerated
from tools.pages.records import RESULTS, ROOT, Records

DECLARED = [  # archives and their sweeps
    ("nano/fresh_records.tar.xz", "nano_fresh"),
    ("instead/records.tar.xz", "instead_coin"),
    ("instead/partial_records.tar.xz", "instead_partial"),
    ("instead/partial_pretrained_records.tar.xz", "instead_partial_pretrained"),
    ("instead/pretrained_records.tar.xz", "instead_pretrained"),
    ("instead/pretrained_small_records.tar.xz", "instead_pretrained_small"),
    ("mechanism/records.tar.xz", "mechanism"),
    ("mechanism/edit_records.tar.xz", "mechanism_edit"),
    ("pretrained/records.tar.xz", "pretrained"),
    ("pretrained/names_records.tar.xz", "pretrained_names"),
    ("pretrained_examples/records.tar.xz", "pretrained_examples"),
    ("nano_worlds/records.tar.xz", "nano_worlds"),
    ("nano_worlds/records.tar.xz", "nano_worlds_constraint"),
    ("grpo/records.tar.xz", "grpo"),
    ("selector/records.tar.xz", "selector"),
    ("nano_explored/records.tar.xz", "nano_explored"),
]


DRAW = """\
import sys
from pathlib import Path
from tools.pages.moment import draw
from tools.pages.records import Records
sys.stdout.buffer.write(draw(Records(Path(sys.argv[1]))))
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    return Records(tmp_path_factory.mktemp("records"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_the_blocks_of_a_page_are_those_of_the_records(
    page: Page, records: Records
) -> None:
    text = (ROOT / page.path).read_text(encoding="utf-8")
    assert regenerated(text, page, records) == text


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_every_process_draws_the_picture_of_a_moment_as_it_ships(
    hash_seed: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRAW, tmp_path],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout == (RESULTS / "moment.svg").read_bytes()


def test_a_changed_number_in_a_block_is_made_right_and_prose_is_left(
    records: Records,
) -> None:
    (page,) = (page for page in PAGES if page.path == "docs/results/nano.md")
    text = (ROOT / page.path).read_text(encoding="utf-8")
    changed = re.sub(r"(\| all \| )\d+", r"\g<1>999", text).replace(
        "greedily", "in haste"
    )
    assert "999" in changed
    assert regenerated(changed, page, records) == text.replace("greedily", "in haste")


def test_a_block_that_nothing_makes_is_refused(records: Records) -> None:
    with pytest.raises(ValueError, match="guessed"):
        regenerated(
            "<!-- records: guessed -->42<!-- end -->", Page("page.md", {}), records
        )


@pytest.mark.parametrize(
    ("archive", "sweep"), DECLARED, ids=[sweep for _, sweep in DECLARED]
)
def test_declared_games_were_played_after_the_commit_that_declares_them(
    archive: str, sweep: str, records: Records
) -> None:
    for cell in records.sweep(archive, sweep):
        for start in cell.run.starts:
            assert not start.dirty
            if (
                start.committed
            ):  # older records know the commit, and not when it was made
                assert start.committed < start.began
            assert start.config["compare"]


def test_rows_of_real_games_ship_without_the_games() -> None:
    files = [
        path
        for path in (RESULTS / "nano_edit/valid_unseen").rglob("*")
        if path.is_file()
    ]
    assert {path.name for path in files} == {"run.json", "episodes.jsonl"}

"""The pages on results: their generated blocks, and when the games behind them were
played.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.weights import training_maps
from tools.pages.__main__ import PAGES
from tools.pages.blocks import Page, regenerated
from tools.pages.records import RESULTS, ROOT, Records

DECLARED = [  # archives and their sweeps
    ("nano/fresh_records.tar.xz", "nano_fresh"),
    ("mechanism/records.tar.xz", "mechanism"),
    ("mechanism/edit_records.tar.xz", "mechanism_edit"),
    ("pretrained/records.tar.xz", "pretrained"),
    ("pretrained/names_records.tar.xz", "pretrained_names"),
    ("pretrained_examples/records.tar.xz", "pretrained_examples"),
    ("nano_worlds/records.tar.xz", "nano_worlds"),
    ("nano_worlds/records.tar.xz", "nano_worlds_constraint"),
    ("grpo/records.tar.xz", "grpo"),
]
SIZES = (5, 6, 7, 9, 11)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    return Records(tmp_path_factory.mktemp("records"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_the_blocks_of_a_page_are_those_of_the_records(
    page: Page, records: Records
) -> None:
    text = (ROOT / page.path).read_text(encoding="utf-8")
    assert regenerated(text, page, records) == text


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


def fresh_seeds() -> list[int]:
    """The seeds of experiment=nano_fresh."""
    path = Path("conf/experiment/nano_fresh.yaml")
    games = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["games"]
    parts = (part.partition("-") for part in games.split(","))
    return [
        seed for low, _, high in parts for seed in range(int(low), int(high or low) + 1)
    ]


def test_the_fresh_games_are_the_first_on_maps_that_nothing_had_before() -> None:
    taken = {*training_maps("nano"), *training_maps("nano_early")}
    houses = [Coin(rooms=rooms) for rooms in SIZES]

    def maps(seed: int) -> Iterator[str]:
        """With "" for a game that is solved at the start."""
        return ("" if house.reset(seed).success else house.map for house in houses)

    for seed in range(80):
        taken |= {"", *maps(seed)}
    found = []
    for seed in range(5000, max(fresh_seeds()) + 1):
        new = {*itertools.takewhile(lambda one: one not in taken, maps(seed))}
        if len(new) == len(SIZES):
            found.append(seed)
            taken.update(new)
    assert found == fresh_seeds()

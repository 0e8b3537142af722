"""The suite is frozen: whatever changes results changes its hash, and its number stands
for one hash.
"""

import importlib.metadata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.methods import prompting
from pddlego_local.report.papers import published
from pddlego_local.runner import suite as subject
from pddlego_local.runner.config import hydra_for
from pddlego_local.runner.suite import (
    Size,
    check_frozen,
    frozen,
    part_sha256,
    suite,
    suite_sha256,
)
from tests.suites import Conf, own_conf

PART = "coin_compact"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Conf]:
    yield from own_conf(tmp_path, monkeypatch)


def test_the_number_of_the_suite_stands_for_its_hash() -> None:
    """Another hash needs another number: see tools/suite.py."""
    with hydra_for(None):
        parts = {name: part_sha256(name) for name in suite().parts}
    assert parts == frozen().parts
    assert suite_sha256(parts) == frozen().sha256


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("suite/1.yaml", "environment.rooms=5", "environment.rooms=6"),
        ("suite/1.yaml", '"20001,', '"20002,'),
        ("arm/instead/_common.yaml", "temperature: 0.5", "temperature: 0.6"),
        ("arm/instead/_common.yaml", "max_tokens: 1024", "max_tokens: 1025"),
        ("arm/instead/rounds.yaml", "rounds: 2", "rounds: 3"),
        ("planner/fast_downward.yaml", "cpu_s: 60", "cpu_s: 61"),
        ("method/pddlego_plus.yaml", "max_attempts: 5", "max_attempts: 4"),
    ],
)
def test_what_changes_results_changes_the_hash_of_its_part(
    conf: Conf, file: str, before: str, after: str
) -> None:
    conf.change(file, before, after)
    assert part_sha256(PART) != frozen().parts[PART]


def test_a_prompt_changes_the_hash_of_the_parts_that_use_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    included = prompting._with_included

    def changed(folder: str, templates: Any) -> dict[str, str]:
        texts = included(folder, templates)
        return {
            name: f"{text} Be careful." if name.endswith("compact.jinja") else text
            for name, text in texts.items()
        }

    monkeypatch.setattr(prompting, "_with_included", changed)
    assert part_sha256(PART) != frozen().parts[PART]
    assert part_sha256("coin") == frozen().parts["coin"]


@pytest.mark.parametrize("package", subject.PACKAGES)
def test_another_planner_or_game_is_another_suite(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    version = importlib.metadata.version

    def newer(name: str) -> str:
        return "99.0" if name == package else version(name)

    monkeypatch.setattr(importlib.metadata, "version", newer)
    with pytest.raises(ConfigError, match=rf"{package} 99\.0"):
        check_frozen(Size(tested=False, arms=[], parts={}))


def test_a_change_of_limits_that_change_no_result_is_no_other_suite(
    conf: Conf,
) -> None:
    conf.change("planner/fast_downward.yaml", "workers: 4", "workers: 1")
    assert part_sha256(PART) == frozen().parts[PART]


def test_a_changed_part_is_named(conf: Conf) -> None:
    conf.change("arm/instead/_common.yaml", "temperature: 0.5", "temperature: 0")
    with pytest.raises(ConfigError, match="coin_compact, coin_edits changed"):
        check_frozen(suite().size("quick"))


def _episodes(size: str) -> Counter[str]:
    """The episodes of a size, by arm."""
    found = Counter[str]()
    for part, games in suite().size(size).parts.items():
        assert games <= len(suite().parts[part].games)
        for arm in suite().arms_of(part, suite().size(size)):
            found[arm] += games
    return found


def test_sizes_are_as_large_as_their_comments_say() -> None:
    sizes = {size: _episodes(size).total() for size in suite().sizes}
    assert sizes == {"quick": 160, "standard": 498, "full": 4330}
    assert set(_episodes("quick")) == {"free", "repair_typed", "typed", "grounded"}
    for size in ("standard", "full"):
        for pair in suite().compare:
            assert set(pair.values()) <= _episodes(size).keys()


def test_renamed_worlds_are_the_same_games_with_other_names() -> None:
    renamed = [name for name in suite().parts if name.endswith("_renamed")]
    assert len(renamed) == 5
    for name in renamed:
        real, other = suite().parts[name.removesuffix("_renamed")], suite().parts[name]
        assert other.environment == [*real.environment, "environment.renamed=true"]
        assert (other.games, other.method, other.arms) == (
            real.games,
            real.method,
            real.arms,
        )


def test_published_results_are_those_of_the_games_that_a_part_names() -> None:
    parts = [part for part in suite().parts.values() if part.published]
    assert parts
    known = {row["games"] for row in published()}
    for part in parts:
        assert part.published in known
        assert len(part.games) == 100

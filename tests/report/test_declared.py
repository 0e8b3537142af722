"""What a report says about the declaration of its comparisons."""

from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import Compared, compared
from pddlego_local.report.first_screen import verdicts_markdown
from pddlego_local.report.verdicts import history_in_words
from tests.pddlego import Pddlego
from tests.planted import FREE, GAMES, SYNTAX, composed, declare, plant, wins
from tests.report.test_export import lines_of

ASKED = [{"factor": "decoding.rung", "base": "free"}]
OTHERS = [{"factor": "model"}]
COMMIT = "c" * 40


def start(began: str, compare: object = ASKED, **facts: object) -> dict[str, object]:
    config = {"games": "0-39", "trials": 1, "compare": compare, **facts}
    return {"began": began, "config": config, "commit": COMMIT}


def planted(runs: Path, *starts: object) -> Compared:
    """Compares the two rungs of a sweep."""
    for rung, won in ((FREE, 3), (SYNTAX, 20)):
        plant(runs, rung, outcomes=wins(range(won), GAMES), starts=list(starts))
    return compared(find_cells([runs]))


@pytest.mark.parametrize(
    ("facts", "commit"),
    [
        ({}, "commit cccccccccccc."),
        ({"dirty": True}, "commit cccccccccccc, which had uncommitted changes."),
        ({"commit": None}, "an unknown commit."),
    ],
)
def test_a_declaration_is_told_with_its_commit(
    tmp_path: Path, facts: dict[str, object], commit: str
) -> None:
    text = verdicts_markdown(planted(tmp_path, {**start("2026-02-02"), **facts}))
    assert f"these comparisons were declared at {commit}" in text
    assert "Tested comparisons (declared by the experiment)" in text


def test_a_declaration_says_what_had_been_seen_and_where_the_setting_was_chosen(
    tmp_path: Path,
) -> None:
    seen = "20 games of seeds 0 to 19"
    chosen = "seeds 7400 to 7415."
    found = planted(tmp_path, start("2026-02-02", looked_at=seen, setting_from=chosen))
    text = verdicts_markdown(found)
    assert "Seen before the declaration: 20 games of seeds 0 to 19." in text
    assert "The setting was chosen in: seeds 7400 to 7415." in text


def test_nothing_is_told_where_nothing_was_declared(tmp_path: Path) -> None:
    found = planted(tmp_path, start("2026-02-02", None))
    assert history_in_words(found) == ""
    assert found.origin == "the default, where nothing is declared"


@pytest.mark.parametrize(
    ("first", "second", "commit_of"),
    [
        (None, ASKED, "second"),
        (OTHERS, ASKED, "second"),  # the last declaration is used
        (ASKED, ASKED, "first"),  # with the first start that has it
        (ASKED, None, "first"),  # a start that declares nothing takes nothing back
    ],
)
def test_of_several_declarations_the_last_one_is_used(
    tmp_path: Path, first: object, second: object, commit_of: str
) -> None:
    starts = [start("2026-02-02", first), start("2026-02-03", second)]
    starts[0]["commit"], starts[1]["commit"] = "first", "second"
    found = planted(tmp_path, *starts)
    assert [declared.factor for declared in found.declared] == ["decoding.rung"]
    assert f"declared at commit {commit_of}." in history_in_words(found)


def test_a_sweep_can_declare_what_no_start_has(tmp_path: Path) -> None:
    planted(tmp_path, start("2026-02-02", None))
    declare(tmp_path, "decoding.rung=free")  # at the end of time
    found = compared(find_cells([tmp_path]))
    assert "declared at an unknown commit." in history_in_words(found)


def test_an_option_that_only_another_version_had_is_compared(tmp_path: Path) -> None:
    asked = [{"factor": "decoding.lists", "base": "free"}]
    for value, won in (("free", 3), ("tight", 20)):
        identity = composed(SYNTAX).identity
        identity["decoding"]["lists"] = value
        outcomes, starts = wins(range(won), GAMES), [start("2026-02-02", asked)]
        runs = tmp_path / "runs" / value
        plant(runs, SYNTAX, outcomes=outcomes, identity=identity, starts=starts)
    (found,) = compared(find_cells([tmp_path])).tested
    assert found.factor == "decoding.lists"
    assert (found.base.value, found.other.value) == ("lists free", "lists tight")


def test_a_damaged_declaration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="compare"):
        planted(tmp_path, start("2026-02-02", [{"factor": 7}]))


def test_the_command_and_its_files_tell_the_declaration(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    planted(tmp_path / "runs", start("2026-02-02"))
    said = pddlego("report", tmp_path / "runs", "--out", tmp_path / "out").out
    told = "these comparisons were declared at commit cccccccccccc."
    assert told in said
    for name in ("report.md", "index.html"):
        assert told in (tmp_path / "out" / name).read_text(encoding="utf-8")
    (line,) = lines_of(tmp_path / "out" / "comparisons.csv")
    assert (line["base_value"], line["other_success_k"]) == ("free", "20")

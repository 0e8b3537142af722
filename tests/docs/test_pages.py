"""What pages say with a number comes from records or from the tests' own tables."""

import re

from tests.docs.records import ROOT, cells, told, with_options
from tests.episode.test_free_answers import ROWS

QUARREL = "nano_described/records.tar.xz"
OWN = "nano_edit/records.tar.xz"


def test_the_readme_gives_alfworlds_rates_with_their_verdicts() -> None:
    """The verdicts are the reports' own (tests/report/test_shipped_records.py)."""
    readme, page = told("README.md"), told("docs/results/nano_edit.md")
    shares = {
        one.asks("decoding.rung"): f"{100 * one.mean('won'):.1f} %"
        for one in cells(OWN)
        if one.run["labels"]["environment"] == "alfworld_unseen"
    }
    assert f"it wins {shares['grounded']} and {shares['free']}," in readme
    real, own = (
        re.search(pattern, page)
        for pattern in (
            r"between the two arms is shown for new rooms: \*\*.*?(p = [\d.]+)",
            r"ALFWorld, unseen rooms \| \*\*.*?(p = [\d.]+)",
        )
    )
    assert real and own and f"(real: four, {real[1]}; generated: twelve, {own[1]})" in readme
    assert "domain, goals and search order are given by hand" in readme
    assert "Of 300 small generated games" in readme
    assert "The ALFWorld games are small: rooms are cut so that all places can be" in page


def test_the_card_of_described_worlds_comes_from_the_records() -> None:
    card = told("weights/nano_described/README.md")
    for world, name in (("blocksworld", "Blocksworld"), ("logistics", "Logistics")):
        shares = list[str]()
        for rung in ("free", "typed"):
            of = with_options(cells(QUARREL), decoding__rung=rung, environment__world=world)
            (cell,) = (one for one in of if one.sweep == "nano_described")
            shares += [f"{100 * cell.mean('won'):.1f}", str(len(cell.rows))]
        row = re.search(rf"\| {name} \| (\S+) % [^|]* of (\d+) \| (\S+) % [^|]* of (\d+) \|", card)
        assert row and list(row.groups()) == shares
    larger = [one for one in cells(QUARREL) if one.sweep == "nano_described_larger"]
    for rung, wins in (("free", 0), ("typed", 1)):
        rows = [row for one in larger if one.asks("decoding.rung") == rung for row in one.rows]
        assert len(rows) == 400 and sum(row["won"] for row in rows) == wins
    assert "With ten blocks or packages it wins one of 400 under `typed`, and none freely" in card


def test_as_many_ways_to_answer_are_told_as_the_tables_have() -> None:
    answers = [row.get("strict", "nothing") for row in ROWS if row.get("read") is not None]
    kinds = [answers.count(kind) for kind in ("same", "other", "nothing")]
    said = (
        f"hold {len(answers)} answers. The strict reader reads {kinds[0]} of them as they are"
        f" meant, {kinds[1]} as something else, and {kinds[2]} not at all. The tables also hold"
        f" {len(ROWS) - len(answers)} texts without an answer."
    )
    assert said in told("docs/understand/free_answers.md")


def test_the_pages_of_records_say_how_many_cells_and_episodes_there_are() -> None:
    for page, archive, words in (
        ("docs/results/nano_worlds.md", QUARREL, "{} cells, {:,} episodes"),
        ("docs/results/generalize.md", "generalize/records.tar.xz", "{} cells, {:,} episodes"),
        ("docs/results/nano.md", "nano/records.tar.xz", "{} cells, {:,} episodes"),
        ("docs/results/nano.md", "nano/fresh_records.tar.xz", "{} cells, {:,} episodes"),
        ("docs/results/sample.md", "sample/records.tar.xz", "{} cells, {:,} episodes"),
    ):
        played = cells(archive)
        assert words.format(len(played), sum(one.finished for one in played)) in told(page), archive


def test_no_page_of_old_calls_the_first_comparison_of_nano_declared() -> None:
    for page in ("README.md", "docs/results/nano.md", "docs/lab-notes.md"):
        text = told(page)
        assert "declared beforehand: `nano`" not in text
    assert "these p values are exploratory" in told("docs/results/nano.md")
    assert (ROOT / "conf/experiment/nano_fresh.yaml").exists()

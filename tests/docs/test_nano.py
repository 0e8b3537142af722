"""What README.md, docs/results/nano.md and the cards say of nano comes from the records."""

import itertools
import re
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest
import yaml

from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.weights import training_maps
from tests.docs.records import ROOT, Cell, cells, gained_and_lost, told, with_options, won

EARLIER, FRESH, SAMPLE = "nano/records.tar.xz", "nano/fresh_records.tar.xz", "sample/records.tar.xz"
SIZES = (5, 6, 7, 9, 11)
MODELS = ("nano", "nano_early")


def pair(archive: str, model: str) -> tuple[dict[tuple[int, int], bool], ...]:
    """Games won freely, read leniently, and under grounded."""
    played = cells(archive)
    return (
        won(played, model__weights=model, decoding__rung="free", decoding__reading="lenient"),
        won(played, model__weights=model, decoding__rung="grounded"),
    )


def declared() -> list[int]:
    """The seeds of experiment=nano_fresh."""
    text = (ROOT / "conf/experiment/nano_fresh.yaml").read_text(encoding="utf-8")
    parts = (part.partition("-") for part in yaml.safe_load(text)["games"].split(","))
    return [seed for low, _, high in parts for seed in range(int(low), int(high or low) + 1)]


def test_the_fresh_games_are_the_first_on_maps_that_nothing_had_before() -> None:
    taken = {*training_maps("nano"), *training_maps("nano_early")}
    houses = [Coin(rooms=rooms) for rooms in SIZES]

    def maps(seed: int) -> Iterator[str]:
        """With "" for a game that is solved at the start."""
        return ("" if house.reset(seed).success else house.map for house in houses)

    for seed in range(80):
        taken |= {"", *maps(seed)}
    found = []
    for seed in range(5000, max(declared()) + 1):
        new = {*itertools.takewhile(lambda one: one not in taken, maps(seed))}
        if len(new) == len(SIZES):
            found.append(seed)
            taken.update(new)
    assert found == declared()


def test_every_fresh_game_was_played_once_after_its_declaration_and_counts() -> None:
    played = cells(FRESH)
    assert len(played) == 20
    starts = [start for cell in played for start in cell.run["starts"]]
    assert {start["dirty"] for start in starts} == {False}
    (commit,) = {start["commit"] for start in starts}
    pattern = r"as commit (\w+), at (\S+) (\S+) UTC\. .* the first game began at (\S+) UTC"
    said = re.search(pattern, told("docs/results/nano.md"))
    assert said and commit.startswith(said[1])
    declared_at, began = (f"{said[2]}T{said[of]}" for of in (3, 4))
    assert declared_at < began == min(start["began"] for start in starts)[:16]
    primary = {"base": "free", "factor": "decoding.rung", "other": "grounded", "primary": True}
    assert all(start["config"]["compare"] == [primary] for start in starts)
    shown = ["git", "show", "--format=%cI", "--name-only", commit]
    git = subprocess.run(shown, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if git.returncode == 0:  # a copy without the history has no commits
        when, file = git.stdout.split()
        assert when[:16] == declared_at and file == "conf/experiment/nano_fresh.yaml"
    for cell in played:
        assert sorted(row["game"] for row in cell.rows) == declared()


@pytest.mark.parametrize("model", MODELS)
def test_what_was_seen_before_and_what_was_not(model: str) -> None:
    """Of the earlier sweep: seeds 0 to 74 of 5, 7, 9 and 11 rooms had been seen."""
    free, grounded = pair(EARLIER, model)
    seen = {game for game in free if game[0] != 6 and game[1] < 75}
    parts = [
        gained_and_lost({game: free[game] for game in of}, {game: grounded[game] for game in of})
        for of in (seen, free.keys() - seen)
    ]
    (gained, lost, _), (more, fewer, p) = parts
    of_seen = f"| `{model}` | +{gained} −{lost} of {len(seen)}"  # noqa: RUF001 (a minus)
    of_others = f"+{more} −{fewer} of {len(free) - len(seen)} (p = {p:.1g})"  # noqa: RUF001
    assert f"{of_seen} | {of_others} |" in told("docs/results/nano.md")


def test_the_table_of_all_rungs_comes_from_the_records() -> None:
    page = (ROOT / "docs/results/nano.md").read_text(encoding="utf-8")
    arms = [
        ("free", "lenient"),
        ("free", "strict"),
        ("json", ""),
        ("syntax", ""),
        ("typed", ""),
        ("grounded", ""),
    ]
    for model in MODELS:
        told_shares = re.search(rf"^\| `{model}` \|(.*)\|$", page, re.MULTILINE)
        assert told_shares
        shares = []
        for rung, reading in arms:
            played = with_options(cells(EARLIER), model__weights=model, decoding__rung=rung)
            games = [row["won"] for cell in played if reads(cell, reading) for row in cell.rows]
            shares.append(f"{100 * sum(games) / len(games):.1f} %" if games else "")
        assert [cell.strip() for cell in told_shares[1].split("|")] == shares


def reads(cell: Cell, reading: str) -> bool:
    """Records from before the option have none: they were read strictly."""
    return not reading or (cell.asks("decoding.reading") or "strict") == reading


@pytest.mark.parametrize("model", MODELS)
def test_the_cards_tables_come_from_the_records(model: str) -> None:
    card = (ROOT / f"weights/{model}/README.md").read_text(encoding="utf-8")
    table = card.partition("Through vLLM")[2]
    shown = re.findall(r"^\| (\d+) \| (\d+) \| (.*) \|$", table, re.MULTILINE)
    assert [int(rooms) for rooms, _, _ in shown] == list(SIZES)
    rungs = (
        ["free", "json", "syntax", "typed", "grounded"] if model == "nano" else ["free", "grounded"]
    )
    for rooms, games, line in shown:
        counts = []
        for rung in rungs:
            played = with_options(
                cells(EARLIER),
                model__weights=model,
                decoding__rung=rung,
                environment__rooms=int(rooms),
            )
            (cell,) = (one for one in played if reads(one, "lenient" if rung == "free" else ""))
            counts.append(cell.total("won"))
            assert len(cell.rows) == int(games)
        assert [int(cell.split()[0]) for cell in line.split("|")] == counts


def test_the_table_of_what_became_of_answers_comes_from_the_records() -> None:
    """The rows of two rungs hold for both."""
    page = (ROOT / "docs/results/nano.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(nano\w*)`, (`.*`) \| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert len(shown) == 6
    for model, rungs, answers, line in shown:
        for rung in re.findall(r"`(\w+)`", rungs):
            played = with_options(cells(EARLIER), model__weights=model, decoding__rung=rung)
            causes = Counter[str]()
            for one in played:
                if reads(one, "lenient" if rung == "free" else ""):
                    causes += one.causes()
            n = causes.total()
            kinds = (
                causes["no_json"] + causes["wrong_keys"],
                *(causes[name] for name in ("translate_error", "goal_already_true", "unsolvable")),
                *(causes[name] for name in ("truncated", "solved")),
            )
            assert n == int(answers) and sum(kinds) == n
            told_shares = [float(cell.strip(" *")) for cell in line.split("|")]
            for share, count in zip(told_shares, kinds, strict=True):
                assert share == pytest.approx(100 * count / n, abs=0.05)


def test_the_sample_says_how_many_of_its_games_lie_on_maps_of_training() -> None:
    """The rows are older than the mark; the maps are made again."""
    house = Coin(rooms=5)
    count = dict.fromkeys(MODELS, 0)
    left = []
    for seed in range(50):
        if not house.reset(seed).success:
            for model in MODELS:
                count[model] += house.map in training_maps(model)
            if house.map not in training_maps("nano_early"):
                left.append(seed)
    page = told("docs/results/sample.md")
    assert f"{count['nano']} of the 41 games of `nano` lie on maps of its training" in page
    assert f"and {count['nano_early']} of `nano_early`'s" in page
    own = with_options(cells(SAMPLE), model__weights="nano_early")
    arms = {
        cell.asks("decoding.rung"): {
            row["game"]: row["won"] for row in cell.rows if row["game"] in left
        }
        for cell in own
        if cell.run["labels"]["method"] == "pddlego_plus"
    }
    gained, lost, _ = gained_and_lost(arms["free"], arms["grounded"])
    others = (
        f"In the {len(left)} others of `nano_early`, `grounded` wins {gained} games that `free`"
    )
    assert f"{others} loses, and loses {lost}" in page

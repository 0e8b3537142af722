"""Cards and comparisons of the evaluations that come with the repository."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.record.entry import RECORD
from pddlego_local.report.card import write_card
from pddlego_local.report.card.words import WORDS
from pddlego_local.runner.suite import RANDOM, suite
from tests.pddlego import Pddlego
from tests.report.browser import measured, needs_chromium
from tests.suites import own_conf

BUNDLES = Path("docs/results/models")
NAMES = ("nano", "nano_early", "nano_edit", "random_policy")
VERDICT = re.compile(r"p [=<] 0|shown|too few to tell|at most \d+ points", re.I)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked evaluations, each with its card."""
    out = tmp_path_factory.mktemp("runs")
    for name in NAMES:
        shutil.unpack_archive(BUNDLES / f"{name}.tar.xz", out, filter="data")
        write_card(out / f"eval-{name}-quick")
    return out


def card(run: Path) -> Any:
    return json.loads((run / "card.json").read_text(encoding="utf-8"))


def shown(run: Path) -> list[str]:
    """The card as text and as a page."""
    return [
        (run / name).read_text(encoding="utf-8") for name in ("card.md", "card.html")
    ]


def rows(run: Path, cell: str) -> list[Any]:
    text = (run / cell / "episodes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def changed(run: Path, to: Path, change: Any) -> Path:
    """A copy of an evaluation whose rows are changed, with its card."""
    shutil.copytree(run, to)
    for file in to.glob("*/episodes.jsonl"):
        found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for place, row in enumerate(found):
            change(place, row)
        file.write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")
    write_card(to)
    return to


def edited(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


# ---- What a game won costs


def test_a_card_has_the_calls_of_the_rows_beside_the_requests_of_the_stages(
    runs: Path,
) -> None:
    run = runs / "eval-nano-quick"
    for line in card(run)["lines"]:
        if line["why"]:
            continue
        cost, played = line["cost"], rows(run, line["cell"])
        won = sum(row["success"] for row in played)
        for name, own in (("calls", "calls"), ("answer_tokens", "completion_tokens")):
            assert cost[name] * won == pytest.approx(sum(row[own] for row in played))
        sent = sum(row["prompt_tokens"] for row in played) / won
        if line["arm"] in ("typed", "grounded"):
            assert cost["requests"] > 2 * cost["calls"]
            assert cost["prompt_tokens"] > 2 * sent
        else:
            assert cost["requests"] == cost["calls"]
            assert cost["prompt_tokens"] == pytest.approx(sent)


def test_a_card_says_what_a_request_is_in_the_words_of_the_results_page(
    runs: Path,
) -> None:
    said = WORDS["costs"].partition("Requests and prompt tokens ")[2].rstrip(".")
    page = Path("docs/results/instead.md").read_text(encoding="utf-8")
    assert said
    assert said in " ".join(re.sub("[`*]", "", page).split())
    for text in shown(runs / "eval-nano-quick"):
        assert WORDS["costs"] in text


def test_a_page_of_a_lost_game_counts_calls_as_the_card_does(runs: Path) -> None:
    run = runs / "eval-nano-quick"
    cells = {(line["part"], line["arm"]): line["cell"] for line in card(run)["lines"]}
    for fault in card(run)["faults"]:
        cell = cells[fault["part"], fault["arm"]]
        (row,) = [row for row in rows(run, cell) if row["game"] == fault["game"]]
        assert f"{row['calls']} calls" in (run / fault["page"]).read_text("utf-8")


# ---- Lost games


@pytest.mark.parametrize("name", NAMES)
def test_no_link_of_a_card_or_of_its_pages_leads_to_nothing(
    runs: Path, name: str
) -> None:
    run = runs / f"eval-{name}-quick"
    pages = [run / "card.html", *run.glob("faults/*.html")]
    assert len(pages) == len(card(run)["faults"]) + 1
    for page in pages:
        text = page.read_text(encoding="utf-8")
        links = re.findall(r'(?:href|src)="([^"#]+)', text)
        for link in links:
            assert (page.parent / link).is_file(), link
        if page.parent != run:
            assert "../card.html" in links


def test_parts_that_share_their_episodes_lose_each_game_once_and_say_so(
    runs: Path,
) -> None:
    run = runs / "eval-random_policy-quick"
    games = [fault["game"] for fault in card(run)["faults"]]
    lost = {
        row["game"]
        for line in card(run)["lines"]
        for row in rows(run, line["cell"])
        if not row["success"]
    }
    assert len(games) == len({*games}) == min(10, len(lost))
    for text in shown(run):
        assert "The same episodes stand for these parts" in text
        assert "What a game won costs" not in text


# ---- How far the files came


def test_equivalent_is_a_dash_unless_a_file_was_compared_with_gold(
    runs: Path, tmp_path: Path
) -> None:
    run = runs / "eval-nano-quick"
    (line, *_) = card(run)["lines"]
    assert line["stages"] == {"refused": 0, "accepted": 0, "plan": 1, "valid": 19}
    assert "| 0 | 0 | 1 | 19 | – |" in shown(run)[0]

    def compare(place: int, row: Any) -> None:
        row["notes"]["equivalence"] = "equivalent" if place == 0 else "different"

    (line, *_) = card(changed(run, tmp_path / "gold", compare))["lines"]
    assert (line["stages"]["valid"], line["stages"]["equivalent"]) == (18, 1)


# ---- Who played


def test_a_card_counts_the_maps_of_the_training_that_were_played(
    runs: Path, tmp_path: Path
) -> None:
    run = runs / "eval-nano-quick"
    said = card(run)["model"]["trained for such games"]
    assert said.startswith("yes, by this project's training")
    assert "0 of the 20 maps played here" in said

    def see(place: int, row: Any) -> None:
        row["map_seen"] = row["game"] < 20005

    copy = changed(run, tmp_path / "seen", see)
    assert (
        "2 of the 20 maps played here" in card(copy)["model"]["trained for such games"]
    )
    assert card(copy)["lines"][0]["apart"] == 2


def test_nothing_is_claimed_of_the_training_of_other_models(
    runs: Path, tmp_path: Path
) -> None:
    run = tmp_path / "eval-other-quick"
    shutil.copytree(runs / "eval-nano-quick", run)
    for file in run.glob("*/run.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        del record["model"]["training_maps_sha256"]
        file.write_text(json.dumps(record), encoding="utf-8")
    write_card(run)
    assert card(run)["model"]["trained for such games"].startswith("unknown")
    assert (
        "trained for such games" not in card(runs / "eval-random_policy-quick")["model"]
    )


def test_hashes_stand_in_the_details_with_words(runs: Path) -> None:
    found = card(runs / "eval-nano-quick")
    hashes = re.compile("[0-9a-f]{16}")
    assert not [*filter(hashes.search, found["model"].values())]
    named = [name for name, value in found["details"].items() if hashes.search(value)]
    assert len(named) == 2
    assert all("SHA-256" in name for name in named)


def test_every_arm_of_the_suite_is_explained(runs: Path) -> None:
    assert WORDS["arms"].keys() == {*suite().arms, RANDOM}
    for text in shown(runs / "eval-nano-quick"):
        for arm in suite().size("quick").arms:
            assert WORDS["arms"][arm] in text


# ---- Comparisons of arms


def test_a_comparison_whose_arm_a_size_leaves_out_is_named(runs: Path) -> None:
    run = runs / "eval-nano-quick"
    (left_out,) = card(run)["not_compared"]
    assert (left_out["base"], left_out["other"]) == ("repair_grounded", "grounded")
    for text in shown(run):
        assert "not compared; the size quick leaves out repair_grounded" in text
    assert not card(runs / "eval-random_policy-quick")["not_compared"]


def test_a_comparison_whose_arm_the_server_cannot_play_is_named(
    runs: Path, tmp_path: Path
) -> None:
    run = tmp_path / "eval-served-quick"
    shutil.copytree(runs / "eval-nano-quick", run)
    entry = json.loads((run / RECORD).read_text(encoding="utf-8"))
    for play in entry["plays"]:
        if play["arm"] in ("typed", "grounded") and play["cell"]:
            play |= {"cell": "", "why": "the server does not obey lark"}
    (run / RECORD).write_text(json.dumps(entry), encoding="utf-8")
    write_card(run)
    assert not card(run)["comparisons"]
    found = card(run)["not_compared"]
    assert [pair["other"] for pair in found] == ["typed", "typed", "grounded"]
    assert "the server does not obey lark" in found[0]["why"]
    assert "typed → typed" in shown(run)[0]


# ---- Comparisons of two evaluations


def test_a_comparison_at_a_size_that_tests_nothing_has_no_verdict(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    names = ("eval-nano_early-quick", "eval-nano-quick")
    first, second = (runs / name for name in names)
    printed = pddlego("eval", "--compare", first, second, "--out", tmp_path).out
    page = tmp_path / "compare-nano_early-nano-quick.html"
    for text in (printed, page.read_text(encoding="utf-8")):
        assert WORDS["untested"] in text
        assert "+70 points (43 to 85 at 95 %)" in text
        assert not VERDICT.search(text.replace("The differences are shown", ""))
    pddlego("eval", "--compare", second, first, "--out", tmp_path)
    assert len([*tmp_path.glob("compare-*.html")]) == 2


def test_a_tested_comparison_says_at_which_level_its_intervals_are(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pddlego: Pddlego,
) -> None:
    names = ("eval-nano_early-quick", "eval-nano-quick")
    for conf in own_conf(tmp_path, monkeypatch):
        conf.change("suite/1.yaml", "tested: false", "tested: true")
        first, second = (runs / name for name in names)
        printed = pddlego("eval", "--compare", first, second, "--out", tmp_path).out
    tested, _, each = printed.partition("## Each part")
    assert WORDS["tested"] in tested
    table = [line for line in tested.splitlines() if line.startswith("| `")]
    levels = [re.findall(r"at ([\d.]+) %\) \| \*\*shown\*\*", line) for line in table]
    assert levels == [["98.75"], ["98.33"], ["95"], ["97.5"]]
    assert each.count("at 95 %)") == len(table)


def test_the_name_of_a_foreign_evaluation_does_not_leave_the_folder(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run = tmp_path / "foreign"
    shutil.copytree(runs / "eval-nano-quick", run)
    edited(run / RECORD, '"name": "nano"', '"name": "../../x y"')
    out = tmp_path / "out"
    pddlego("eval", "--compare", runs / "eval-nano-quick", run, "--out", out)
    assert {path.name for path in out.iterdir()} == {
        "compare-nano-.._.._x_y-quick.html",
        "compare-nano-.._.._x_y-quick.md",
    }


def test_an_evaluation_beside_itself_has_two_names(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run = runs / "eval-nano-quick"
    printed = pddlego("eval", "--compare", run, run, "--out", tmp_path).out
    assert "# eval-nano-quick (first) → eval-nano-quick (second)" in printed


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("random_policy", "nano"), "is the floor on the card of nano"),
        (("nano", "random_policy"), "is the floor on the card of nano"),
        (
            ("nano_edit", "nano"),
            "nano_edit played coin_edits; nano played coin_compact",
        ),
    ],
)
def test_two_that_share_no_arm_are_told_why_and_what_to_do(
    runs: Path, pddlego: Pddlego, pair: tuple[str, str], said: str
) -> None:
    first, second = (runs / f"eval-{name}-quick" for name in pair)
    assert said in pddlego("eval", "--compare", first, second, code=2).err


# ---- The page


def test_the_page_has_no_empty_heading_and_says_of_how_many(runs: Path) -> None:
    html = shown(runs / "eval-nano-quick")[1]
    assert "<th></th>" not in html
    assert "<td>10 of 20</td><td>20 of 20</td>" in html


@needs_chromium
@pytest.mark.parametrize("width", [400, 1300])
def test_a_card_is_as_wide_as_its_window_and_tables_scroll_within_it(
    runs: Path, width: int
) -> None:
    script = """
    const wide = [...shown.querySelectorAll('.wide')];
    const cut = wide.filter(each => each.scrollWidth > each.clientWidth);
    const reaches = [...shown.querySelectorAll('.wide, p, dl, ul')].map(
      each => each.getBoundingClientRect().right);
    return [shown.documentElement.scrollWidth, Math.max(...reaches), cut.length];
    """
    page = runs / "eval-nano-quick" / "card.html"
    scrolls, reaches, cut = map(float, measured(page, width, script).split(","))
    assert max(scrolls, reaches) <= width
    assert (cut > 0) == (width == 400)

"""Pages from records that were really played: what they show, and that they are the
same again.
"""

import json
import re
import shutil
import webbrowser
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from pddlego_local.cli import run
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_rows, transcripts
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.pages.episode import (
    MOST_LINES,
    difference,
    drawn_stages,
)
from pddlego_local.report.pages.readable import readable_file
from pddlego_local.report.verdicts import declared_in_words, verdicts
from tests.planted import FREE, SYNTAX, plant, wins
from tests.report.browser import loaded, measured, needs_chromium
from tests.report.test_report import write_cell
from tests.rows import row


class Text(HTMLParser):
    """All links and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        addressing = ("href", "src", "srcset")
        self.links += [value or "" for name, value in attributes if name in addressing]

    def handle_data(self, data: str) -> None:
        self.text += data


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file()
    }


def test_every_episode_has_a_page_and_every_link_leads_somewhere(
    played: Path, written: Path
) -> None:
    pages = list(written.rglob("*.html"))
    assert len(pages) == 1 + len([*transcripts(played)]) == 5
    for page in pages:
        for link in Text(page.read_text(encoding="utf-8")).links:
            address, _, fragment = link.partition("#")
            target = page.parent / unquote(address) if address else page
            assert target.is_file(), link
            assert not fragment or f'id="{fragment}"' in target.read_text(
                encoding="utf-8"
            ), link


def reported(folder: Path, code: int = 0) -> Path:
    """The report of the runs in a folder, beside them."""
    assert run(["report", str(folder / "runs"), "--out", str(folder / "out")]) == code
    return folder / "out"


def first_table(page: str) -> list[list[str]]:
    """Its lines."""
    table, *_ = re.findall("<table>.*?</table>", page, re.DOTALL)
    return [
        re.findall("<t[hd]>(.*?)</t[hd]>", line)
        for line in re.findall("<tr>.*?</tr>", table)
    ]


def test_the_first_page_begins_with_a_figure_and_a_table_that_leads_to_the_episodes(
    played: Path, written: Path
) -> None:
    page = (written / "index.html").read_text(encoding="utf-8")
    assert page.index("<h1>") < page.index("<img") < page.index("<table")
    assert page.index("How episodes ended") < page.index('id="results"')
    figures = re.findall(r'<img[^>]*src="(figures/\w+)\.', page)
    assert sorted(figures) == ["figures/outcomes", "figures/success"]  # each once
    (start, *_) = find_cells([played])[0].run.starts
    assert start.commit and start.commit in page
    head, *lines = first_table(page)
    assert head == ["model", "games", "success", "calls", "tokens of answers", "played"]
    assert (
        "In all rows: environment coin, method pddlego_plus, decoding typed,"
        in Text(page).text
    )
    for number, (line, name) in enumerate(
        zip(lines, ("random", "reference"), strict=True)
    ):
        assert line[0] == name and f'href="#cell={number}"' in line[-1]
        (first,) = re.findall(f'<tr id="cell={number}".*?</tr>', page)
        assert f'href="episodes/coin-pddlego_plus-{name}-' in first


def test_kinds_of_tasks_and_trials_are_tables_where_there_are_several(
    tmp_path: Path,
) -> None:
    def titles(*rows: EpisodeRow) -> list[str]:
        write_cell(tmp_path / "runs" / "cell", list(rows), "0-1")
        page = (reported(tmp_path) / "index.html").read_text(encoding="utf-8")
        return re.findall("<h2>(By kind of task|After each trial)</h2>", page)

    one, other = row("success", 0), row("success", 1, task_type="3 rooms")
    assert titles(one, row("success", 1)) == []
    assert titles(one, other) == ["By kind of task"]
    again = [row("solved_before", game, trial=1) for game in (0, 1)]
    assert titles(one, row("success", 1), *again) == ["After each trial"]


def planted(
    cell: Path, rung: str, rows: list[EpisodeRow], played: Path, seed: int = 0
) -> None:
    """A cell that was asked for five games; each row has a transcript, that of another
    game.
    """
    write_cell(cell, rows, "0-4", decoding=rung, seed=seed)
    (cell / "transcripts").mkdir()
    (transcript, _), *_ = transcripts(played)
    for one in rows:
        shutil.copy(transcript, cell / "transcripts" / f"{one.game}-{one.trial}.jsonl")


def asked(outcome: str, game: int) -> EpisodeRow:
    return row(outcome, game, calls=1)


def test_the_answer_and_the_games_that_one_arm_won_alone(
    played: Path, tmp_path: Path
) -> None:
    """Of games 0 to 4: both won one, each one alone, none one, and one is missing."""
    ends = {
        "free": ["success", "step_limit", "success", "game_lost", "success"],
        "typed": ["success", "success", "solver_abort", "game_lost"],
    }
    for rung, outcomes in ends.items():
        rows = [asked(outcome, game) for game, outcome in enumerate(outcomes)]
        planted(tmp_path / "runs" / rung, rung, rows, played)
    page = (reported(tmp_path) / "index.html").read_text(encoding="utf-8")
    found = compared(find_cells([tmp_path / "runs"]))
    (verdict,) = verdicts(found)
    first = Text(page[: page.index("Games that one arm won")]).text
    for told in (declared_in_words(found), verdict.word, verdict.text):
        assert told.replace("`", "") in first.replace("`", "")
    for told in ("free", "typed", "50.0 %", "+0 points (-"):
        assert told in first
    counts = "1 won by typed alone, 1 by free alone, 1 by both, 1 by neither"
    assert f"free → typed: {counts}" in Text(page).text
    games = re.findall(
        r"<b>game (\d), won by (\w+)</b><span>11 rooms</span>(.*?)</div>",
        page,
        re.DOTALL,
    )
    assert [(game, won_by) for game, won_by, _ in games] == [
        ("1", "typed"),
        ("2", "free"),
    ]
    for game, _, line in games:
        assert Text(line).links == [
            f"episodes/{rung}/{game}-0.html" for rung in ("free", "typed")
        ]
        assert [ends[rung][int(game)] for rung in ends] == re.findall(
            ">([a-z_]+)</a>", line
        )
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    order = ["# Verdicts", "# How episodes ended", "# Games that one arm", "# Results"]
    assert sorted(order, key=report.index) == order
    assert "1 won by typed alone (game 1), 1 by free alone (game 2)" in report


def test_a_report_of_one_arm_shows_the_games_that_it_lost_and_where(
    played: Path, tmp_path: Path
) -> None:
    rows = [asked("success", 0), asked("solver_abort", 1)]
    planted(tmp_path / "runs" / "free", "free", rows, played)
    page = (reported(tmp_path) / "index.html").read_text(encoding="utf-8")
    lost = page[page.index('<h2 id="lost">') : page.index('<h2 id="results">')]
    assert re.findall("<b>(game .)</b>", lost) == ["game 1"]
    assert "the last file of the lost game, step " in lost and "<svg" in lost
    assert "episodes/free/1-0.html#step-" in lost
    assert page.index("How episodes ended") < page.index('<h2 id="lost">')


def test_what_the_papers_report_stands_folded_at_the_end(
    played: Path, written: Path
) -> None:
    page = (written / "index.html").read_text(encoding="utf-8")
    folded = page[page.index('<details id="papers">') :]
    assert folded.count("<details") == 1 and "<table" in folded
    assert page.index("Settings of each cell") < page.index('<details id="papers">')


def test_arms_of_one_name_are_told_apart_in_the_same_game(
    played: Path, tmp_path: Path
) -> None:
    arms = {"a": ("free", "any"), "b": ("typed", "any"), "c": ("typed", "line")}
    for name, (rung, layout) in arms.items():
        cell = tmp_path / "runs" / name
        planted(cell, rung, [asked("success", 0)], played)
        record = json.loads((cell / "run.json").read_text(encoding="utf-8"))
        record["identity"]["decoding"]["layout"] = layout
        (cell / "run.json").write_text(json.dumps(record), encoding="utf-8")
    page = reported(tmp_path) / "episodes" / "a" / "0-0.html"
    told = " ".join(Text(page.read_text(encoding="utf-8")).text.split())
    assert "typed, layout any success" in told and "typed, layout line" in told


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("success", "won"),
        ("solver_abort", "lost"),
        ("success_at_start", "won at the start"),
        ("solved_before", "won in an earlier trial"),
        ("unsolvable_game", "no solution"),
    ],
)
def test_an_episodes_title_says_how_the_game_went(
    played: Path, tmp_path: Path, outcome: str, told: str
) -> None:
    planted(tmp_path / "runs" / "free", "free", [asked(outcome, 3)], played)
    page = (reported(tmp_path) / "episodes" / "free" / "3-0.html").read_text(
        encoding="utf-8"
    )
    assert f"<h1>Game 3, trial 0: {told}</h1>" in page
    assert f"<title>3-0, {told} ·" in page


def test_code_in_a_verdict_is_code_on_its_page(tmp_path: Path) -> None:
    for rung in (FREE, SYNTAX):
        plant(tmp_path / "runs", rung, outcomes=wins([0], range(3)))
    out = reported(tmp_path)
    assert "The layout `line` comes with" in (out / "report.md").read_text(
        encoding="utf-8"
    )
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "The layout <code>line</code> comes with the grammar." in page


def test_an_episode_leads_to_its_neighbours_and_to_the_same_game_elsewhere(
    played: Path, tmp_path: Path
) -> None:
    """Two rungs, two seeds; one arm has not played game 1, and has no transcript of
    game 2.
    """
    for seed, outcome in enumerate(("step_limit", "success")):
        for rung, games in {"free": (0, 1, 2), "typed": (0, 2)}.items():
            rows = [asked(outcome, game) for game in games]
            planted(tmp_path / "runs" / f"{rung}{seed}", rung, rows, played, seed)
    (tmp_path / "runs" / "typed0" / "transcripts" / "2-0.jsonl").unlink()
    page = reported(tmp_path, code=1) / "episodes" / "free0"
    found = {
        game: Text((page / f"{game}-0.html").read_text(encoding="utf-8"))
        for game in range(3)
    }
    assert [link for link in found[1].links if "free0" in link] == [
        "../../episodes/free0/0-0.html", "../../episodes/free0/2-0.html"
    ]  # fmt: skip
    for game, typed in enumerate(["typed step_limit", "typed –", "typed step_limit"]):
        (told,) = re.findall("The same game(.*?)Steps", found[game].text, re.DOTALL)
        assert (
            " ".join(told.split()) == f"decoding.rungfree · {typed} seed0 · 1 success"
        )
    elsewhere = [
        link for link in found[0].links if "free0" not in link and "episodes/" in link
    ]
    assert elsewhere == [
        "../../episodes/typed0/0-0.html",
        "../../episodes/free1/0-0.html",
    ]
    assert not any("typed0" in link for link in found[2].links)  # it has no page there


def test_a_transcript_that_is_lost_or_cannot_be_read_takes_no_other_page_away(
    played: Path, tmp_path: Path
) -> None:
    shutil.copytree(played, tmp_path / "played")
    (lost, _), (torn, _), *_ = list(transcripts(tmp_path / "played"))
    lost.unlink()
    torn.write_text("no JSON\n{}\n", encoding="utf-8")
    assert (
        run(["report", str(tmp_path / "played"), "--out", str(tmp_path)]) == 1
    )  # it is told
    assert len(list((tmp_path / "episodes").rglob("*.html"))) == 3
    page = tmp_path / "episodes" / torn.parent.parent.name / f"{torn.stem}.html"
    shown = Text(page.read_text(encoding="utf-8")).text
    assert "The transcript cannot be read" in shown and "line 1 is not JSON" in shown
    assert "4 of 4 episodes" in " ".join(
        Text((tmp_path / "index.html").read_text(encoding="utf-8")).text.split()
    )


def test_the_same_records_give_the_same_bytes(
    played: Path, written: Path, tmp_path: Path
) -> None:
    assert run(["report", str(played), "--out", str(tmp_path)]) == 0
    assert files_of(tmp_path) == files_of(written)


def test_open_writes_into_the_run_and_opens_its_first_page(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    shutil.copytree(played, tmp_path / "a run")
    assert run(["report", str(tmp_path / "a run"), "--open"]) == 0
    assert opened == [(tmp_path / "a run" / "index.html").as_uri()]
    assert run(["report", str(tmp_path / "a run"), str(played), "--open"]) == 2
    assert len(opened) == 1


def test_stages_tell_what_was_rolled_back_and_what_was_forced(played: Path) -> None:
    calls = [
        e for _, events in transcripts(played) for e in events if isinstance(e, Call)
    ]
    staged = [call for call in calls if call.stages]
    assert staged and any(call.rollbacks for call in staged)
    for call in staged:
        text = ""
        for stage, taken_back, forced, chosen in drawn_stages(call):
            assert len(taken_back) == stage.drop
            assert text.endswith(taken_back)
            text = text.removesuffix(taken_back) + forced + chosen
        assert text == call.text


def test_the_difference_of_two_files_in_any_layout() -> None:
    before = "(define (problem p) (:domain d) (:init (at a) (way a b)) (:goal (at b)))"
    after = (
        "(define (problem p)\n(:domain d)\n(:init (at a) (way a b)\n (way b c))(:goal"
        " (at c)))"
    )
    old, new = readable_file(before), readable_file(after)
    lines = difference(old, new)
    changed = [(line.change, line.text.strip()) for line in lines if line.change]
    assert changed == [
        ("new", "(way b c)"),
        ("gone", "(:goal (at b))"),
        ("new", "(:goal (at c))"),
    ]
    in_old = [line.text for line in lines if line.change != "new"]
    in_new = [line.text for line in lines if line.change != "gone"]
    assert (in_old, in_new) == (old.split("\n"), new.split("\n"))
    assert not any(line.change for line in difference(new, new))
    assert readable_file("no (PDDL") == "no (PDDL"


@pytest.mark.parametrize(("count", "left"), [(MOST_LINES, 0), (MOST_LINES + 2, 2)])
def test_files_that_are_too_long_to_compare_are_cut(count: int, left: int) -> None:
    written = [f"({number})" for number in range(count)]
    shown = [line.text for line in difference("(0)", "\n".join(written))]
    assert shown[:MOST_LINES] == written[:MOST_LINES]
    more = [f"… ({left} more lines: see the transcript)"] if left else []
    assert shown[MOST_LINES:] == more


@needs_chromium
def test_a_browser_filters_by_outcome_and_answer(played: Path, written: Path) -> None:
    rows = [row for path in played.rglob("episodes.jsonl") for row in read_rows(path)]
    lost = sum(not row.success for row in rows)
    assert 0 < lost < len(rows)
    index = written / "index.html"
    for fragment, count in [("", len(rows)), ("#outcome=solver_abort", lost),
                            ("#outcome=success&model=random", 0)]:  # fmt: skip
        page = loaded(index, fragment)
        assert f'<span id="shown">{count}</span>' in page
        assert len(re.findall(r"<tr [^>]*hidden", page)) == len(rows) - count


@needs_chromium
def test_pages_are_as_wide_as_a_phone(written: Path) -> None:
    for page in (written / "index.html", *written.glob("episodes/*/1-0.html")):
        width = measured(page, 360, "return shown.documentElement.scrollWidth")
        assert int(width) <= 360, page


@needs_chromium
def test_the_first_table_needs_no_scrolling_and_the_figure_is_on_the_first_screen(
    written: Path,
) -> None:
    script = """
        const box = shown.querySelector('table').parentElement;
        const top = shown.querySelector('img').getBoundingClientRect().top;
        return [box.scrollWidth - box.clientWidth, top < 400].join()"""
    assert measured(written / "index.html", 1280, script) == "0,true"


@needs_chromium
def test_a_click_on_a_head_sorts_by_its_column(written: Path) -> None:
    script = """
        const heads = [...shown.querySelectorAll('#rows th')];
        const head = heads.find((head) => head.textContent == 'calls');
        const calls = () => [...shown.querySelectorAll('#rows tbody tr')].map(
          (row) => parseFloat(row.cells[head.cellIndex].textContent));
        const told = [calls()];
        for (const _ of [1, 2]) { head.firstChild.click(); told.push(calls()) }
        return JSON.stringify(told)"""
    before, up, down = json.loads(measured(written / "index.html", 1280, script))
    assert before != up == sorted(before) and down == up[::-1]

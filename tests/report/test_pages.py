"""Pages from records that were really played: what they show, and that they are the same again."""

import json
import re
import shutil
import webbrowser
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from pddlego_local.cli import run
from pddlego_local.events import Call, Plan
from pddlego_local.record import read_rows, transcripts
from pddlego_local.report.pages.answers import drawn_stages
from pddlego_local.report.pages.differences import difference, readable_file
from tests.report.browser import loaded, needs_chromium, width_at


class Text(HTMLParser):
    """All links and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        addressing = ("href", "src", "srcset")
        self.links += [value or "" for name, value in attributes if name in addressing]

    def handle_data(self, data: str) -> None:
        self.text += data


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_episode_has_a_page_and_every_link_leads_somewhere(
    played: Path, written: Path
) -> None:
    pages = list(written.rglob("*.html"))
    episodes = [path for path, _ in transcripts(played)]
    assert len(pages) == 1 + len(episodes) == 5
    for page in pages:
        for link in Text(page.read_text()).links:
            address, _, fragment = link.partition("#")
            target = page.parent / unquote(address) if address else page
            assert target.is_file(), link
            assert not fragment or f'id="{fragment}"' in target.read_text(), link


def test_an_episodes_page_tells_all_of_its_transcript(played: Path, written: Path) -> None:
    for path, events in transcripts(played):
        page = written / "episodes" / path.parent.parent.name / f"{path.stem}.html"
        shown = " ".join(Text(page.read_text()).text.split())
        for event in events:
            told = (
                [message.content for message in event.messages] if isinstance(event, Call) else []
            )
            told += [event.message, *event.plan] if isinstance(event, Plan) else []
            for text in told:
                assert " ".join(text.split()) in shown


def test_the_first_page_holds_the_reports_tables_and_how_it_was_run(
    played: Path, written: Path
) -> None:
    shown = Text((written / "index.html").read_text()).text
    for line in (written / "report.md").read_text().splitlines():
        for cell in line.strip("|").split("|") if line.startswith("| coin") else ():
            assert cell.strip() in shown
    (start, *_) = json.loads(next(played.rglob("run.json")).read_text())["starts"]
    assert start["commit"] in shown and start["packages"]["outlines"] in shown


def test_the_same_records_give_the_same_bytes(played: Path, written: Path, tmp_path: Path) -> None:
    assert run(["report", str(played), "--out", str(tmp_path)]) == 0
    assert files_of(tmp_path) == files_of(written)


def test_an_episode_without_its_transcript_is_listed_without_a_link(
    played: Path, tmp_path: Path
) -> None:
    shutil.copytree(played, tmp_path / "played")
    for path, _ in list(transcripts(tmp_path / "played"))[:1]:
        path.unlink()
    assert run(["report", str(tmp_path / "played"), "--out", str(tmp_path)]) == 0
    assert len(list((tmp_path / "episodes").rglob("*.html"))) == 3
    assert "4 of 4 episodes" in " ".join(Text((tmp_path / "index.html").read_text()).text.split())


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
    calls = [e for _, events in transcripts(played) for e in events if isinstance(e, Call)]
    staged = [call for call in calls if call.stages]
    assert staged and any(call.rollbacks for call in staged)
    for call in staged:
        text = ""
        for drawn in drawn_stages(call):
            assert len(drawn.taken_back) == drawn.stage.drop
            assert text.endswith(drawn.taken_back)
            text = text.removesuffix(drawn.taken_back) + drawn.forced + drawn.chosen
        assert text == call.text


def test_the_difference_of_two_files_in_any_layout() -> None:
    before = "(define (problem p) (:domain d) (:init (at a) (way a b)) (:goal (at b)))"
    after = "(define (problem p)\n(:domain d)\n(:init (at a) (way a b)\n (way b c))(:goal (at c)))"
    lines = difference(readable_file(before), readable_file(after))
    changed = [(line.change, line.text.strip()) for line in lines if line.change]
    assert changed == [("new", "(way b c)"), ("gone", "(:goal (at b))"), ("new", "(:goal (at c))")]
    assert all(not line.change for line in difference(readable_file(after), readable_file(after)))
    assert readable_file("no (PDDL") == "no (PDDL"


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
        assert width_at(page, 360) <= 360, page

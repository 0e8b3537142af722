"""Whatever a model, a game or a file is called or says: a page shows text and runs
nothing.
"""

import dataclasses
import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pddlego_local.core.formats import to_json
from pddlego_local.core.nouns import Message
from pddlego_local.core.record.events import Event
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.pages.rendering import MOST_CHARACTERS
from pddlego_local.report.pages.site import write_pages
from tests.core.test_events import EVERY_EVENT
from tests.report.browser import loaded, needs_chromium
from tests.report.test_report import write_cell
from tests.rows import row

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    "</style><script>document.title='owned'</script>",
    "</pre></details><img src=x onerror=\"document.title='owned'\">",
    "\"'><svg onload=\"document.title='owned'\">",
    "' onmouseover='document.title=\"owned\"' x='",
    "<iframe src=\"javascript:parent.document.title='owned'\"></iframe>",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- <meta http-equiv='refresh' content='0;url=https://example.org'>",
    "[x](javascript:alert(1)) ![y](https://example.org/z.png) <b>",
    "&lt;b&gt; &#60;script&#62;",
    "\x00\x1b[31m\x07\u202e\u2028\ud800 end",
]
NAMED_BY_US = (
    "event",
    "outcome",
    "finish_reason",
    "name",
    "grammar",
    "role",
)  # no free text


class Skeleton(HTMLParser):
    """The tags of a page with their attributes' names, scripts and styles with their
    content.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        self._inside = tag
        self.parts.append((tag, *(name for name, _ in attributes)))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""
        self.parts.append(tag)

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.parts.append(data)


def filled(value: Any, text: str) -> Any:
    """A copy in which every free text, at any depth, is `text`."""
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(filled(item, text) for item in value)
    if isinstance(value, dict):
        return {
            text if isinstance(key, str) else key: filled(v, text)
            for key, v in value.items()
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name for field in dataclasses.fields(value)} - set(NAMED_BY_US)
        kept = {"causes", "fault"} if not isinstance(value, Message) else set()
        return dataclasses.replace(
            value,
            **{name: filled(getattr(value, name), text) for name in fields - kept},
        )
    return value


def cell_of(folder: Path, events: list[Event], text: str = "") -> CellRecord:
    """A cell of one episode; its labels, settings and versions say `text`."""
    write_cell(folder, [row("success", game=7)], "7", variant=text or "plain")
    (folder / "transcripts").mkdir()
    lines = "".join(to_json(event) + "\n" for event in events)
    (folder / "transcripts" / "7-0.jsonl").write_bytes(
        lines.encode(errors="surrogatepass")
    )
    (cell,) = find_cells([folder])
    (start,) = cell.run.starts
    start = dataclasses.replace(start, command=[text], commit=text, python=text)
    run = dataclasses.replace(
        cell.run, labels=dict.fromkeys(cell.run.labels, text), starts=[start]
    )
    return dataclasses.replace(cell, run=run)


def write(cell: CellRecord, tables: str, out: Path) -> Path:
    numbers, found = report_numbers([cell]), compared([cell])
    return write_pages([cell], numbers, found, tables, tables, out, "")


def pages(folder: Path, text: str, report: str = "# Results") -> list[Path]:
    """All pages of a record that says `text` wherever it can."""
    folder.mkdir()
    cell = cell_of(
        folder / "cell", [filled(event, text) for event in EVERY_EVENT], text
    )
    write(cell, report, folder / "out")
    return sorted((folder / "out").rglob("*.html"))


def skeleton(page: Path) -> list[Any]:
    return Skeleton(page.read_text(encoding="utf-8")).parts


def test_hostile_text_makes_no_element_and_no_attribute(tmp_path: Path) -> None:
    harmless = [skeleton(page) for page in pages(tmp_path / "harmless", "x")]
    assert len(harmless) == 2 and all(len(parts) > 50 for parts in harmless)
    for number, text in enumerate(HOSTILE):
        for before, page in zip(
            harmless, pages(tmp_path / str(number), text), strict=True
        ):
            assert skeleton(page) == before, text


def test_hostile_text_is_shown_as_it_is(tmp_path: Path) -> None:
    for number, text in enumerate(HOSTILE[:-1]):
        page, _ = pages(tmp_path / str(number), text)
        assert html.unescape(page.read_text(encoding="utf-8")).count(text) > 20, text
    page, _ = pages(tmp_path / "controls", HOSTILE[-1])
    shown = page.read_text(encoding="utf-8")
    assert "␀␛[31m␇⟨U+202E⟩" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", shown)


def test_hostile_names_in_the_reports_tables_make_no_element(tmp_path: Path) -> None:
    for number, text in enumerate(HOSTILE):
        report = f"# Results\n\n| a |\n| --- |\n| {text} |\n"
        _, index = pages(tmp_path / str(number), "x", report)
        parts = skeleton(index)
        assert sum(part in ("script", "style") for part in parts) == 2, text
        assert not any(part[0] in ("img", "svg", "iframe") for part in parts), text
        assert "javascript:" not in re.sub(
            r">[^<]*<", "", index.read_text(encoding="utf-8")
        ), text


def test_folders_and_files_with_hostile_names_are_linked_and_nothing_else(
    tmp_path: Path,
) -> None:
    name = "a'b\"<c>#%41?{{d}} é"
    cell = cell_of(tmp_path / name, [filled(event, "x") for event in EVERY_EVENT])
    written = write(cell, "# Results", tmp_path / "out")
    index = written.read_text(encoding="utf-8")
    (address,) = re.findall(r'<a href="(episodes/[^"]*)"', index)
    assert (tmp_path / "out" / unquote(html.unescape(address))).is_file()


def test_endless_and_deep_texts_keep_a_page_small(tmp_path: Path) -> None:
    deep = "(" * 5000 + ")" * 5000
    for number, text in enumerate(["x" * 300_000, deep, "(at b)\n" * 20_000]):
        page, _ = pages(tmp_path / str(number), text)
        assert page.stat().st_size < 60 * MOST_CHARACTERS
        assert (
            ": see the transcript" in page.read_text(encoding="utf-8") or text == deep
        )


@needs_chromium
def test_nothing_runs_in_a_browser(tmp_path: Path) -> None:
    everything = " ".join(HOSTILE[:-1])
    for page in pages(tmp_path / "all", everything, f"# Results\n\n{everything}"):
        assert "<title>owned" not in loaded(page)

"""The site's navigation (mkdocs.yml) has every page once; `make docs` checks links and
anchors.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from tools.pages.records import ROOT


def pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from pages(part)


def test_the_navigation_has_every_page_once() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    there = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    there.append(ROOT / "serving/README.md")
    for name in ("docs", "examples", "weights", "integrations"):
        folder = ROOT / name
        there += folder.glob("*.md")
        there += folder.glob("[!.]*/**/*.md")
    expected = sorted(str(page.relative_to(ROOT)) for page in there)
    assert sorted(pages(config["nav"])) == expected


def test_no_page_links_to_an_archive_which_the_site_does_not_have() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert ".tar.xz)" not in page.read_text(encoding="utf-8"), page

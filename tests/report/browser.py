"""A headless Chromium, where this machine has one."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def loaded(page: Path, fragment: str = "", waits: Sequence[str] = ()) -> str:
    """The document as it stands once its scripts have run. Files may read each other.
    `waits` are further options.
    """
    assert CHROMIUM
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
    )
    done = subprocess.run(
        [CHROMIUM, *options, *waits, "--dump-dom", f"{page.as_uri()}{fragment}"],
        capture_output=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def measured(page: Path, width: int, script: str) -> str:
    """What a script of ours finds in the page, which is `shown` there, in a window of
    `width` pixels: the value of its last line's `return`. It may `await` something.
    """
    frame = page.parent / "frame.html"
    frame.write_text(
        f'<iframe id="page" src="{page.name}" style="width: {width}px; border:'
        ' 0"></iframe>'
        "<script>window.onload = () => { const shown = document.getElementById('page')"
        f".contentDocument; (async () => {{ {script} }})().then((found) =>"
        " { document.title = 'found ' + found }) }</script>",
        encoding="utf-8",
    )
    try:
        told = loaded(frame, waits=["--virtual-time-budget=5000"])
        return told.partition("<title>found ")[2].partition("<")[0]
    finally:
        frame.unlink()

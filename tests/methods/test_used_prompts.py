"""A cell's prompts are hashed by themselves: what another variant or method of the same
folder uses may change while the cell is unfinished.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.run_record import read_run
from pddlego_local.environments import family
from pddlego_local.methods import prompting
from pddlego_local.runner.config import compose_cell

COIN = "pddlego_local.environments.coin"
PLUS = prompting._FOLDER / "pddlego_plus"


def caches_clear() -> None:
    prompting.files_of.cache_clear()
    family.words.cache_clear()
    if prompting._JINJA.cache is not None:
        prompting._JINJA.cache.clear()


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's prompts that may be changed."""
    copy = Path(shutil.copytree(str(prompting._FOLDER), tmp_path / "prompts"))
    monkeypatch.setattr(prompting, "_FOLDER", copy)
    caches_clear()
    return copy


def play(out: Path, games: str, **options: Any) -> Path:
    fixed: dict[str, Any] = {
        "environment": "coin",
        "environment__rooms": 4,
        "model": "reference",
    }
    (cell,) = pddlego_local.run(**fixed, **options, games=games, run__out=out)
    return cell


COMPACT = {"method": "pddlego_plus", "method__variant": "compact"}


@pytest.mark.parametrize(
    ("options", "file", "goes_on"),
    [
        (COMPACT, "pddlego_plus/prompt.jinja", True),
        (COMPACT, "pddlego_plus/compact.jinja", False),
        ({"method": "pddl_edit"}, "pddlego/problem.jinja", True),
        ({"method": "pddl_edit"}, "pddlego/seen.jinja", False),
        ({"method": "deps"}, "deps/situation.jinja", False),
    ],
)
def test_one_line_in_another_variant_refuses_no_cell(
    options: Mapping[str, Any], file: str, goes_on: bool, prompts: Path, tmp_path: Path
) -> None:
    cell = play(tmp_path, "3", **options)
    before = read_run(cell)
    path = prompts / file
    path.write_text(
        (path.read_text(encoding="utf-8") if path.exists() else "")
        + "One line more.\n",
        encoding="utf-8",
    )
    caches_clear()
    if not goes_on:
        with pytest.raises(
            ConfigError, match=r"begun with other prompts: choose another `name`"
        ):
            play(tmp_path, "3,5", **options)
        return
    play(tmp_path, "3,5", **options)
    after = read_run(cell)
    assert len(after.starts) == 2
    assert len(pddlego_local.load(cell)) == 2
    assert (
        after.prompt_sha256 == before.prompt_sha256
    )  # as the folder was when it was begun


@pytest.mark.parametrize(
    ("key", "changes"), [("brief", True), ("rules", False), ("edit_notes", False)]
)
def test_words_count_where_the_variant_names_them(
    key: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = prompting.used_sha256("pddlego_plus", COIN, ("compact",))
    words = family.words(COIN, "prompts/environment.yaml") | {key: ["another"]}
    monkeypatch.setattr(family, "words", lambda *_: words)
    assert (
        prompting.used_sha256("pddlego_plus", COIN, ("compact",)) != before
    ) is changes


@pytest.mark.parametrize(
    "words",
    [
        "environment=coin method=pddlego_plus",
        "environment=coin method=pddlego method.variant=compact",
        "environment=cooking_easy method=pddl_edit",
        "environment=described method=formalizer_two_step",
        "environment=described method=formalizer_problem",
    ],
)
def test_a_method_names_all_templates_that_it_renders(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = compose_cell(words.split()).build("method")
    allowed = prompting._with_included(method.prompts, method.templates).keys()
    rendered = set[str]()
    read = prompting._text

    def text(name: str) -> str:
        rendered.add(name)
        return read(name)

    monkeypatch.setattr(prompting, "_text", text)
    caches_clear()
    options: dict[str, Any] = dict(
        word.replace(".", "__").split("=") for word in words.split()
    )
    pddlego_local.run(**options, model="reference", games="3-4", run__out=tmp_path)
    assert rendered
    assert rendered <= allowed

"""What a model or a game says reaches a terminal as text: no control character, no
markup.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given

from pddlego_local.cli import run
from pddlego_local.core.formats import to_json
from pddlego_local.core.record.events import Event
from pddlego_local.core.visible import visible
from tests.core.test_events import EVERY_EVENT
from tests.fuzz.hostile import PIECES, TEXTS, fuzz
from tests.pddlego import Pddlego
from tests.report.test_hostile_text import filled

ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(pddlego: Pddlego, folder: Path, events: list[Event]) -> str:
    (folder / "transcripts").mkdir(exist_ok=True)
    lines = "".join(to_json(event) + "\n" for event in events)
    (folder / "transcripts" / "7-0.jsonl").write_bytes(lines.encode(errors="replace"))
    return pddlego("show", folder, 7, "--prompts").out


@fuzz(0.1)
@given(TEXTS)
def test_hostile_text_acts_on_no_terminal(text: str) -> None:
    assert not ACTS.search(visible(text))


def test_a_transcript_of_hostile_texts_is_shown_and_acts_on_nothing(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    for text in ("".join(PIECES), "[/] [bold] \\[x] [link=file:///]", "\ud800"):
        told = shown(pddlego, tmp_path, [filled(event, text) for event in EVERY_EVENT])
        assert not ACTS.search(told)
        assert told.count("[bold") >= text.count("[bold")


def test_hostile_files_are_checked_and_planned_without_acting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[31mred\x9b2J"
    domain, problem = tmp_path / "d.pddl", tmp_path / "p.pddl"
    domain.write_text(
        f"(define (domain d) (:predicates (g)) (:action {name} :parameters () :effect"
        " (g)))",
        encoding="utf-8",
    )
    for goal in ("(g)", f"({name})"):
        problem.write_text(
            f"(define (problem p) (:domain d) (:init) (:goal {goal}))", encoding="utf-8"
        )
        for command in ("check", "plan"):
            run([command, str(domain), str(problem)])
            told = capsys.readouterr()
            assert told.out
            assert not ACTS.search(told.out + told.err)
    assert run(["show", str(tmp_path / name), "7"]) == 2
    assert not ACTS.search(capsys.readouterr().err)

"""What a reader of a transcript sees of tokens, stages and rollbacks."""

from pathlib import Path

from pddlego_local.core.formats import to_json
from pddlego_local.core.record.events import Event, Note
from tests.core.test_events import EVERY_EVENT
from tests.pddlego import Pddlego
from tests.report.test_hostile_text import cell_of, filled
from tests.report.test_report import write_cell
from tests.rows import call, row, stage


def write_transcript(cell: Path, *events: Event) -> Path:
    """Writes the beginning of game 7 of a cell."""
    transcript = cell / "transcripts" / "7-0.jsonl"
    transcript.parent.mkdir(parents=True)
    lines = "".join(f"{to_json(event)}\n" for event in events)
    transcript.write_text(lines, encoding="utf-8")
    return transcript


def test_forced_tokens_and_rollbacks_are_shown(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    types = stage(text="(:types a a)", completion_tokens=12)
    again = stage(
        before="(:types a", text=" b)", completion_tokens=8, drop=3, forced_tokens=5
    )
    event = call(completion_tokens=20, forced_tokens=5, stages=(types, again))
    transcript = write_transcript(tmp_path, event, call(forced_tokens=0))
    shown, told = pddlego("show", tmp_path, 7, code=1)  # the transcript has no end
    assert f"{transcript} has no end: a part of the episode is lost" in told
    assert "20 tokens of which 5 forced, 0.50 s" in shown
    assert "stages, tokens: types 12, ↩ types 8 (5 forced)" in shown
    assert "10 tokens, 0.50 s" in shown


def test_an_episode_of_the_only_cell_below_a_run(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    runs = tmp_path / "runs"
    write_transcript(runs / "a", call())
    pddlego("show", runs, 7, code=1)
    pddlego("show", runs / "a", 7, code=1)
    assert "there are: 7-0" in pddlego("show", runs, 8, code=2).err
    write_transcript(runs / "b", call())
    told = pddlego("show", runs, 7, code=2).err
    assert f"holds 2 cells; name one, such as {runs}/a" in told


RICH = ":door: [bold]b[/bold] [/] [red] [link=x]y[/link] \\[dim] a\\"
"""What rich reads as its markup, as an emoji, and as an escape of what follows."""


def test_texts_of_models_games_and_files_are_literal(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """Whatever a record says is shown as any other word would be."""
    shown: list[str] = []
    for text in ("WORD", RICH):
        folder = tmp_path / f"{len(shown)}-[bold]:door:[a]"
        events = [filled(event, text) for event in EVERY_EVENT]
        cell_of(folder, events, text)
        shown.append(pddlego("show", folder, 7, "--prompts", code=(0, 1)).out)
    plain, rich = shown
    assert plain.count("WORD") > len(EVERY_EVENT)
    assert rich == plain.replace("WORD", RICH)


def test_two_values_make_no_markup_together(tmp_path: Path, pddlego: Pddlego) -> None:
    begun = filled(EVERY_EVENT[0], "[bold")
    cell_of(tmp_path / "cell", [begun, Note(facts={"[n": "f] now"})])
    shown = pddlego("show", tmp_path, 7, code=1).out
    assert "note [n: f] now" in shown
    assert "[bold" in shown


def test_names_of_cells_are_literal(tmp_path: Path, pddlego: Pddlego) -> None:
    for name in ("[bold]:door:[a]", "[red]b"):
        write_cell(tmp_path / name, [row()], "0")
    shown = pddlego("show", tmp_path).out
    assert "[bold]:door:[a]" in shown
    assert "[red]b" in shown

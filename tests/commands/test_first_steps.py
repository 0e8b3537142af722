"""What somebody types in the first hour: help, version, completion, and a first run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.commands.shared.screen import show
from pddlego_local.commands.shared.watch import Picture
from pddlego_local.core.record.events import ActionTaken, Plan, Where
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego


def test_the_version_is_told(pddlego: Pddlego) -> None:
    assert re.fullmatch(r"pddlego_local \d+\.\d+\.\d+\n", pddlego("--version").out)


def test_the_help_of_run_names_its_options_and_no_file_that_is_no_choice(
    pddlego: Pddlego,
) -> None:
    told = pddlego("run", "--help").out
    for word in (
        "-m ",
        "--dry-run",
        "--config-dir",
        "model=",
        "experiment=",
        "max_hours",
    ):
        assert word in told
    choices = told[told.index("Choices") : told.index("Settings")]
    for path in folder("conf").glob("*/*.yaml"):
        assert path.stem in choices or path.parent.name == "suite"
    assert not re.search(r"\b_\w+", choices)


def test_the_help_of_run_lists_the_choices_in_ones_own_folder(
    pddlego: Pddlego, tmp_path: Path
) -> None:
    own = tmp_path / "model" / "mine.yaml"
    own.parent.mkdir()
    own.write_text("defaults: [nano]", encoding="utf-8")
    told = pddlego("run", "--help", "--config-dir", str(tmp_path)).out
    offered = re.findall(
        r"\w+", told[told.index("  model=") : told.index("  decoding=")]
    )
    assert {"mine", "nano"} <= {*offered}
    assert "mine" not in pddlego("run", "--help").out
    refused = pddlego("run", "-cd", str(tmp_path), "model=mne", code=2).err
    assert "did you mean mine?" in refused


def test_what_is_no_choice_is_not_offered_for_one_that_is_misspelt(
    pddlego: Pddlego, tmp_path: Path
) -> None:
    for group, choice in (("experiment", "smoke"), ("decoding", "syntax")):
        told = pddlego("run", f"{group}=nonsense", f"run.out={tmp_path}", code=2).err
        assert choice in told
        assert not re.search(r"^\s*_", told, re.MULTILINE)


def test_a_run_ends_with_its_table_and_the_next_command(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = ["environment.rooms=3,5", "games=0-4", f"run.out={tmp_path}", "-m"]
    told = pddlego("run", *words).out
    assert "environment.rooms=3" in told
    assert "100.0 % [" in told
    (command,) = re.findall(r"next: pddlego (.*?) --open ", told)
    pddlego(*command.split(), "--without-pages")


@pytest.mark.parametrize(
    ("overrides", "new"),
    [
        ("method.variant=compact", ""),
        ("method.variant=compact method=pddlego decoding=grounded", ""),
        ("method=plangen", "method.prompts=plangen, method.variant=None"),
        ("method.variant=compact environment=cooking", "environment=cooking"),
    ],
)
@pytest.mark.parametrize(
    "model", ["model=nano", "model=transformers model.weights=nano_early"]
)
def test_a_small_model_that_is_asked_what_it_never_learned_is_told(
    overrides: str, new: str, model: str
) -> None:
    cell = compose_cell([*model.split(), *overrides.split()])
    warnings = training_warnings([cell])
    if new:
        (warning,) = warnings
        assert "trained on environment=coin" in warning
        assert f"it never saw {new}," in warning
    else:
        assert not warnings


def test_the_warning_stands_before_the_first_episode_and_once_a_model(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = ["-m", "model=nano", "environment=coin,cooking", "seed=0,1"]
    words.append(f"run.out={tmp_path}")
    told = pddlego("run", *words, "--dry-run").out
    assert told.count("warning: model=nano was trained on") == 1
    told = pddlego("run", *words, "run.max_hours=1e-9").err
    assert told.replace("\n", " ").count("warning: model=nano was") == 1


def test_show_lists_the_cells_of_a_run_and_the_episodes_of_a_cell(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    pddlego("run", "-m", "seed=0,1", "games=1,3", f"run.out={tmp_path}")
    told = pddlego("show", tmp_path).out
    first, second = (path.parent for path in tmp_path.rglob("run.json"))
    assert str(first) in told
    assert str(second) in told
    (command,) = re.findall(r"next: pddlego (.*)", told)
    told = pddlego(*command.split()).out
    assert "1-0" in told
    assert "3-0" in told
    assert "next: pddlego show" in told
    pddlego("show", first, 3)


def test_sample_shows_its_prompt_and_says_each_text_once(pddlego: Pddlego) -> None:
    words = ["sample", "model=reference", "decoding=grounded", "environment.rooms=3"]
    prompt = pddlego(*words, "--prompt").out
    assert prompt.startswith("user:\n")
    assert "Action: look around\nYou are in the" in prompt
    read = json.loads(pddlego(*words, "-n", 1).out)
    assert read["domain"]
    assert read["problem"]
    assert not read["text"]
    words = ["sample", "model=random", "decoding=free", "decoding.max_tokens=9"]
    unread = json.loads(pddlego(*words, "-n", 1).out)
    assert unread["fault"]
    assert unread["text"]
    assert not unread["domain"]


def test_the_demo_shows_maps_in_80_columns_and_ends_with_six_lines(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.argv", [".venv/bin/pddlego", "demo"])
    words = ["--model", "reference", "--games", "0,1,3", "--out", tmp_path]
    told = pddlego("demo", *words).out.splitlines()
    *pictures, played, won, _, little, to_open, to_type = told
    assert max(map(len, pictures)) <= 80
    assert played == "Played: 2 houses of CoinCollector, by PDDLego+"
    assert won == "reference: won 2 of 2"
    assert little.startswith("2 games are too few to tell")
    page = Path(to_open.removeprefix("Open: ").partition(" (")[0])
    assert "1-0.html" in page.read_text(encoding="utf-8")
    typed = to_type.removeprefix("Type: .venv/bin/pddlego ")
    assert typed == "formalize examples/puzzle.txt --model nano_worlds"


def test_the_demo_plays_beside_what_another_version_left(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--model", "reference", "--games", "1", "--out", tmp_path]
    assert "won 1 of 1" in pddlego("demo", *words).out
    (file,) = tmp_path.glob("*/*/run.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    record["identity"]["environment"]["of_old"] = 1
    record["starts"][-1]["commit"] = "0" * 40
    older = (
        file.parents[1].rename(tmp_path / "demo") / f"{file.parent.name[:-8]}00000000"
    )
    (tmp_path / "demo" / file.parent.name).rename(older)
    text = json.dumps(record)
    (older / "run.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr("pddlego_local.commands.demo._name", lambda: "demo")
    assert "had other options" in pddlego("demo", *words, code=2).err.replace("\n", " ")
    monkeypatch.undo()
    assert "won 1 of 1" in pddlego("demo", *words).out
    assert (older / "run.json").read_text(encoding="utf-8") == text


def test_a_picture_of_the_demo_has_the_plan_and_what_was_refused() -> None:
    problem = "(define (problem p) (:domain d) (:objects a b - room) {} (:goal (at b)))"
    domain = (
        "(define (domain d) (:requirements :typing) (:types room)"
        " (:predicates (at ?r - room) (way ?a ?b - room)) (:action move"
        " :parameters (?a ?b - room) :precondition (and (at ?a) (way ?a ?b))"
        " :effect (and (not (at ?a)) (at ?b))))"
    )
    given: dict[str, Any] = {
        "where": Where(step=2), "goal": None, "then": (), "domain": domain,
        "message": "no plan", "told": "", "wall_time_s": 0.0, "wait_s": 0.0,
    }  # fmt: skip
    picture = Picture("nano, free", "3")
    facts = "(:init (at a) (way a b))"
    solved = Plan(
        **given, problem=problem.format(facts), outcome="solved", plan=("(move a b)",)
    )
    picture.add(solved)
    assert "· (move a b)" in picture.drawn(80).plain
    taken: dict[str, Any] = {
        "planned": "(move a b)",
        "command": "go b",
        "observation": "",
    }
    picture.add(ActionTaken(**taken, feedback="", success=False))
    assert "✓ (move a b)" in picture.drawn(80).plain
    picture.add(ActionTaken(**taken, feedback="The door is closed.", success=False))
    assert red(picture) == ["✗ go b", "  The door is closed."]
    undeclared = problem.format("(:init (at a)\n(way a cellar))")
    picture.add(Plan(**given, problem=undeclared, outcome="translate_error", plan=()))
    refused, why = red(picture)
    assert refused == "✗ (way a cellar)"
    assert "cellar" in why
    no_way = problem.format("(:init (at a))")
    picture.add(Plan(**given, problem=no_way, outcome="unsolvable", plan=()))
    assert red(picture) == ["✗ (:goal (at b))", "  no plan"]


def red(picture: Picture) -> list[str]:
    """What a picture shows in red."""
    text = picture.drawn(80)
    return [
        text.plain[span.start : span.end].rstrip("\n")
        for span in text.spans
        if "red" in str(span.style)
    ]


CAUSES = "translate_error, goal_already_true, unfinished_thought"
OMITTED = "Columns omitted because the terminal is narrow: "


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (200, ""),
        (80, ""),
        (50, "answers, wall s"),
        (30, "success, answers, wall s"),
    ],
)
def test_a_table_on_any_width_shows_whole_names(
    width: int, left_out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table of causes as reports print it, from the widest to the narrowest
    terminal.
    """
    table = Table("model", "success", "answers", "wall s")
    table.add_row("r1_distill_qwen_1_5b", "40.0 % [16.8, 68.7] of 10", CAUSES, "1.0")
    show(Console(width=width), table)
    told = capsys.readouterr().out
    assert "r1_distill_qwen_1_5b" in told
    assert "…" not in told
    shown, _, names = " ".join(told.split()).partition(OMITTED)
    assert names.removesuffix(".") == left_out
    if not left_out:
        for cause in CAUSES.split(", "):
            assert cause in shown
    assert all(len(line) <= width for line in told.partition(OMITTED)[0].splitlines())

"""What somebody types in the first hour: help, version, completion, and a first run."""

import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.commands.shared.screen import show
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
        assert path.stem in choices or path.parent.name == "train"
    assert not re.search(r"\b_\w+", choices)


def test_what_is_no_choice_is_not_offered_for_one_that_is_misspelt(
    pddlego: Pddlego, tmp_path: Path
) -> None:
    for group, choice in (("experiment", "smoke"), ("decoding", "syntax")):
        told = pddlego("run", f"{group}=nonsense", f"run.out={tmp_path}", code=2).err
        assert choice in told and not re.search(r"^\s*_", told, re.MULTILINE)


def test_a_run_ends_with_its_table_and_the_next_command(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = ["environment.rooms=3,5", "games=0-4", f"run.out={tmp_path}", "-m"]
    told = pddlego("run", *words).out
    assert "environment.rooms=3" in told and "100.0 % [" in told
    (command,) = re.findall(r"next: pddlego (.*?)   ", told)
    pddlego(*[*command.split(), "--without-pages"][:2])


@pytest.mark.parametrize(
    ("overrides", "new"),
    [
        (["method.variant=compact"], ""),
        (["method.variant=compact", "method=pddlego", "decoding=grounded"], ""),
        ([], "it never saw method.variant=detailed,"),
        (
            ["method=plangen"],
            "it never saw method.prompts=plangen, method.variant=None,",
        ),
        (
            ["method.variant=compact", "environment=cooking"],
            "it never saw environment=cooking,",
        ),
        (
            ["method.variant=compact", "decoding.reason=draft"],
            "never saw decoding.reason=draft,",
        ),
    ],
)
@pytest.mark.parametrize(
    "model", ["nano", "nano_vllm", "transformers model.weights=nano_early"]
)
def test_a_small_model_that_is_asked_what_it_never_learned_is_told(
    overrides: list[str], new: str, model: str
) -> None:
    cell = compose_cell([*f"model={model}".split(), *overrides])
    told = " ".join(training_warnings([cell]))
    assert (new in told and "trained on environment=coin" in told) if new else not told


def test_the_warning_stands_before_the_first_episode_and_once_a_model(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = [
        "-m",
        "model=nano",
        "environment=coin,cooking",
        "seed=0,1",
        f"run.out={tmp_path}",
    ]
    told = pddlego("run", *words, "--dry-run").out
    assert told.count("warning: model=nano was trained on") == 1
    told = pddlego("run", *words, "run.max_hours=1e-9").err
    assert told.replace("\n", " ").count("warning: model=nano was") == 1


def test_others_are_not_warned_of() -> None:
    cells = [
        compose_cell([f"model={model}"])
        for model in ("reference", "random", "qwen3_8b")
    ]
    assert not training_warnings(cells)


def test_show_lists_the_cells_of_a_run_and_the_episodes_of_a_cell(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    pddlego("run", "-m", "seed=0,1", "games=1,3", f"run.out={tmp_path}")
    told = pddlego("show", tmp_path).out
    cells = [path.parent for path in tmp_path.rglob("run.json")]
    assert len(cells) == 2 and all(str(cell) in told for cell in cells)
    (command,) = re.findall(r"next: pddlego (.*)", told)
    told = pddlego(*command.split()).out
    assert "1-0" in told and "3-0" in told and "next: pddlego show" in told
    pddlego("show", cells[0], 3)


def test_sample_shows_its_prompt_and_says_each_text_once(pddlego: Pddlego) -> None:
    words = ["sample", "model=reference", "decoding=grounded", "environment.rooms=3"]
    prompt = pddlego(*words, "--prompt").out
    assert (
        prompt.startswith("user:\n") and "Action: look around\nYou are in the" in prompt
    )
    line = json.loads(pddlego(*words, "-n", 1).out)
    assert line["domain"] and line["problem"] and line["text"] == ""
    words = ["sample", "model=random", "decoding=free", "decoding.max_tokens=9"]
    line = json.loads(pddlego(*words, "-n", 1).out)
    assert line["fault"] and line["text"] and not line["domain"]


def test_the_demo_fits_80_columns_and_ends_with_what_was_shown_and_what_to_type(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.argv", [".venv/bin/pddlego", "demo"])
    told = pddlego(
        "demo", "--model", "reference", "--games", "1,3", "--out", tmp_path
    ).out
    table = [line for line in told.splitlines() if line[:1] in "┏┃┡│└"]
    assert "…" not in told and len(table) > 4 and max(map(len, table)) <= 80
    shown, typed = told.splitlines()[-2:]
    assert shown.startswith("Shown: ") and typed.startswith("Next: ")
    commands = re.findall(r"`\S+ ((?:show|report) \S+?)[ `]", typed)
    assert len(commands) == 2, typed
    for command in commands:
        pddlego(*command.split())


def test_a_table_on_any_width_shows_whole_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A table of causes as reports print it, from the widest to the narrowest
    terminal.
    """
    names = ("translate_error", "goal_already_true", "unfinished_thought")
    for width in (200, 80, 50, 30):
        table = Table("model", "success", "answers", "wall s")
        table.add_row(
            "r1_distill_qwen_1_5b", "40.0 % [16.8, 68.7] of 10", ", ".join(names), "1.0"
        )
        show(Console(width=width), table)
        told = capsys.readouterr().out
        assert "r1_distill_qwen_1_5b" in told and "…" not in told
        left_out = (
            "Columns omitted" in told
            and "answers" in told.rpartition("Columns omitted")[2]
        )
        assert left_out or all(name in told for name in names)
        assert max(map(len, told.splitlines()[:-1])) <= width
    assert left_out


def test_the_demo_does_not_count_games_that_are_solved_at_the_start(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    for games, counted in {"0,1,3": "100.0 % [34.2, 100.0] of 2", "0": "–"}.items():
        words = [
            "--model",
            "reference",
            "--games",
            games,
            "--out",
            tmp_path / games[-1],
        ]
        told = pddlego("demo", *words).out
        assert (
            counted in told and "Trivial games (solved at reset) are excluded." in told
        )

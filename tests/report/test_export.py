"""What is exported adds up to the rows that were recorded."""

import csv
import dataclasses
import json
import shutil
from collections import Counter
from pathlib import Path

from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.events import ActionTaken, Call
from pddlego_local.core.record.folder import read_events, read_rows, transcript_of
from pddlego_local.report.exports import Formulas, Row, write_csv
from tests.pddlego import Pddlego
from tests.planted import composed, plant_rows
from tests.rows import row as row_of


def lines_of(table: Path) -> list[dict[str, str]]:
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_calls_add_up_to_their_episodes_and_both_hold_what_was_recorded(
    played: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    pddlego("export", played, "--out", tmp_path / "calls.csv")
    pddlego("export", played, "--episodes", "--out", tmp_path / "rows.csv")
    calls, seen = lines_of(tmp_path / "calls.csv"), 0
    episodes = {
        (line["cell"], line["game"]): line for line in lines_of(tmp_path / "rows.csv")
    }
    for path in played.glob("*/episodes.jsonl"):
        for row in read_rows(path):
            key = (path.parent.name, str(row.game))
            of_row = [line for line in calls if (line["cell"], line["game"]) == key]
            seen += len(of_row)
            assert [int(line["call"]) for line in of_row] == list(
                range(1, row.calls + 1)
            )
            assert Counter(line["cause"] for line in of_row) == row.causes
            for column in (
                "prompt_tokens",
                "sampled_tokens",
                "forced_tokens",
                "rollbacks",
            ):
                assert sum(int(line[column]) for line in of_row) == getattr(row, column)
            assert {line["outcome"] for line in of_row} <= {row.outcome}
            for line in of_row:
                assert (line["plan_actions"] not in ("", "0")) == (
                    line["cause"] == "solved"
                )
            events = read_events(transcript_of(path.parent, row.game, row.trial))
            asked = [event for event in events if isinstance(event, Call)]
            assert [line["answer"] for line in of_row] == [call.text for call in asked]
            prompts = [[dataclasses.asdict(m) for m in call.messages] for call in asked]
            assert [json.loads(line["prompt"]) for line in of_row] == prompts
            told = episodes[key]
            assert (json.loads(told["causes"]), int(told["steps"])) == (
                row.causes,
                row.steps,
            )
            assert (told["counts"] == "True") == (not OUTCOMES[row.outcome].apart)
            taken = [
                event.command for event in events if isinstance(event, ActionTaken)
            ]
            assert json.loads(told["commands"]) == taken
    assert seen == len(calls) > 4


def test_letters_of_other_alphabets_are_not_escaped(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    noted = row_of("success", 1, notes={"lesson": "la clé est là"})
    plant_rows(tmp_path / "runs", composed(), [noted], "1")
    out = tmp_path / "rows.csv"
    pddlego("export", tmp_path / "runs", "--episodes", "--out", out)
    (line,) = lines_of(out)
    assert line["notes"] == '{"lesson": "la clé est là"}'


def test_episodes_without_a_transcript_are_counted(
    played: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    shutil.copytree(played, tmp_path / "run")
    min((tmp_path / "run").rglob("transcripts/*.jsonl")).unlink()
    written = ["export", tmp_path / "run", "--out", tmp_path / "a.csv"]
    assert "1 episodes have no transcript" in pddlego(*written).err
    assert "no transcript" not in pddlego(*written, "--episodes").err


HOSTILE = "a\r\nb\n\"c\", 'd'\0e\t; é\u2028 \N{GRINNING FACE} =1+1"


def test_any_text_comes_back_as_it_was(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"text": text, "n": n} for n, text in enumerate([HOSTILE, "", "\ud800x"])
    ]
    assert write_csv(tmp_path / "rows.csv", rows, ["text", "n"]) == 3
    assert [line["text"] for line in lines_of(tmp_path / "rows.csv")] == [
        HOSTILE,
        "",
        "?x",
    ]


FORMULAS = [
    "=1+1",
    "+A1",
    "-cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",  # noqa: RUF001
]
HARMLESS = ["", "-1", "+0.5", "-1e-5", "go =1", "(at a)", "'=1"]


def test_formulas_are_left_as_they_are_and_counted_or_marked_on_demand() -> None:
    rows: list[Row] = [
        {"text": text, "n": -1, "none": None} for text in FORMULAS + HARMLESS
    ]
    counted, marked = Formulas(), Formulas(mark=True)
    assert list(counted.checked(rows)) == rows
    texts = [row["text"] for row in marked.checked(rows)]
    assert texts == [*(f"'{text}" for text in FORMULAS), *HARMLESS]
    assert counted.found == marked.found == len(FORMULAS)


def test_an_export_says_that_a_spreadsheet_would_carry_out_formulas(
    played: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run, out = Path(shutil.copytree(played, tmp_path / "run")), tmp_path / "a.csv"
    assert pddlego("export", run, "--out", out).err == ""
    for path in run.rglob("transcripts/*.jsonl"):
        events = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
        for event in events:
            event |= {"text": "=1+1"} if event["event"] == "call" else {}
        path.write_text(
            "".join(json.dumps(event) + "\n" for event in events), encoding="utf-8"
        )
    told = pddlego("export", run, "--out", out).err
    assert "texts begin like formulas" in told and "export with --spreadsheet" in told
    assert {line["answer"] for line in lines_of(out)} == {"=1+1"}
    told = pddlego("export", run, "--out", out, "--spreadsheet").err
    assert "have an apostrophe now" in told
    assert {line["answer"] for line in lines_of(out)} == {"'=1+1"}


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    played: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    told = pddlego("export", "nowhere", "--out", tmp_path / "a.parquet", code=2).err
    assert "ends in .csv" in told
    told = pddlego(
        "export", played, "--out", tmp_path / "no folder" / "calls.csv", code=3
    ).err
    assert "cannot write" in told
    assert not list(tmp_path.iterdir())

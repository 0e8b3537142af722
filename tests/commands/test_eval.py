"""`pddlego eval`: a small suite is played by rules, by nano and behind a server. The
card says what the records say.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.core.record.entry import RECORD
from pddlego_local.core.resources import folder
from tests.commands.test_canary import SCHEMAS, handler_of, obeys
from tests.models.quiet_server import serving
from tests.pddlego import Pddlego, exit_code
from tests.suites import Conf, small_conf

KEY = "sk-a-secret-of-twenty-letters"


@pytest.fixture(scope="module")
def _conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conf]:
    yield from small_conf(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def runs(_conf: Conf, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The floor, the ceiling and nano, played."""
    out = tmp_path_factory.mktemp("runs")
    for model in ("random_policy", "reference", "nano"):
        assert exit_code(["eval", model, f"run.out={out}"]) == 0
    return out


def card_of(run: Path) -> Any:
    return json.loads((run / "card.json").read_text(encoding="utf-8"))


def rows_of(run: Path, cell: str) -> list[Any]:
    text = (run / cell / "episodes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def lines_of(run: Path) -> dict[tuple[str, str], Any]:
    return {(line["part"], line["arm"]): line for line in card_of(run)["lines"]}


def test_what_a_model_was_not_trained_for_is_not_played_and_no_zero(
    runs: Path,
) -> None:
    lines = lines_of(runs / "eval-nano-quick")
    assert [*lines] == [
        (part, arm)
        for part in ("coin_compact", "coin_edits")
        for arm in ("free", "typed")
    ]
    for (part, _), line in lines.items():
        if part == "coin_edits":
            assert "not trained for method.prompts=pddlego" in line["why"]
            assert line["won"] is None
            assert not line["stages"]
        else:
            assert not line["why"]
            assert line["finished"] == line["asked"] == 2


def test_a_card_counts_what_its_rows_have(runs: Path) -> None:
    run = runs / "eval-nano-quick"
    entry = json.loads((run / RECORD).read_text(encoding="utf-8"))
    lines = lines_of(run)
    for play in entry["plays"]:
        if not play["cell"]:
            continue
        rows = rows_of(run, play["cell"])
        line = lines[play["part"], play["arm"]]
        won = sum(row["success"] for row in rows)
        assert (line["won"]["k"], line["won"]["n"]) == (won, len(rows))
        assert sum(line["stages"].values()) == len(rows)
        assert line["stages"]["valid"] == won
        tokens = sum(row["completion_tokens"] for row in rows)
        assert line["cost"]["answer_tokens"] == pytest.approx(tokens / won)
        calls = sum(row["calls"] for row in rows)
        assert line["cost"]["calls"] == pytest.approx(calls / won)
        assert line["cost"]["requests"] >= line["cost"]["calls"]


def test_floor_and_ceiling_stand_on_the_bars_of_the_same_games(runs: Path) -> None:
    nano = lines_of(runs / "eval-nano-quick")["coin_compact", "free"]
    reference = lines_of(runs / "eval-reference-quick")["coin_compact", "free"]
    floor = lines_of(runs / "eval-random_policy-quick")["coin_compact", "random_policy"]
    assert nano["ceiling"] == {"k": 2, "n": 2}
    assert reference["won"]["k"] == reference["won"]["n"] == 2
    assert nano["floor"] == {"k": floor["won"]["k"], "n": 2}


def test_the_three_forms_of_a_card_say_the_same(runs: Path) -> None:
    run = runs / "eval-nano-quick"
    card = card_of(run)
    html = (run / "card.html").read_text(encoding="utf-8")
    text = (run / "card.md").read_text(encoding="utf-8")
    for shown in (html, text):
        assert card["sha256"] in shown
        assert "This size tests nothing" in shown
        assert "Nothing here proves" in shown
        assert "not trained for method.prompts=pddlego" in shown
        assert "of 2" in shown
    assert not re.search(r"\{\{|\{%|Rate\(", html + text)


def test_lost_games_are_drawn_each_with_its_page(runs: Path) -> None:
    run = runs / "eval-random_policy-quick"
    entry = json.loads((run / RECORD).read_text(encoding="utf-8"))
    lost = 0
    for play in entry["plays"]:
        lost += sum(not row["success"] for row in rows_of(run, play["cell"]))
    faults = card_of(run)["faults"]
    assert len(faults) == min(lost, 10)
    for fault in faults:
        assert fault["outcome"] != "success"
        assert f"Game {fault['game']}" in (run / fault["page"]).read_text("utf-8")


def test_the_same_command_continues_and_leaves_the_card_as_it_was(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run = runs / "eval-reference-quick"
    whole = card_of(run)
    shutil.copytree(run, tmp_path / run.name)
    for rows in (tmp_path / run.name).glob("*/episodes.jsonl"):
        first, *_ = rows.read_text(encoding="utf-8").splitlines(keepends=True)
        rows.write_text(first, encoding="utf-8")
    words = ["eval", "reference", f"run.out={tmp_path}"]
    limit = "run.max_hours=0.000000001"
    assert "rerun to continue" in pddlego(*words, limit).err
    unfinished = card_of(tmp_path / run.name)
    assert [line["finished"] for line in unfinished["lines"]] == [1, 1]
    text = (tmp_path / run.name / "card.md").read_text(encoding="utf-8")
    assert "not finished: 2 episodes have no result" in text
    assert "1 episodes to play, 1 done" in pddlego(*words).err
    continued = card_of(tmp_path / run.name)
    assert [line["won"] for line in continued["lines"]] == [
        line["won"] for line in whole["lines"]
    ]


def test_the_dry_run_plays_nothing_and_says_what_is_not_played(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    printed = pddlego("eval", "nano", "--dry-run", f"run.out={tmp_path}").out
    assert "cells: 2" in printed
    assert "coin_edits by free, coin_edits by typed: the model was not" in printed
    assert "Token limits: 4,096 tokens" in printed
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nano", "decoding.temperature=0"], "the suite is frozen"),
        (["nano", "games=0-9"], "the suite is frozen"),
        (["nano", "environment.rooms=3"], "the suite is frozen"),
        (["nano", "--size", "huge"], "the sizes of suite 1 are quick, standard"),
        (["nanno"], "there is no model nanno; did you mean nano? `pddlego doctor`"),
        (["nano", "nano_early"], "nano_early: an evaluation has one model"),
        ([], "name a model"),
        (["reference", "--thinking"], "plays by rules"),
        (["nano", "run.concurrency=many"], "pddlego: run.concurrency"),
        (["nano", "run.out=/dev/null/runs"], "because /dev/null is no folder"),
        (
            ["nano", "model.no_option=1"],
            "no option 'model.no_option'; the options of",
        ),
        (["nano", "model.dtyp=1"], "did you mean model.dtype?"),
        (["nano", "model.temperature=1"], "there is no option 'model.temperature'"),
        (["nano", "--out", "x"], "--out is the folder of --compare"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    runs: Path, pddlego: Pddlego, words: list[str], said: str
) -> None:
    printed = pddlego("eval", *words, "--dry-run", code=2)
    assert said in printed.err
    assert printed.err.count("\n") <= 2
    for refused_or_beside_the_point in ("decoding.temperature?", "not trained"):
        assert refused_or_beside_the_point not in printed.err


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]], ids=["played", "dry_run"])
def test_a_folder_of_another_entry_is_left_as_it_is(
    dry_run: list[str], runs: Path, pddlego: Pddlego
) -> None:
    before = (runs / "eval-reference-quick" / RECORD).read_bytes()
    words = ["eval", "nano", "name=eval-reference-quick", f"run.out={runs}", *dry_run]
    said = pddlego(*words, code=2).err
    assert "it was played by reference, not by nano; " in said
    assert "with name=NAME or run.out=FOLDER" in said
    assert "{" not in said
    assert (runs / "eval-reference-quick" / RECORD).read_bytes() == before


def test_two_folders_with_one_last_name_are_two_models(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    for number, shipped in enumerate(("nano", "nano_early")):
        copy = tmp_path / str(number) / "model"
        shutil.copytree(folder("weights") / shipped, copy)
    first, second = ("0/model", "1/model")
    pddlego("eval", tmp_path / first, f"run.out={tmp_path}")
    begun = [*(tmp_path / "eval-model-quick").glob("*/episodes.jsonl")]
    assert len(begun) == 2
    for rows in begun:
        rows.unlink()  # without an episode, the folder is free for another model
    printed = pddlego("eval", tmp_path / second, f"run.out={tmp_path}")
    assert "2 episodes to play, 0 done" in printed.err
    for dry_run in ([], ["--dry-run"]):
        words = ["eval", str(tmp_path / first), f"run.out={tmp_path}", *dry_run]
        said = pddlego(*words, code=2).err
        assert f"its weights were {tmp_path / second} (fingerprint" in said
        assert f"not {tmp_path / first} (" in said


def test_a_dry_run_counts_the_episodes_that_are_left_and_has_the_given_name(
    runs: Path, pddlego: Pddlego
) -> None:
    words = ["eval", "nano", "--dry-run", f"run.out={runs}"]
    printed = pddlego(*words).out
    assert "Token limits: 0 tokens" in printed
    weights = str(folder("weights") / "nano")
    printed = pddlego("eval", weights, *words[2:3], "name=other").out
    assert f"\n{weights}: " in printed
    assert "Token limits: 4,096 tokens" in printed


def test_what_is_no_model_leaves_no_folder(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"no model at all")
    out = tmp_path / "runs"
    for model, said in (
        ("/etc/passwd", "there is no folder /etc/passwd"),
        (tmp_path, "has no config.json"),
        (tmp_path / "none.gguf", "there is no file"),
        (other, "is no GGUF file, whatever its name says"),
        ("owner/none_such", "are not on this machine"),
    ):
        printed = pddlego("eval", model, f"run.out={out}", code=(2, 3))
        assert said in printed.err
        assert printed.err.count("\n") == 1
    assert not out.exists()


def test_a_changed_suite_is_not_played(
    runs: Path, _conf: Conf, pddlego: Pddlego
) -> None:
    words = ("method/pddlego_plus.yaml", "max_attempts: 5", "max_attempts: 4")
    _conf.change(*words)
    printed = pddlego("eval", "reference", "--dry-run", code=2)
    _conf.change(words[0], words[2], words[1])
    assert "this is not suite 1 as it was frozen" in printed.err
    assert "coin_compact" in printed.err


def test_a_server_that_obeys_no_grammar_plays_only_what_needs_none(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    handler = handler_of(lambda body: obeys(body, *SCHEMAS))
    with serving(handler) as port:
        url = f"http://127.0.0.1:{port}/v1"
        printed = pddlego(
            "eval",
            f"run.out={tmp_path}",
            f"model.server.api_key={KEY}",
            *("--url", url, "--dry-run"),
        )
    assert "coin_compact by typed, coin_edits by typed: the server does not" in (
        printed.out
    )
    assert "cells: 2" in printed.out
    assert "model=openai_server" in printed.out or "openai_server" in printed.out
    assert KEY not in printed.out + printed.err


def test_a_server_that_obeys_grammars_plays_everything(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    handler = handler_of(lambda body: obeys(body, *SCHEMAS, "lark"))
    with serving(handler) as port:
        url = f"http://127.0.0.1:{port}/v1"
        printed = pddlego("eval", "served", "--url", url, "--dry-run")
    assert "not played" not in printed.out
    assert "cells: 4" in printed.out


def test_two_evaluations_are_compared_on_the_same_games(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    first = runs / "eval-reference-quick"
    second = tmp_path / "other"
    shutil.copytree(first, second)
    _renamed(second, name="other")
    lost = next(second.glob("*/episodes.jsonl"))
    text = lost.read_text(encoding="utf-8")
    lost.write_text(
        text.replace('"success": true', '"success": false', 1), encoding="utf-8"
    )
    printed = pddlego("eval", "--compare", first, second, "--out", tmp_path).out
    assert "reference → other" in printed
    assert "| `free` | 2 | 4 | 4 → 3 |" in printed
    page = tmp_path / "compare-reference-other-quick.html"
    assert f"the page: {page}" in printed
    assert "reference → other" in page.read_text(encoding="utf-8")
    assert page.with_suffix(".md").read_text(encoding="utf-8") in printed


def _renamed(run: Path, **changes: Any) -> None:
    entry = json.loads((run / RECORD).read_text(encoding="utf-8"))
    (run / RECORD).write_text(json.dumps({**entry, **changes}), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sha256": "0" * 64}, "their sha256 is"),
        ({"size": "standard"}, "their size is quick and standard"),
        ({"thinking": True}, "their thinking is False and True"),
        ({"suite": 2}, "their suite is 1 and 2"),
    ],
)
def test_what_differs_in_suite_or_settings_is_not_compared_and_is_named(
    runs: Path, tmp_path: Path, pddlego: Pddlego, changes: Any, said: str
) -> None:
    first = runs / "eval-reference-quick"
    second = tmp_path / "other"
    shutil.copytree(first, second)
    _renamed(second, **changes)
    assert said in pddlego("eval", "--compare", first, second, code=2).err


def test_cells_with_other_settings_are_not_compared(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    first = runs / "eval-reference-quick"
    second = tmp_path / "other"
    shutil.copytree(first, second)
    for file in second.glob("*/run.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        record["identity"]["decoding"]["temperature"] = 0.9
        file.write_text(json.dumps(record), encoding="utf-8")
    said = pddlego("eval", "--compare", first, second, code=2).err
    assert "differ in decoding.temperature" in said


def test_a_folder_without_an_evaluation_is_named(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    printed = pddlego("eval", "--compare", tmp_path, tmp_path, code=2)
    assert f"{tmp_path} is no evaluation" in printed.err


def test_python_plays_what_the_command_plays(runs: Path) -> None:
    path = pddlego_local.evaluate("reference", run__out=str(runs))
    assert path == runs / "eval-reference-quick" / "card.html"


def test_comparisons_of_a_tested_size_have_verdicts(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    pddlego("eval", "nano", "--size", "standard", f"run.out={tmp_path}")
    card = card_of(tmp_path / "eval-nano-standard")
    pairs = [(found["base"], found["other"]) for found in card["comparisons"]]
    assert pairs == [("free", "typed"), ("repair_typed", "typed")]
    for found in card["comparisons"]:
        assert found["tested"]
        assert found["word"] == "too few to tell"
        assert found["games"] == found["parts"] == 1
    text = (tmp_path / "eval-nano-standard" / "card.md").read_text(encoding="utf-8")
    assert "**too few to tell**" in text
    assert "This size tests nothing" not in text


@pytest.fixture(scope="module")
def bundle(runs: Path) -> Path:
    file = runs / "reference.tar.xz"
    words = ["eval", "reference", f"run.out={runs}", "--bundle", str(file)]
    assert exit_code(words) == 0
    return file


def test_a_bundle_is_confirmed_by_playing_it_again(
    bundle: Path, pddlego: Pddlego
) -> None:
    assert "4 of 4 rows confirmed" in pddlego("eval", "--check", bundle).out


def test_a_changed_row_of_an_evaluation_is_named(
    runs: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run = tmp_path / "eval-reference-quick"
    shutil.copytree(runs / run.name, run)
    rows = next(run.glob("*/episodes.jsonl"))
    text = rows.read_text(encoding="utf-8")
    rows.write_text(text.replace('"steps": ', '"steps": 1', 1), encoding="utf-8")
    assert "difference" in pddlego("eval", "--check", run, code=1).out


def test_a_bundle_is_compared_as_its_folder_is(
    runs: Path, bundle: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    run = runs / "eval-reference-quick"
    printed = pddlego("eval", "--compare", run, bundle, "--out", tmp_path).out
    assert "| `free` | 2 | 4 | 4 → 4 |" in printed
    said = pddlego("eval", "--compare", run, bundle, code=2).err
    assert "name a folder for its page with --out" in said

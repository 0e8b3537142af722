"""The check of a bundle compares an evaluation with the suite that it names."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.api.canary import LARK
from pddlego_local.commands.shared.bundle_check import check
from pddlego_local.core.record.entry import RECORD, Played
from pddlego_local.planner import FastDownward
from pddlego_local.report.bundle import pack
from tests.pddlego import Pddlego, exit_code
from tests.suites import Conf, small_conf
from tools.dataset import gold_of, write

Object = dict[str, Any]
VLLM = "pddlego_local.models.vllm.model.VllmModel"
NO_LARK = f"the server does not obey {LARK} (`pddlego canary` asks it)"
NOT_TRAINED = "the model was not trained for method.prompts=pddlego"
BLOCKS = """\
parts:
  blocks:
    about: Blocksworld
    environment: [environment=described, environment.world=blocksworld]
    method: [method=formalizer]
    arms: [free]
    games: 20000-20001
"""


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conf]:
    yield from small_conf(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def entry(conf: Conf, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ceiling: two games each of two parts."""
    out = tmp_path_factory.mktemp("runs")
    assert exit_code(["eval", "reference", f"run.out={out}"]) == 0
    return out / "eval-reference-quick"


def test_an_evaluation_is_packed_and_confirmed(
    entry: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    bundle = tmp_path / "entry.tar.xz"
    pddlego("eval", "reference", f"run.out={entry.parent}", "--bundle", bundle)
    said = pddlego("eval", "--check", bundle).out
    assert "4 of 4 rows confirmed in 2 cells" in said
    pddlego("eval", "reference", "--server", "http://127.0.0.1:9/v1", code=2)
    pddlego("eval", "--check", tmp_path / "absent.tar.xz", code=2)


def changed(path: Path, change: Callable[[Object], object]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def another_hash(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry.update(sha256="0" * 64))


def another_suite(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry.update(suite=2))


def a_part_left_out(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry["plays"].pop())


def fewer_games(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry["plays"][0].update(games="20001"))


def a_part_of_another_size(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry["plays"][0].update(arm="rounds"))


def another_model(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry["model"].update(weights="larger"))


def a_removed_cell(run: Path) -> None:
    (cell,) = run.glob("*pddl_edit*")
    shutil.rmtree(cell)


def more_time_to_plan(run: Path) -> None:
    (cell,) = run.glob("*pddl_edit*")

    def change(content: Object) -> None:
        content["starts"][0]["config"]["planner"]["limits"]["cpu_s"] = 600

    changed(cell / "run.json", change)


def a_request_left_out(run: Path) -> None:
    (cell,) = run.glob("*pddl_edit*")
    (sweep,) = run.glob("sweep-*.json")
    sweep.unlink()
    rows = (cell / "episodes.jsonl").read_text(encoding="utf-8").splitlines(True)
    kept = json.loads(rows[0])["game"]
    (cell / "episodes.jsonl").write_text(rows[0], encoding="utf-8")
    for path in cell.glob("transcripts/*"):
        if path.name != f"{kept}-0.jsonl":
            path.unlink()

    def change(content: Object) -> None:
        content["starts"][0]["config"]["games"] = str(kept)

    changed(cell / "run.json", change)


def another_option(run: Path) -> None:
    (cell,) = run.glob("*pddl_edit*")

    def change(content: Object) -> None:
        for group in (content["identity"], content["starts"][0]["config"]):
            group["method"]["max_attempts"] = 50

    changed(cell / "run.json", change)


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (another_hash, "eval.json: its suite has the hash 000000000000, not "),
        (another_suite, "eval.json: suite 2 is not suite 1 of here"),
        (a_part_left_out, "eval.json: coin_edits by free is missing"),
        (fewer_games, "eval.json: coin_compact by free has other games"),
        (a_part_of_another_size, "coin_compact by rounds is not in size quick"),
        (another_model, "other than the suite's: model"),
        (a_removed_cell, "eval.json: the cell of coin_edits by free is not here"),
        (more_time_to_plan, "other than the suite's: the planner's limits"),
        (a_request_left_out, "1 games of the suite were not requested"),
        (another_option, "other than the suite's: method"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_not_the_suite_is_named(
    entry: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    tamper: Callable[[Path], None], told: str,
) -> None:  # fmt: skip
    copy = Path(shutil.copytree(entry, tmp_path / entry.name))
    tamper(copy)
    bundle = tmp_path / "tampered.tar.xz"
    pack(copy, bundle)
    assert check(bundle) == 1
    said = capsys.readouterr().out
    assert told in said, said


# ---- What was not played, and why


@pytest.fixture(scope="module")
def nano(entry: Path) -> Path:
    """A model in the box, whose card excludes edits: four episodes of eight."""
    assert exit_code(["eval", "nano", f"run.out={entry.parent}"]) == 0
    return entry.parent / "eval-nano-quick"


def leave_out(run: Path, arm: str, why: str) -> None:
    """Takes an arm of coin_compact out of a record, its sweep and its eval.json."""

    def change(entry: Object) -> None:
        (play,) = (
            play
            for play in entry["plays"]
            if (play["part"], play["arm"]) == ("coin_compact", arm)
        )
        shutil.rmtree(run / play["cell"])
        (sweep,) = run.glob("sweep-*.json")
        changed(sweep, lambda sweep: sweep["cells"].pop(play["cell"]))
        play.update(cell="", why=why)

    changed(run / RECORD, change)


def reasons(run: Path, why: str, part: str = "coin_edits") -> None:
    def change(entry: Object) -> None:
        for play in entry["plays"]:
            if play["part"] == part:
                play["why"] = why

    changed(run / RECORD, change)


def of_model(run: Path, **options: str) -> None:
    """Says in all records that the model had these options."""
    changed(run / RECORD, lambda entry: entry["model"].update(options))
    for path in run.glob("*/run.json"):

        def change(record: Object) -> None:
            record["identity"]["model"].update(options)
            record["model"].update(weights=record["identity"]["model"]["weights"])
            record["model"].pop("training_maps_sha256", None)
            for start in record["starts"]:
                start["config"]["model"].update(options)

        changed(path, change)


def an_invented_reason(run: Path) -> None:
    leave_out(run, "free", "the server has no free decoding")


def a_server_that_cannot_answer_freely(run: Path) -> None:
    of_model(run, _target_=VLLM)
    leave_out(run, "free", NO_LARK)


def a_server_that_obeyed(run: Path) -> None:
    of_model(run, _target_=VLLM)
    changed(run / RECORD, lambda entry: entry.update(canary=[LARK]))
    leave_out(run, "typed", NO_LARK)


def an_environment_that_was_there(run: Path) -> None:
    leave_out(run, "typed", "coin is not installed here (see `pddlego doctor`)")


def another_card(run: Path) -> None:
    reasons(run, "the model was not trained for environment=coin")


def a_reason_for_what_was_played(run: Path) -> None:
    reasons(run, NOT_TRAINED, part="coin_compact")


def a_part_twice(run: Path) -> None:
    changed(run / RECORD, lambda entry: entry["plays"].append(entry["plays"][0]))


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (an_invented_reason, "coin_compact by free: this program gives no such reason"),
        (a_server_that_cannot_answer_freely, "coin_compact by free: this program"),
        (a_server_that_obeyed, "coin_compact by typed: this program gives no such"),
        (an_environment_that_was_there, "coin_compact by typed: this program gives no"),
        (another_card, "eval.json: coin_edits: this program gives no such reason"),
        (a_reason_for_what_was_played, "has a cell, and a reason why it was not"),
        (a_part_twice, "eval.json: it has a part by an arm twice"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_reason_that_cannot_hold_is_named(
    nano: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    tamper: Callable[[Path], None], told: str,
) -> None:  # fmt: skip
    copy = Path(shutil.copytree(nano, tmp_path / nano.name))
    tamper(copy)
    code = check(copy)
    said = capsys.readouterr().out
    assert code == 1 and told in said, said
    assert "not verified: why" not in said


def test_what_the_card_in_the_box_excludes_is_said(
    nano: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(nano) == 0
    said = capsys.readouterr().out
    assert (
        f"not played: 4 of 8 episodes of this size: coin_edits: {NOT_TRAINED}" in said
    )
    assert "not verified: why" not in said


def what_a_server_lacked(run: Path) -> None:
    of_model(run, _target_=VLLM)
    leave_out(run, "typed", NO_LARK)


def the_card_of_a_model_of_ones_own(run: Path) -> None:
    of_model(run, weights="mine")


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (what_a_server_lacked, f"2 of 8 episodes|coin_compact by typed: {NO_LARK}"),
        (the_card_of_a_model_of_ones_own, f"4 of 8 episodes|coin_edits: {NOT_TRAINED}"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_reason_that_nobody_can_verify_is_counted(
    nano: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    tamper: Callable[[Path], None], told: str,
) -> None:  # fmt: skip
    copy = Path(shutil.copytree(nano, tmp_path / nano.name))
    tamper(copy)
    assert check(copy) == 0, capsys.readouterr().out
    *_, last, unverified = capsys.readouterr().out.splitlines()
    count, why = told.split("|")
    assert last == f"not verified: why {count} of this size were not played: {why}"
    assert unverified.startswith("not verified: tokens")


def test_without_an_eval_json_no_suite_is_compared(
    entry: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    shutil.copytree(entry, tmp_path / entry.name)
    (tmp_path / entry.name / RECORD).unlink()
    bundle = tmp_path / "run.tar.xz"
    pack(tmp_path / entry.name, bundle)
    said = pddlego("eval", "--check", bundle).out
    assert "4 of 4 rows confirmed" in said
    assert "no eval.json: this is no evaluation, and no suite was compared" in said
    shutil.copytree(entry, tmp_path / "whole")
    said = pddlego("eval", "--check", tmp_path).out
    assert "2 of 4 cells belong to no evaluation" in said


# ---- Files that are named


def bundle_with(file: Path, run: Path, name: str) -> Path:
    """A bundle that holds one file of a run."""
    with tarfile.open(file, "w:xz") as archive:
        archive.add(next(run.rglob(name)), f"{run.name}/{name}")
    return file


def test_a_bundle_without_records_is_named(
    entry: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    bundle = bundle_with(tmp_path / "a.tar.xz", entry, RECORD)
    assert f"{bundle}: no run.json" in pddlego("eval", "--check", bundle, code=2).err
    bundle = bundle_with(tmp_path / "b.tar.xz", entry, "run.json")
    words = ("eval", "--compare", entry, bundle, "--out", tmp_path)
    assert f"{bundle} holds no eval.json" in pddlego(*words, code=2).err


def test_a_damaged_bundle_of_a_comparison_is_named(
    entry: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    copy = tmp_path / entry.name
    copy.mkdir()
    (copy / RECORD).write_text("{", encoding="utf-8")
    bundle = bundle_with(tmp_path / "damaged.tar.xz", copy, RECORD)
    for pair in ((bundle, entry), (entry, bundle)):
        said = pddlego("eval", "--compare", *pair, "--out", tmp_path, code=2).err
        assert f"{bundle}/{entry.name}/{RECORD} is not valid" in said
    absent = tmp_path / "absent"
    for words in (("--compare", absent, entry), ("--compare", entry, absent)):
        said = pddlego("eval", *words, code=2).err
        assert f"{absent}: there is no such file or folder" in said


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("absent/x.tar.xz", "does not exist"),
        ("x.zip", "its name must end in .tar.xz"),
        ("folder.tar.xz", "is a folder"),
    ],
)
def test_a_bundle_that_cannot_be_written_is_refused_before_a_game(
    conf: Conf, tmp_path: Path, pddlego: Pddlego, file: str, said: str
) -> None:
    (tmp_path / "folder.tar.xz").mkdir()
    words = ("eval", "reference", f"run.out={tmp_path}", "--bundle", tmp_path / file)
    assert said in pddlego(*words, code=2).err
    assert not (tmp_path / "eval-reference-quick").exists()


def test_the_reference_gives_a_data_set(entry: Path, tmp_path: Path) -> None:
    write(entry, tmp_path)
    data = (tmp_path / "questions.jsonl").read_bytes()
    lines = [json.loads(line) for line in data.decode().splitlines()]
    assert len({line["id"] for line in lines}) == len(lines) == 4
    for line in lines:
        assert line["won"] and line["prompt"] and json.loads(line["answer"])
    metadata = json.loads((tmp_path / "croissant.json").read_text(encoding="utf-8"))
    (file,) = metadata["distribution"]
    assert file["sha256"] == hashlib.sha256(data).hexdigest()
    (questions,) = metadata["recordSet"]
    fields = [field["source"]["extract"]["column"] for field in questions["field"]]
    assert fields == [*lines[0]]
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "that player won 4 of these games" in card
    assert "| `coin_edits` | 2 |" in card


def test_described_worlds_have_gold_files_with_a_plan(
    conf: Conf, planner: FastDownward
) -> None:
    conf.change("suite/1.yaml", "parts:\n", BLOCKS)
    play = Played(part="blocks", arm="free", games="20000")
    with gold_of(play) as gold:
        domain, problem = gold(20000)
    assert planner.plan(domain, problem).outcome == "solved"

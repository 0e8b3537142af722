"""The check of a bundle compares an evaluation with the suite that it names."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.commands.shared.bundle_check import check
from pddlego_local.core.record.entry import RECORD, Played
from pddlego_local.planner import FastDownward
from pddlego_local.report.bundle import pack
from tests.pddlego import Pddlego, exit_code
from tests.suites import Conf, small_conf
from tools.dataset import gold_of, write

Object = dict[str, Any]
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

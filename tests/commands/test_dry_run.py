"""`pddlego run … --dry-run`: lists what a command would play, and loads and writes
nothing.
"""

import json
import re
from pathlib import Path

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.core.record.folder import read_rows
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods.inner_monologue import InnerMonologue
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.methods.reflexion import Reflexion
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.methods import talking
from tests.pddlego import Pddlego
from tests.processes import ran

# What a run starts or loads, and a look ahead must not.
HEAVY = ("torch", "jpype", "py4j.java_gateway", "vllm")


def lines(table: str) -> list[tuple[str, ...]]:
    """The cells' rows and the totals: name, what differs, then the four numbers."""
    split = [
        re.split(r"\s*│\s*", line)[1:-1] for line in table.splitlines() if "│" in line
    ]
    rows = list[tuple[str, ...]]()
    for name, *numbers in split:
        if numbers[0]:
            rows.append((name, "", *numbers))
        else:  # what differs stands below the name
            rows[-1] = (rows[-1][0], name, *rows[-1][2:])
    return rows


def test_a_sweeps_cells_episodes_and_calls(tmp_path: Path, pddlego: Pddlego) -> None:
    out = tmp_path / "runs"
    sweep = ["-m", f"run.out={out}", "environment.rooms=3,5", "trials=2", "games=0-3,7"]
    sweep += ["method=pddlego_plus,plangen", "decoding.best_of=2"]
    rows = lines(pddlego("run", *sweep, "--dry-run").out)
    assert not out.exists()
    assert [row[1] for row in rows[:-1]] == ["environment.rooms=3"] * 2 + [
        "environment.rooms=5"
    ] * 2
    calls = 10 * 50 * 5 * 6 * 2, 10 * 50 * 5
    assert [row[2:] for row in rows[:-1]] == [
        ("10", "0", "10", f"{n:,}") for n in calls
    ] * 2
    assert rows[-1] == ("cells: 4", "", "40", "0", "40", f"{2 * sum(calls):,}")


def test_each_model_is_looked_at_once_and_the_disk_for_all_calls(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    sweep = [
        "-m",
        f"run.out={tmp_path}",
        "model=qwen3_8b,reference",
        "seed=0,1",
        "games=0-1",
    ]
    pddlego("run", *sweep, "model.server.env=nowhere", "--dry-run", code=2)
    told = pddlego("run", *sweep, "--dry-run").out
    assert told.count("qwen3_8b: Qwen/Qwen3-8B, Apache-2.0") == 1
    assert told.count("reference: needs no weights") == 1
    assert "weights: 16.4 GB" in told
    assert "`make fetch MODEL=Qwen/Qwen3-8B`" in told
    calls = 4 * 2 * 50 * 5 * 6
    assert f"enough room in {tmp_path}" in told
    assert f"all calls need {calls * 9000 / 1e6:.1f} MB (about 9 kB each)" in told


def test_a_disk_that_is_too_small_is_no_success(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = [f"run.out={tmp_path}", "games=0-99999", "trials=10", "--dry-run"]
    assert "TOO LITTLE" in pddlego("run", *words, code=3).out


def calls(pddlego: Pddlego, *words: str) -> str:
    """The line that tells how many model calls there will be."""
    told = pddlego("run", *words, "--dry-run").out
    (line,) = (one for one in told.splitlines() if one.startswith("calls "))
    return line


def test_expected_calls_stand_beside_the_most_and_say_from_what_they_are_known(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    common = [f"run.out={tmp_path}", "environment.rooms=3"]
    fresh = calls(pddlego, *common, "games=0-99")
    assert f"about 460 expected, {100 * 50 * 5 * 6:,} at most" in fresh
    assert "perfect answers" in fresh and "low estimate" in fresh
    played = run_cell(compose_cell([*common, "games=0-4"]))
    rows = read_rows(played.folder / "episodes.jsonl")
    each = sum(row.calls for row in rows) / len(rows)
    recorded = f"the records in {tmp_path}"
    for words in (
        [],
        ["model=random"],
        ["decoding=typed", "seed=3"],
    ):  # of the same method
        line = calls(pddlego, *common, "games=100-199", *words)
        assert f"about {round(100 * each)} expected" in line and recorded in line
    two = calls(pddlego, *common, "games=5-9", "decoding.best_of=2")
    assert f"about {round(2 * 5 * each)} expected" in two
    assert "about 0 expected, 0 at most" in calls(pddlego, *common, "games=0-4")
    assert "makes no requests" in calls(pddlego, *common, "method=random_policy")


def test_where_nothing_is_known_no_calls_are_expected(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    own = tmp_path / "conf" / "environment"
    own.mkdir(parents=True)
    (own / "manor.yaml").write_text(
        "defaults: [coin, _self_]\nrooms: 7\n", encoding="utf-8"
    )
    words = [f"run.out={tmp_path}", f"--config-dir={tmp_path}/conf"]
    line = calls(pddlego, *words, "environment=manor")
    assert "no record allows an estimate" in line and "expected," not in line
    both = calls(pddlego, *words, "-m", "environment=coin,manor")
    assert (
        "about 46 expected without 1 cells for which there is no estimate, 30,000 at"
        " most" in both
    )


def test_what_is_done_is_not_left(tmp_path: Path, pddlego: Pddlego) -> None:
    common = [f"run.out={tmp_path}", "environment.rooms=3"]
    played = run_cell(compose_cell([*common, "games=0,1,9"]))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    rows = lines(pddlego("run", *common, "games=0-4", "--dry-run").out)
    assert rows[0] == (played.folder.name, "", "5", "2", "3", f"{3 * 50 * 5 * 6:,}")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_nothing_heavy_is_loaded_and_a_missing_gpu_is_no_hindrance(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, json\n"
        "from pddlego_local.cli import run\n"
        "code = run(['run', *sys.argv[1:]])\n"
        f"print(json.dumps([code, [name for name in {HEAVY} if name in sys.modules]]))"
    )
    wanted = [
        "experiment=workstation_trials",
        "model=qwen3_8b",
        "--dry-run",
        f"run.out={tmp_path}",
    ]
    done = ran("-c", program, *wanted, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
    assert len(lines(done.stdout)) == 1 + 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["environment.rooms=12"], "environment.rooms=12"),
        (["-m", "environment.rooms=5,12"], "environment.rooms=12"),
        (["games=0-2;7"], "games='0-2;7'"),
        (["-m", "games=4294967296", "seed=0,1"], "its games are 0 to 2147483647"),
        (["nonsense=1"], "nonsense"),
    ],
)
def test_mistakes_are_told_as_by_the_run_itself(
    tmp_path: Path, pddlego: Pddlego, overrides: list[str], told: str
) -> None:
    words = ["run", *overrides, f"run.out={tmp_path / 'out'}"]
    said, said_ahead = (
        pddlego(*words, code=2).err,
        pddlego(*words, "--dry-run", code=2).err,
    )
    assert said == said_ahead
    assert told in said.replace("\n", "")


FLY = {
    "df": (
        "(define (domain d) (:predicates (a)) (:action fly :parameters () :effect (a)))"
    ),
    "pf": "(define (problem p) (:domain d) (:init) (:goal (a)))",
}


def test_the_most_can_happen_refused_plans_after_useless_answers() -> None:
    method = PddlegoPlus(max_attempts=2, max_retries=1)
    _, model, _ = talking.play(method, ["no PDDL", json.dumps(FLY)] * 9)
    assert len(model.asked) == method.most_calls(Budget(unit="rounds", limit=1), 1) == 4


def test_the_most_can_happen_thoughts_before_every_command() -> None:
    method = Reflexion(max_thoughts=1, max_retries=0)
    thought, act = ({"kind": kind, "text": "look around"} for kind in ("think", "act"))
    moves = [json.dumps(thought), json.dumps(act), json.dumps(thought)]
    moves += [json.dumps(act | {"text": "inventory"}), talking.BEGIN_AGAIN]
    budget = Budget(unit="actions", limit=2)
    _, model, _ = talking.play(method, moves, Coin(budget=budget))
    assert len(model.asked) == method.most_calls(budget, 1) == 5


def test_the_most_can_happen_sub_goals_without_a_command() -> None:
    """But for one sub-goal's end and one question after the last, which a spent budget
    spares.
    """
    method = InnerMonologue(max_retries=0, max_idle=3)
    idle = [talking.plan("x"), "done"]
    one = [*idle, *idle, talking.plan("x"), "> move west", "done"]
    budget = Budget(unit="actions", limit=2)
    _, model, _ = talking.play(method, one * 3, Coin(budget=budget))
    assert len(model.asked) == method.most_calls(budget, 1) - 2 == 13


def test_a_sweep_of_too_many_cells_is_refused_before_they_are_listed(
    pddlego: Pddlego,
) -> None:
    for words in (
        ["seed=range(0,1000000000)"],
        ["seed=range(0,999)", "environment.rooms=3,5,7,9,11,13,15,17,19,21,23"],
    ):
        for dry in ([], ["--dry-run"]):
            told = pddlego("run", "-m", "model=reference", *words, *dry, code=2).err
            assert "more than 10,000 cells" in told

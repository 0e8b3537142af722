"""`pddlego report`: the files of its comparisons."""

from pathlib import Path

from tests.pddlego import Pddlego
from tests.planted import compare


def test_an_experiment_declares_what_its_report_tests(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """Its records tell it, and another wish makes no other cell."""
    words = "run -m model=reference decoding=free games=1 environment.rooms=3"
    sweep = [*words.split(), "method.rounds=0,1", f"run.out={tmp_path}"]
    pddlego(*sweep, "compare=[{factor:method.rounds,base:1,primary:true}]")
    records = list(tmp_path.rglob("run.json"))
    assert len(records) == 2
    (found,) = compare(tmp_path / "default")
    assert found.role == "primary"
    assert found.factor == "method.rounds"
    assert found.base.value == "rounds 1"
    pddlego(*sweep, "compare=[]")
    assert list(tmp_path.rglob("run.json")) == records
    assert compare(tmp_path / "default") == []
    told = pddlego(*sweep, "compare=[{factor:rung,base:free}]", code=2).err
    assert "compare.0.factor='rung': write method" in told.replace("\n", " ")

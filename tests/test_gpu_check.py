"""`make gpu-check`: steps fail, hang and are resumed as it says, and the cheapest is
done for real.

The others need a server or minutes: a check without a GPU tries them in small.
"""

import dataclasses
import json
from pathlib import Path

import psutil
import pytest

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.weights import locate
from tools.gpu_check import running
from tools.gpu_check.__main__ import main
from tools.gpu_check.findings import Findings, NotHere
from tools.gpu_check.part import CANNOT, PARTS
from tools.gpu_check.report import report
from tools.gpu_check.running import Ended, Step, carry_out
from tools.gpu_check.scale import Setting, scale_for

LIMIT_S = 60.0


def shell(name: str, script: str, limit_s: float = LIMIT_S) -> Step:
    return Step(name, "a stand-in", limit_s, ["sh", "-c", script])


def writes_row(file: Path) -> str:
    """A shell command that writes a finding to a file."""
    return f"echo '{json.dumps({'title': 'found', 'row': {'n': 7}})}' > {file}"


def on_cpu(out: Path) -> Setting:
    return Setting("cpu", out, scale_for("cpu"))


def ended(out: Path, *steps: Step, state: str = "cpu") -> list[Ended]:
    return list(carry_out(steps, out, state, "0123456789", lambda said: None))


def test_a_step_that_fails_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    steps = [
        shell("first", "echo 'lost | its way'; exit 1"),
        shell("second", f"echo no such model; exit {CANNOT}"),
        shell("third", writes_row(tmp_path / "third.jsonl")),
    ]
    outcomes = [end.outcome for end in ended(tmp_path, *steps)]
    assert outcomes == ["failed", "cannot be done here", "done"]
    text = report(steps, on_cpu(tmp_path))
    assert "| failed | 0 | lost / its way | 0123456 |" in text
    assert "| cannot be done here | 0 | no such model | 0123456 |" in text
    assert "found:\n\n| n |\n| --- |\n| 7 |" in text
    assert "rehearsal" in text.splitlines()[0]


def test_a_step_that_hangs_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_END_S", 1)
    file = tmp_path / "children"
    script = (
        f"sleep 1000 & echo $! > {file}; setsid sleep 1001 & echo $! >> {file}; wait"
    )
    row = writes_row(tmp_path / "slow.jsonl")
    (end,) = ended(tmp_path, shell("slow", f"{row}; {script}", limit_s=5))
    assert end.outcome == "out of time"
    children = [int(line) for line in file.read_text(encoding="utf-8").split()]
    assert len(children) == 2
    for left in filter(psutil.pid_exists, children):
        assert psutil.Process(left).status() == psutil.STATUS_ZOMBIE
    assert "| n |" in report([shell("slow", "")], on_cpu(tmp_path))


def test_what_did_not_start_is_not_started_again_by_those_that_need_it(
    tmp_path: Path,
) -> None:
    began = tmp_path / "began"
    drafts = dataclasses.replace(shell("drafts", f"touch {began}"), needs="plain")
    others = [drafts, shell("training", "true")]
    ends = ended(tmp_path, shell("plain", "echo no GPU; exit 1"), *others)
    assert [end.outcome for end in ends] == ["failed", "cannot be done here", "done"]
    assert ends[1].said == "plain: failed" and not began.exists()
    ends = ended(tmp_path, shell("plain", "true"), *others)
    assert [end.outcome for end in ends] == ["done"] * 3


V1 = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
ONLY_V1 = (
    "echo runner ${VLLM_USE_V2_MODEL_RUNNER:-2}; test"
    " ${VLLM_USE_V2_MODEL_RUNNER:-2} = 0"
)


def again(name: str, script: str) -> Step:
    return dataclasses.replace(shell(name, script), again=V1)


def test_a_step_that_fails_is_tried_again_on_the_first_model_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_USE_V2_MODEL_RUNNER", raising=False)
    seen = tmp_path / "seen"
    later = shell("later", f"echo $VLLM_USE_V2_MODEL_RUNNER >> {seen}; exit 1")
    steps = [shell("before", ONLY_V1), again("plain", ONLY_V1), later]
    ends = ended(tmp_path, *steps)
    assert [end.outcome for end in ends] == ["failed", "done", "failed"]
    assert ends[1].said == "runner 2; done with VLLM_USE_V2_MODEL_RUNNER=0"
    # What comes after it has the runner that works.
    assert seen.read_text(encoding="utf-8") == "0\n"
    assert (tmp_path / "plain_first.log").read_text(encoding="utf-8") == "runner 2\n"
    assert "runner 2; done with VLLM_USE_V2_MODEL_RUNNER=0" in report(
        steps, on_cpu(tmp_path)
    )
    ended(tmp_path, *steps[1:])  # "plain" is already done
    assert seen.read_text(encoding="utf-8") == "0\n0\n"


def test_only_what_is_not_done_yet_is_done_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    good, bad = (
        shell("good", f"echo >> {count}"),
        shell("bad", f"echo >> {count}; exit 1"),
    )
    ended(tmp_path, good, bad)
    ended(tmp_path, good, bad)
    assert len(count.read_text(encoding="utf-8")) == 3
    ended(tmp_path, good, bad, state="another device")
    assert len(count.read_text(encoding="utf-8")) == 5


def test_the_cheapest_step_for_real(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--device", "cpu", "--out", str(tmp_path), "--steps", "weights"]) == 0
    assert locate(str(tmp_path / "weights")).is_dir()
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| 2 layers of 64 | float32 |" in text and "| weights |" in text
    assert main(["--device", "cpu", "--out", str(tmp_path), "--steps", "weights"]) == 0
    assert "weights: already done" in capsys.readouterr().out


def test_what_a_machine_cannot_do_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(weights: str) -> None:
        raise MissingPart(f"{weights} is not here")

    monkeypatch.setattr("tools.gpu_check.in_process.locate", absent)
    with pytest.raises(NotHere, match=r"Qwen2\.5-Coder-0\.5B-Instruct is not here"):
        PARTS["pretrained"](on_cpu(tmp_path), Findings(tmp_path / "pretrained.jsonl"))


def test_a_step_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["--steps", "server,dance"])
    assert ending.value.code == 2
    told = capsys.readouterr().err
    assert "there is no dance" in told and all(name in told for name in PARTS)

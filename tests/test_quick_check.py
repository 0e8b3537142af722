"""The quick check of a GPU: each line comes at once, each step keeps its deadline, and
what was not reached is said.

The steps themselves need a server: `python -m tools.gpu_check.quick --device cpu`
rehearses them.
"""

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tools.gpu_check.machine_questions import obstacles
from tools.gpu_check.quick import model_folder, steps
from tools.gpu_check.quick.__main__ import STEPS, Step, carry_out, main
from tools.gpu_check.quick.recorded import Request, answers, recorded
from tools.gpu_check.quick.server import Said
from tools.gpu_check.quick.sizes import SIZES
from tools.gpu_check.quick.timing import (
    Deadline,
    Failed,
    Lines,
    NotHere,
    OutOfTime,
)

ROOT = Path(__file__).parents[1]


def work_in(out: Path, env: Path = Path("none")) -> steps.Work:
    return steps.Work(env, out, "cpu", dataclasses.replace(SIZES["cpu"], times=1))


def told(out: Path) -> list[dict[str, Any]]:
    lines = (out / "quick.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_check_takes_nine_minutes() -> None:
    assert sum(step.seconds for step in STEPS) == 540


def test_steps_keep_their_deadlines_and_say_how_they_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "quick.jsonl"
    slept: list[int] = []

    def slow(work: steps.Work, deadline: Deadline, tell: steps.Tell) -> None:
        tell(what="begun")
        # What was told is there before the step ends.
        assert json.loads(file.read_text(encoding="utf-8"))["what"] == "begun"
        work.waiting = ["the second half"]
        time.sleep(60)
        slept.append(1)

    def fails(work: steps.Work, deadline: Deadline, tell: steps.Tell) -> None:
        raise Failed("the engine is broken")

    def absent(work: steps.Work, deadline: Deadline, tell: steps.Tell) -> None:
        raise NotHere("there is no GPU")

    def good(work: steps.Work, deadline: Deadline, tell: steps.Tell) -> None:
        assert deadline.left() > 0

    chosen = [
        Step("slow", 1.2, slow),
        Step("fails", 5, fails),
        Step("absent", 5, absent),
        Step("good", 5, good),
    ]
    assert carry_out(chosen, work_in(tmp_path), Lines(file)) == 1
    assert not slept, "its deadline ended the slow step"
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == told(tmp_path)
    ends = {line["step"]: line for line in printed if "outcome" in line}
    assert [line["outcome"] for line in ends.values()] == [
        "out of time",
        "failed",
        "cannot be done here",
        "done",
    ]
    assert ends["slow"]["said"] == "after 1 s"
    assert ends["slow"]["not_reached"] == ["the second half"]
    assert ends["good"]["not_reached"] == []
    assert "the engine is broken" in ends["fails"]["said"]
    assert ends["absent"]["said"] == "there is no GPU"


def test_what_was_not_reached_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here an end of a step takes so long that no time is left for the last one."""
    times = iter([0.0, 0.0, 0.0, 100.0, *[100.0] * 9])
    monkeypatch.setattr(
        "tools.gpu_check.quick.__main__.time.monotonic", lambda: next(times)
    )
    nothing = [Step(name, 2, lambda *_: None) for name in ("first", "second")]
    assert carry_out(nothing, work_in(tmp_path), Lines(tmp_path / "quick.jsonl")) == 1
    assert [line["outcome"] for line in told(tmp_path)] == ["done", "not reached"]


def test_all_of_it_needs_the_standard_library_alone() -> None:
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    script += "import tools.gpu_check.quick.__main__, tools.gpu_check.tiles"
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True)


def test_a_step_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--steps", "card,dance"])
    assert "there is no dance" in capsys.readouterr().err


def test_two_answers_of_each_rung_are_recorded() -> None:
    rows = answers(recorded())
    rungs = [row[0].rung for row in rows]
    assert rungs == [
        rung
        for rung in ("free", "json", "syntax", "signatures", "typed", "grounded")
        for _ in range(2)
    ]
    assert all(request.text for row in rows for request in row)
    assert all(len(row) > 2 for row in rows if row[0].rung in ("typed", "grounded"))


class CpuServer:
    """Gives the recorded answers, but another one to one request."""

    def __init__(self, other: Request | None = None) -> None:
        self._other = other

    def wait(self, deadline: Deadline) -> None: ...

    def ask(self, path: str, body: Mapping[str, Any], deadline: Deadline) -> Said:
        for request in recorded():
            if request.body == body and request.path == path:
                changed = self._other is not None and request == self._other
                return Said("?" if changed else request.text, 1)
        raise AssertionError(path)


def test_answers_that_differ_from_the_cpus_fail_the_step(tmp_path: Path) -> None:
    work, deadline = work_in(tmp_path), Deadline(60)
    rows: list[dict[str, Any]] = []
    work.servers["nano"] = CpuServer()  # type: ignore[assignment]
    steps.nano(work, deadline, lambda **row: rows.append(row))
    assert [row["same_as_on_cpu"] for row in rows[1:]] == [2] * 6
    other = recorded()[0]
    work.servers["nano"] = CpuServer(other)  # type: ignore[assignment]
    with pytest.raises(Failed, match="1 answers differ"):
        steps.nano(work, deadline, lambda **row: rows.append(row))
    assert [row["same_as_on_cpu"] for row in rows[-6:]] == [1, 2, 2, 2, 2, 2]


def test_the_same_stages_are_asked_with_and_without_grammars() -> None:
    free, typed, unmasked = steps._kinds(SIZES["cuda"])
    assert [len(kind.requests) for kind in (free, typed, unmasked)] == [1, 5, 5]
    for (_, body), (_, without) in zip(typed.requests, unmasked.requests, strict=True):
        assert "structured_outputs" in body and "structured_outputs" not in without
        assert body["prompt"] == without["prompt"]


def test_compared_requests_differ() -> None:
    asked = [json.dumps(body) for _, body in steps._compared(SIZES["cuda"])]
    assert len(set(asked)) == len(asked) == 64


def test_the_large_models_tokenizer_reads_text_as_nanos(tmp_path: Path) -> None:
    shape = SIZES["cuda"].shape
    folder = model_folder.make(tmp_path / "large", shape)
    large = Tokenizer.from_file(str(folder / "tokenizer.json"))
    nano = Tokenizer.from_file(str(model_folder.NANO / "tokenizer.json"))
    assert large.get_vocab_size() == shape["vocab_size"]
    text = recorded()[0].text
    assert large.encode(text).ids == nano.encode(text).ids
    assert large.decode([shape["vocab_size"] - 1])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["hidden_size"] == 4096 and config["model_type"] == "llama"


def python_in(folder: Path, script: str) -> Path:
    """An environment whose Python is a shell script."""
    python = folder / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    return folder / "env"


def test_a_sweep_is_told_line_by_line_and_ended_in_time(tmp_path: Path) -> None:
    env = python_in(tmp_path, """echo '{"what": "product"}'; sleep 1000""")
    rows: list[dict[str, Any]] = []
    work = work_in(tmp_path, env)
    step = Step("tiles", 2, lambda *given: steps.tiles(*given))
    file = tmp_path / "quick.jsonl"
    assert carry_out([step], work, Lines(file)) == 1
    rows = told(tmp_path)
    assert rows[0]["what"] == "product"
    assert rows[1]["outcome"] == "out of time"


def test_a_sweep_without_triton_is_no_failure(tmp_path: Path) -> None:
    said = """echo '{"what": "nothing", "said": "triton is not installed"}'; exit 4"""
    work = work_in(tmp_path, python_in(tmp_path, said))
    with pytest.raises(NotHere, match="triton"):
        steps.tiles(work, Deadline(60), lambda **row: None)


def test_a_deadline_that_has_passed() -> None:
    with pytest.raises(OutOfTime):
        Deadline(-1).left()


def test_what_would_stop_a_server_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    include = tmp_path / "include"
    include.mkdir()
    env = python_in(tmp_path, f"echo {include}")
    monkeypatch.delenv("CC", raising=False)
    compiler = tmp_path / "gcc"
    compiler.write_text("#!/bin/sh\n", encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (headers,) = obstacles(env, [(80_000, 81_559)])
    assert f"There is no {include}/Python.h" in headers and "python3-dev" in headers
    (include / "Python.h").touch()
    assert obstacles(env, [(80_000, 81_559)]) == []
    (memory,) = obstacles(env, [(80_000, 81_559), (40_000, 81_559)])
    assert "39.1 of 79.6 GiB" in memory and "gpu_memory_utilization=0.49" in memory
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    (compiler_absent,) = obstacles(env, [])
    assert "no C compiler" in compiler_absent and "apt install gcc" in compiler_absent

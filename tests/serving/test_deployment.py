"""What serves elsewhere, as far as it can be checked here: the requirements of the CUDA
build, the container, the Slurm job, the scripts.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CUDA = ROOT / "serving" / "requirements-cuda.txt"
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORM = "x86_64-manylinux_2_31"  # what the wheels need; serving/README.md says so
SCRIPTS = ("serving/slurm.sbatch", ".ci/run")
UNREACHABLE = (
    "Failed to fetch",
    "error sending request",
    "dns error",
    "Could not connect",
)


def tool(name: str) -> str:
    """A program that a package of the extra [dev] brings."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    found = shutil.which(name, path=path)
    assert found, f"{name} is not installed: see the extra [dev]"
    return found


def printed(*command: str | Path, **variables: str) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    done = subprocess.run(
        command,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("python", PYTHONS)
def test_the_cuda_build_is_to_be_had_as_wheels(python: str) -> None:
    """Told by metadata alone: pip's dry run would fetch gigabytes."""
    command = [tool("uv"), "pip", "compile", "--no-header", "--quiet", str(CUDA)]
    command += ["--python-version", python, "--python-platform", PLATFORM]
    command += ["--only-binary", ":all:"]
    if index := os.environ.get("PIP_INDEX_URL"):
        command += ["--default-index", index]
    code, text = printed(*command, UV_HTTP_TIMEOUT="30", UV_NO_CONFIG="1", NO_COLOR="1")
    if code and any(sign in text for sign in UNREACHABLE):
        pytest.skip("no package index can be reached")
    lines = text.splitlines()
    assert CUDA.read_text(encoding="utf-8").splitlines()[-1] in lines
    versions = dict(line.split("==") for line in lines if "==" in line)
    needed = {"torch", "llguidance", "transformers", "flashinfer-python"}
    assert needed <= versions.keys()
    # The two are made from one source: the older cuda-python has other modules than
    # these bindings.
    for package in ("cuda-python", "cuda-bindings"):
        assert versions[package].startswith("13.")


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_clean(script: str) -> None:
    for checker in ("bash", "-n"), (tool("shellcheck"),):
        code, text = printed(*checker, ROOT / script)
        assert code == 0, text


def test_the_container_is_clean_and_has_what_the_launcher_needs() -> None:
    dockerfile = ROOT / "serving" / "Dockerfile"
    code, text = printed(tool("hadolint"), dockerfile)
    assert code == 0, text
    lines = dockerfile.read_text(encoding="utf-8").splitlines()
    copies = next(line for line in lines if line.startswith("COPY "))
    copied = set(copies.split()[1:-1])
    assert copied == {CUDA.name, *(path.name for path in CUDA.parent.glob("*.py"))}


def test_the_job_gives_its_words_to_pddlego(tmp_path: Path) -> None:
    """Run with a stand-in for `srun`, which prints what it is told to run."""
    srun = tmp_path / "srun"
    srun.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    srun.chmod(0o755)
    job = ("bash", ROOT / "serving/slurm.sbatch")
    path = f"{tmp_path}:{os.environ['PATH']}"
    option = "'decoding.stage_tokens={types: 500}'"
    code, text = printed(*job, "qwen3_32b", "games=0-9", option, PATH=path)
    assert code == 0
    words = [".venv/bin/pddlego", "run", "model=qwen3_32b", "games=0-9", option]
    assert text.splitlines() == words
    code, text = printed(*job, PATH=path)
    assert code != 0
    assert "sbatch serving/slurm.sbatch MODEL" in text

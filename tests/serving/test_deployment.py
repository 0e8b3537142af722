"""What serves elsewhere, as far as it can be checked here: the requirements of the CUDA
build, the container, the Slurm job, the scripts.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CUDA = ROOT / "serving" / "requirements-cuda.txt"
PYTHONS = ("3.11", "3.12", "3.13")
GLIBC = "2_31"  # what the wheels need; serving/README.md says so
SCRIPTS = ("serving/slurm.sbatch", ".ci/run")
UNREACHABLE = (
    "Failed to fetch",
    "error sending request",
    "dns error",
    "Could not connect",
)


def tool(name: str) -> str:
    """A program that a package of the extra [dev] brings."""
    found = shutil.which(
        name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    )
    assert found, f"{name} is not installed: see the extra [dev]"
    return found


def resolve(python: str, glibc: str) -> subprocess.CompletedProcess[str]:
    """What would be installed, told by metadata alone: pip's dry run would fetch
    gigabytes.
    """
    index = os.environ.get("PIP_INDEX_URL")
    chosen = ["--default-index", index] if index else []
    return subprocess.run(
        [
            *(tool("uv"), "pip", "compile", "--no-header", "--quiet", str(CUDA)),
            *(
                "--python-version",
                python,
                "--python-platform",
                f"x86_64-manylinux_{glibc}",
            ),
            *("--only-binary", ":all:", *chosen),
        ],
        env={
            **os.environ,
            "UV_HTTP_TIMEOUT": "30",
            "UV_NO_CONFIG": "1",
            "NO_COLOR": "1",
        },
        capture_output=True,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def resolved() -> dict[tuple[str, str], str]:
    """By Python and glibc, what uv says, asked all at once: it waits for the index most
    of the time. Where none can be reached there is nothing to test.
    """
    asked = [*((python, GLIBC) for python in PYTHONS), (PYTHONS[0], "2_28")]
    with ThreadPoolExecutor(len(asked)) as pool:
        done = list(pool.map(lambda one: resolve(*one), asked))
    if any(
        one.returncode and any(sign in one.stderr for sign in UNREACHABLE)
        for one in done
    ):
        pytest.skip("no package index can be reached")
    return {
        one: told.stdout + told.stderr for one, told in zip(asked, done, strict=True)
    }


@pytest.mark.parametrize("python", PYTHONS)
def test_the_cuda_build_is_to_be_had_as_wheels(
    resolved: dict[tuple[str, str], str], python: str
) -> None:
    lines = resolved[python, GLIBC].splitlines()
    assert CUDA.read_text(encoding="utf-8").splitlines()[-1] in lines
    versions = dict(line.split("==") for line in lines if "==" in line)
    assert {
        "torch",
        "llguidance",
        "transformers",
        "flashinfer-python",
    } <= versions.keys()
    # The two are made from one source: the older cuda-python has other modules than
    # these bindings.
    cuda_python, bindings = versions["cuda-python"], versions["cuda-bindings"]
    assert cuda_python.split(".")[0] == bindings.split(".")[0] == "13"


def test_an_older_glibc_lacks_a_wheel(resolved: dict[tuple[str, str], str]) -> None:
    """RHEL 8 and its relatives have 2.28; serving/README.md tells what to do."""
    assert (
        "llguidance" in resolved[PYTHONS[0], "2_28"].partition("No solution found")[2]
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_clean(script: str) -> None:
    assert subprocess.run(["bash", "-n", ROOT / script]).returncode == 0
    done = subprocess.run(
        [tool("shellcheck"), ROOT / script], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout


def test_the_container_is_clean() -> None:
    dockerfile = ROOT / "serving" / "Dockerfile"
    done = subprocess.run(
        [tool("hadolint"), dockerfile], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout


def test_the_container_copies_what_the_launcher_needs() -> None:
    copied = next(
        line.split()[1:-1]
        for line in (ROOT / "serving" / "Dockerfile")
        .read_text(encoding="utf-8")
        .splitlines()
        if line.startswith("COPY ")
    )
    assert set(copied) == {CUDA.name, *(path.name for path in CUDA.parent.glob("*.py"))}


def test_the_job_gives_its_words_to_pddlego(tmp_path: Path) -> None:
    """Run with a stand-in for `srun`, which prints what it is told to run."""
    (tmp_path / "srun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (tmp_path / "srun").chmod(0o755)

    def job(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", ROOT / "serving/slurm.sbatch", *words],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            encoding="utf-8",
        )

    told = job("qwen3_32b", "games=0-9", "'decoding.stage_tokens={types: 500}'")
    assert told.stdout.splitlines() == [
        *(".venv/bin/pddlego", "run", "model=qwen3_32b", "games=0-9"),
        "'decoding.stage_tokens={types: 500}'",
    ]
    assert job().returncode != 0 and "sbatch serving/slurm.sbatch MODEL" in job().stderr

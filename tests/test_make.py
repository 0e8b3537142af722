"""What `make` says where nothing can be installed: the step, what it needs, how it goes
on.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


# Makes an environment at once: with this one's pip instead of a copy.
PYTHON = f"""#!/bin/sh
[ "$1" = -m ] || exec {sys.executable} "$@"
{sys.executable} -m venv --without-pip "$3" || exit 1
echo '#!/bin/sh' > "$3/bin/pip"
echo 'exec {sys.executable} -m pip --python "${{0%/*}}/python" "$@"' >> "$3/bin/pip"
chmod +x "$3/bin/pip"
"""
WITHOUT_ENSUREPIP = f"""#!/bin/sh
[ "$1" = -m ] && echo "ensurepip is not available" && exit 1
exec {sys.executable} "$@"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What installing reads of the project."""
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "serving", tmp_path / "serving")
    return tmp_path


def make(checkout: Path, target: str, script: str = PYTHON) -> tuple[int, str]:
    """The exit code, and the last line that is not make's own."""
    python = checkout / "python"
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PIP_", "MAKE"))
    }
    nowhere = {
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "CXX": "no-such-compiler",
    }
    done = subprocess.run(
        ["make", target, "DEVICE=cpu", f"PYTHON={python}"],
        cwd=checkout,
        env=kept | nowhere,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    lines = [
        line for line in done.stdout.splitlines() if not line.startswith("make: ***")
    ]
    return done.returncode, lines[-1] if lines else ""


def assert_failed(checkout: Path, target: str, step: str) -> str:
    """That `make` names the step and what it needs, and counts nothing as installed."""
    code, last = make(checkout, target)
    assert code == 2
    assert last.startswith(f"make {target}: {step} failed")
    assert (
        "package index" in last and "PIP_INDEX_URL" in last and "same command" in last
    )
    assert not (checkout / target).exists()
    return last


def test_the_main_environment(checkout: Path) -> None:
    into_venv = "installing what pyproject.toml requires into .venv"
    assert_failed(checkout, ".venv/installed", into_venv)
    (checkout / ".venv/installed").touch()
    for_tests = "installing what pyproject.toml requires for tests into .venv"
    assert_failed(checkout, ".venv/installed-dev", for_tests)


def test_the_serving_environment_goes_on_where_it_stopped(checkout: Path) -> None:
    step = "installing serving/requirements-cpu.txt into .venv-serving"
    assert "compiler" not in assert_failed(checkout, ".venv-serving/installed", step)
    (checkout / "serving/requirements-cpu.txt").write_text(
        "# an index with all that is needed\n", encoding="utf-8"
    )
    assert make(checkout, "serving")[0] == 0
    assert (checkout / ".venv-serving/installed").exists()


def test_alfworlds_environment_needs_a_compiler_too(checkout: Path) -> None:
    step = "installing alfworld==0.4.2 textworld==1.7.0 into .venv-alfworld"
    last = assert_failed(checkout, ".venv-alfworld/installed", step)
    assert "C++ compiler, and no-such-compiler was not found" in last


FOLDERS = [".venv", ".venv-serving", ".venv-alfworld", ".venv-docs", ".venv-release"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_python_that_makes_no_environments(checkout: Path, folder: str) -> None:
    code, last = make(checkout, f"{folder}/installed", WITHOUT_ENSUREPIP)
    assert code == 2
    assert last.startswith(
        f"make {folder}/installed: making the environment {folder} failed"
    )
    assert "ensurepip" in last

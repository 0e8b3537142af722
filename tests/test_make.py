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
    environment = dict(os.environ)
    for name in os.environ:
        if name.startswith(("PIP_", "MAKE")):
            del environment[name]
    environment["PIP_NO_INDEX"] = "1"
    environment["PIP_CONFIG_FILE"] = os.devnull
    environment["CXX"] = "no-such-compiler"
    done = subprocess.run(
        ["make", target, "DEVICE=cpu", f"PYTHON={python}"],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    lines = [
        line for line in done.stdout.splitlines() if not line.startswith("make: ***")
    ]
    return done.returncode, lines[-1] if lines else ""


@pytest.mark.parametrize(
    ("folder", "step"),
    [
        (".venv", "installing what pyproject.toml requires into .venv"),
        (
            ".venv-alfworld",
            "installing alfworld==0.4.2 textworld==1.7.0 into .venv-alfworld",
        ),
    ],
)
def test_without_an_index_make_names_the_step_and_what_it_needs(
    checkout: Path, folder: str, step: str
) -> None:
    code, last = make(checkout, f"{folder}/installed")
    assert code == 2 and last.startswith(f"make {folder}/installed: {step} failed")
    assert "PIP_INDEX_URL" in last and "same command" in last
    needs_compiler = "C++ compiler, and no-such-compiler was not found" in last
    assert needs_compiler == (folder == ".venv-alfworld")
    assert not (checkout / folder / "installed").exists()


def test_the_same_command_goes_on_where_it_stopped(checkout: Path) -> None:
    code, last = make(checkout, "serving")
    assert code == 2 and "installing serving/requirements-cpu.txt" in last
    requirements = checkout / "serving/requirements-cpu.txt"
    requirements.write_text("# an index with all that is needed\n", encoding="utf-8")
    assert make(checkout, "serving")[0] == 0
    assert (checkout / ".venv-serving/installed").exists()


def test_a_python_that_makes_no_environments(checkout: Path) -> None:
    code, last = make(checkout, ".venv/installed", WITHOUT_ENSUREPIP)
    step = "making the environment .venv failed"
    assert code == 2 and last.startswith(f"make .venv/installed: {step}")
    assert "ensurepip" in last

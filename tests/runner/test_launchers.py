"""Sweeps whose jobs other launchers start: every cell played once, and what is missing
is told.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cells
from pddlego_local.runner.sweep import check_launcher, go_to
from tests.pddlego import Pddlego
from tests.processes import ran
from tools.chaos.sweeps import Rows, rows_of


def installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(f"hydra_plugins.{package}") is not None
    except ModuleNotFoundError:
        return False


ray = pytest.mark.skipif(
    not (installed("hydra_ray_launcher") and importlib.util.find_spec("ray")),
    reason="the extra ray is not installed",
)
NOBODY = "model.server.url=http://127.0.0.1:9/v1"

# Runs the jobs of an array one after the other, where Slurm would ask for nodes.
SBATCH = """#!/bin/sh
array=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$1")
setsid sh -c 'for task in $(seq 0 '$array'); do
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_JOB_ID=77 SLURM_JOB_ID=77 \\
  SLURM_PROCID=0 SLURM_LOCALID=0 \\
  SLURM_NODEID=0 SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 sh '"$1"'
done' > "$0.log" 2>&1 < /dev/null &
echo "Submitted batch job 77"
"""
SRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do
  [ "$1" = --output ] || [ "$1" = --error ] && shift
  shift
done
exec "$@"
"""
SACCT = (
    "#!/bin/sh\nprintf"
    " 'JobID|State|NodeList\\n77_0|RUNNING|node\\n77_1|RUNNING|node\\n'\n"
)


def sweep(*words: str, **variables: str) -> tuple[int, str]:
    """Exit code, and what was told on both streams."""
    command = ("-m", "pddlego_local", "run", "-m", *words)
    done = ran(*command, stderr=subprocess.STDOUT, env={**os.environ, **variables})
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows of the same sweep, played in one process."""
    out = tmp_path_factory.mktemp("here")
    words = [f"run.out={out}", "games=0-1"]
    cells = [compose_cell([*words, f"environment.rooms={rooms}"]) for rooms in (3, 5)]
    run_cells(cells, lambda result: None)
    return rows_of(out)


def test_jobs_play_each_cell_once_and_what_none_played_is_told(
    tmp_path: Path, here: Rows
) -> None:
    words = [f"run.out={tmp_path}", "games=0-1", "environment.rooms=3,5"]
    code, told = sweep(*words, "hydra/launcher=submitit_local")
    assert code == 0, told
    assert rows_of(tmp_path) == here
    lost = ["name=lost", "model=vllm", "model.weights=x", NOBODY]
    code, told = sweep(
        f"run.out={tmp_path}", "games=0-1", *lost, "hydra/launcher=submitit_local"
    )
    assert code == 3 and "2 episodes of the sweep have no result" in told
    assert "Traceback" not in told
    (log,) = tmp_path.glob("lost/.submitit/*/*.err")
    assert "Check the server at http://127.0.0.1:9/v1" in log.read_text(
        encoding="utf-8"
    )


def test_through_slurms_commands_each_job_plays_its_cell(
    tmp_path: Path, here: Rows
) -> None:
    for name, script in {"sbatch": SBATCH, "srun": SRUN, "sacct": SACCT}.items():
        (tmp_path / name).write_text(script, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    out = tmp_path / "runs"
    code, told = sweep(
        f"run.out={out}", "games=0-1", "environment.rooms=3,5",
        "hydra/launcher=submitit_slurm", "hydra.launcher.partition=gpu",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )  # fmt: skip
    assert code == 0, told + (tmp_path / "sbatch.log").read_text(encoding="utf-8")
    assert rows_of(out) == here
    assert (tmp_path / "sbatch.log").read_text(encoding="utf-8").count(
        "2 episodes to play, 0 done"
    ) == 2
    sent = next(out.rglob("*submission*.sh"))
    assert "#SBATCH --partition=gpu" in sent.read_text(encoding="utf-8")
    assert "#SBATCH --gpus-per-node=1" in sent.read_text(encoding="utf-8")


@ray
def test_through_ray(tmp_path: Path, here: Rows) -> None:
    resources = [
        f"hydra.launcher.ray.remote.num_{kind}" for kind in ("gpus=0", "cpus=1")
    ]
    words = [f"run.out={tmp_path}", "games=0-1", "environment.rooms=3,5"]
    code, told = sweep(*words, "hydra/launcher=ray", *resources)
    assert code == 0, told
    assert rows_of(tmp_path) == here


@pytest.mark.parametrize(("package", "extra"), [("submitit", "slurm"), ("ray", "ray")])
def test_a_launcher_that_is_not_installed(
    package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"hydra_plugins.hydra_{package}_launcher.{package}_launcher"
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPart, match=rf"pip install 'pddlego_local\[{extra}\]'"):
        check_launcher(f"{module}.SomeLauncher")


def test_without_slurm_here_no_job_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["-m", f"run.out={tmp_path}", "hydra/launcher=submitit_slurm"]
    assert "srun is not installed here" in " ".join(
        pddlego("run", *words, code=3).err.split()
    )
    assert not list(tmp_path.iterdir())


def test_a_machine_that_does_not_see_the_sweeps_folder() -> None:
    with pytest.raises(ConfigError, match="does not see /nowhere"):
        go_to("/nowhere")

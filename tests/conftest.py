"""What every test needs, and which tests `make test` leaves to `make test-all`."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # the tests of two processes share two cores
os.environ.pop(
    "COLUMNS", None
)  # xdist sets it, and nobody reads what its processes print

ROOT = Path(__file__).parents[1]
# By marker: files and folders, and tests with such a word in their name or parameters.
# What takes longest comes first, so that no process is left with it at the end.
MARKED = {
    "serving": (
        *(
            "serving/test_vllm.py",
            "serving/test_vllm_continued.py",
            "serving/test_vllm_killed.py",
            "serving/test_vllm_model_folder.py",
        ),
        *("serving/test_vllm_company.py", "serving/test_launch_flags.py"),
        *("serving/test_vllm_patches.py", "serving/test_matmul_tiles.py"),
        *("serving/test_smollm2.py", "models/test_slices.py", "[make serv"),
        "[pddlego run model=vllm model.weights=/my/model.gguf]",
        *("grammars/test_large_vocabulary.py", "test_the_cheapest_step_for_real"),
    ),
    "train": ("training/",),
    "long": (
        *("test_chaos.py", "fuzz/", "models/test_families.py", "after_every_signal"),
        *(
            "models/test_forced_tokens.py",
            "models/test_gguf.py",
        ),
        *("methods/test_ceiling.py", "report/test_papers.py"),
        "decoding/test_recorded_rungs.py",
        *("environments/test_names.py", "environments/test_cooking_reference.py"),
        *("test_gpu_check.py", "test_new_environment.py"),
        *("runner/test_launchers.py", "methods/test_ladder_systems.py"),
        *("serving/test_deployment.py", "[make demo]", "by_every_method[cooking_hard]"),
        *("test_nothing_reaches_for_a_hub", "plays_each_world_in_the_box"),
    ),
    "alfworld": (*("alfworld", "decoding/test_edits_in_games.py"),),
}
# Of the tests without a marker, the files that take longest: they come before the
# others.
LONGEST = (
    "test_readme.py",
    "report/test_shipped_records.py",
    "docs/test_results.py",
    "runner/test_config.py",
    "test_systems.py",
)
KILLED = "test_vllm_killed.py"
"""The last of all that use its servers: they do not survive."""
# Where a test without the marker looks for the environment: what needs one must say so.
ENVIRONMENTS = {"serving": "PDDLEGO_SERVING_ENV", "alfworld": "PDDLEGO_ALFWORLD_ENV"}
_GIVEN = {variable: os.environ.get(variable) for variable in ENVIRONMENTS.values()}

# A shell that starts the tests in the background lets them and their children ignore
# Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = f"{item.path.relative_to(ROOT).as_posix()}::{item.name}".lower()
        for marker, words in MARKED.items():
            if any(word in place for word in words):
                item.add_marker(marker)
    order = [*MARKED]
    items.sort(
        key=lambda item: (
            item.path.name == KILLED,
            min(map(order.index, markers_of(item)), default=len(order)),
            not item.path.as_posix().endswith(LONGEST),
        )
    )


def markers_of(item: pytest.Item) -> set[str]:
    return {marker.name for marker in item.iter_markers() if marker.name in MARKED}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, variable in ENVIRONMENTS.items():
        place = (
            _GIVEN[variable] if marker in markers_of(item) else f"/no {marker} marker"
        )
        if place is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = place


@pytest.fixture
def pddlego(capsys: pytest.CaptureFixture[str]) -> Any:
    from tests.pddlego import Pddlego  # likewise not before

    return Pddlego(capsys)


@pytest.fixture(scope="session")
def planner() -> Iterator[Any]:
    from pddlego_local.planner import (
        FastDownward,
    )  # not before the variables above are set

    with FastDownward() as planner:
        yield planner


@pytest.fixture(autouse=True)
def _outcomes_of_others_are_forgotten() -> Iterator[None]:
    """A record that was read declares its outcomes for the whole process."""
    from pddlego_local.core.outcomes import OUTCOMES  # likewise not before

    shipped = dict(OUTCOMES)
    yield
    OUTCOMES.clear()
    OUTCOMES.update(shipped)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits before it tries again."""
    monkeypatch.setattr(
        "tenacity.nap.time", SimpleNamespace(sleep=lambda seconds: None)
    )


@pytest.fixture(scope="session")
def heat() -> Iterator[Any]:
    """ALFWorld with games of one kind."""
    from pddlego_local.environments.alfworld.game import Alfworld

    game = Alfworld(task_types=("pick_heat_then_place_in_recep",))
    yield game
    game.close()


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """A file's tests run in one process, and those of all that share vLLM servers in
    one too.
    """

    def _split_scope(self, nodeid: str) -> str:
        shared = nodeid.startswith("tests/serving/test_vllm")
        return "servers" if shared else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _Scheduling:
    return _Scheduling(config, log)

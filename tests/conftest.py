"""What every test needs."""

import os
import signal
from collections.abc import Iterator

import pytest

from pddlego_local.runner.model_store import MODELS

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tests of two processes share two cores
os.environ.pop("COLUMNS", None)  # xdist sets it, and nobody reads what its processes print

LONG = {"serving", "train", "chaos"}  # folders

# A shell that starts the tests in the background lets them and their children ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_model_outlives_the_tests() -> Iterator[None]:
    yield
    MODELS.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins, so that no process is left with it at the end."""
    items.sort(key=lambda item: LONG.isdisjoint(item.path.parts))

"""What every test needs."""

import signal
from collections.abc import Iterator

import pytest

from pddlego_local.models.opened import MODELS

SHARE_SERVERS = {"test_forced_tokens", "test_vllm", "test_vllm_continued", "test_vllm_killed"}
LONG = {"serving", "train", "chaos"}  # folders

# A shell that starts the tests in the background lets them and their children ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_model_outlives_the_tests() -> Iterator[None]:
    yield
    MODELS.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file run in one process, and so do those that share the vLLM servers. What
    takes longest begins."""
    items.sort(key=lambda item: LONG.isdisjoint(item.path.parts))
    for item in items:
        shared = item.path.stem in SHARE_SERVERS
        group = "servers" if shared else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))

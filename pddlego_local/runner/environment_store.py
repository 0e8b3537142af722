"""Keeps the environments of a cell, to use them again in its next episodes."""

import contextlib
import queue
import threading
from collections.abc import Iterator

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import Environment
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.provenance import files_sha256


class EnvironmentStore:
    """Lends the environments of one cell, each to one episode at a time. Thread-safe.

    `wanted` counts the episodes that have not begun. At zero, returned environments are
    closed, so that the next cell's environments have room.
    """

    def __init__(self, config: CellConfig) -> None:
        self.first: Environment = config.build("environment")
        self.wanted = 0
        self._config = config
        self._idle: queue.SimpleQueue[Environment] = queue.SimpleQueue()
        self._idle.put(self.first)
        self._lock = threading.Lock()

    def begin_one(self) -> None:
        with self._lock:
            self.wanted -= 1

    @contextlib.contextmanager
    def lend(self) -> Iterator[Environment]:
        """Lends an idle environment or a new one; closes one in which an episode
        failed.
        """
        try:
            environment = self._idle.get_nowait()
        except queue.Empty:
            environment = self._another()
        try:
            yield environment
        except BaseException:
            environment.close()
            raise
        if self.wanted > 0:
            self._idle.put(environment)
        else:
            environment.close()

    def _another(self) -> Environment:
        """Builds an environment like the first. Raises ConfigError if the files of its
        games were edited since.
        """
        environment: Environment = self._config.build("environment")
        if files_sha256(environment) != files_sha256(self.first):
            raise ConfigError(
                "the files of the world were edited while it was played: give the"
                " command again, with another `name`"
            )
        return environment

    def close(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

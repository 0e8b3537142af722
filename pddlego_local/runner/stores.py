"""What is built once and used again: the environments of a cell's episodes, and a sweep's model."""

import contextlib
import queue
import threading
from collections.abc import Iterator

from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.question import Model
from pddlego_local.runner.config import CellConfig


class EnvironmentStore:
    """The environments of one cell, each lent to one episode at a time. Thread-safe.

    `wanted` is how many episodes have not begun: when none is left, what comes back is closed, so
    that the next cell's environments have room.
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
        """An idle environment or a new one; one in which an episode failed is not used again."""
        try:
            environment = self._idle.get_nowait()
        except queue.Empty:
            environment = self._config.build("environment")
        try:
            yield environment
        except BaseException:
            environment.close()
            raise
        if self.wanted > 0:
            self._idle.put(environment)
        else:
            environment.close()

    def close(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()


class ModelStore:
    """The model last used stays open: the cells that share it share its server. For one thread."""

    def __init__(self) -> None:
        self._configured: object = None
        self._model: Model | None = None

    def get(self, config: CellConfig) -> Model:
        """The configured model: the one that is open, if it is that, or a new one. Starts nothing.

        Raises ConfigError for an impossible option.
        """
        if self._model is not None and config.tree["model"] == self._configured:
            return self._model
        model: Model = config.build("model")
        return model

    def open(self, config: CellConfig, model: Model) -> None:
        """Keeps the model of this configuration; another one is closed first."""
        if model is not self._model:
            self.close()
        self._configured, self._model = config.tree["model"], model

    @property
    def restarts(self) -> int:
        """How often the server of the model that is open died; 0 for one without."""
        return getattr(self._model, "restarts", 0)

    def close(self) -> None:
        model, self._model = self._model, None
        if model:
            model.close()

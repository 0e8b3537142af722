"""The model last used stays open: the cells of a sweep that share it share its server."""

import threading

from pddlego_local.decoding.question import Model
from pddlego_local.runner.config import CellConfig


class ModelStore:
    """At most one model is open at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._configured: object = None
        self._model: Model | None = None

    def get(self, config: CellConfig) -> Model:
        """The configured model: the one that is open, if it is that, or a new one. Starts nothing.

        Raises ConfigError for an impossible option.
        """
        with self._lock:
            if self._model is not None and config.tree["model"] == self._configured:
                return self._model
            model: Model = config.build("model")
            return model

    def open(self, config: CellConfig, model: Model) -> None:
        """Keeps the model of this configuration; another one is closed first."""
        with self._lock:
            if model is not self._model:
                self._close()
            self._configured, self._model = config.tree["model"], model

    @property
    def restarts(self) -> int:
        """How often the server of the model that is open died; 0 for one without."""
        return getattr(self._model, "restarts", 0)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        model, self._model = self._model, None
        if model:
            model.close()

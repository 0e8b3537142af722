"""The model last used stays open: the cells of a sweep that share it share its server."""

import threading

from pddlego_local.config import CellConfig
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.question import Model


def preflight(config: CellConfig, model: Model) -> Model:
    """The model; raises MissingPart or ConfigError before anything is loaded."""
    decoding: Decoding = config.build("decoding")
    model.preflight(thinking=decoding.thinking)
    return model


class OpenModel:
    """At most one model at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._configured: object = None
        self._model: Model | None = None

    def get(self, config: CellConfig) -> Model:
        """The configured model; another one is closed first.

        Raises MissingPart or ConfigError before anything is loaded.
        """
        with self._lock:
            wanted = config.tree["model"]
            if self._model is None or wanted != self._configured:
                self._close()
                self._configured, self._model = wanted, config.build("model")
            return preflight(config, self._model)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        model, self._model = self._model, None
        if model:
            model.close()


MODELS = OpenModel()

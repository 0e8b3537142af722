"""Draws some recorded greedy answers again, from a server that should have the same
model.
"""

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pddlego_local.api.options import model_options, overrides_of
from pddlego_local.core.record.run_record import RunRecord
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.replayed_model import Request

ANSWERS = 10


class _Chosen(NamedTuple):
    """A request, and the name of the weights that answered it."""

    weights: str
    request: Request


class Redraw:
    """Chooses `ANSWERS` of all greedy requests, each with the same chance, whatever
    their number is. Thread-safe.
    """

    def __init__(self) -> None:
        self._chosen = list[_Chosen]()
        self._seen = 0
        self._lock = threading.Lock()

    def for_model(self, run: RunRecord) -> Callable[[Request], None]:
        """Returns what is told of each request of a cell that is played again."""
        weights = str(run.model.get("weights"))

        def on_request(request: Request) -> None:
            if request.sampling.temperature == 0:
                self._consider(_Chosen(weights, request))

        return on_request

    def _consider(self, chosen: _Chosen) -> None:
        with self._lock:
            self._seen += 1
            if len(self._chosen) < ANSWERS:
                self._chosen.append(chosen)
            elif (place := random.randrange(self._seen)) < ANSWERS:
                self._chosen[place] = chosen

    def differences(self, server_url: str) -> Iterator[str]:
        """Draws the chosen answers again. Yields a sentence for each that differs, and
        prints how many are equal.
        """
        equal = 0
        for weights, request in self._chosen:
            options = model_options(weights, server_url)
            model = compose_cell(overrides_of(options)).build("model")
            with contextlib.closing(model):
                drawn = model.complete(
                    request.messages, request.grammar, request.sampling, request.prefix
                )
            recorded = request.recorded
            if (drawn.text, drawn.thought) == (recorded.text, recorded.thought):
                equal += 1
            else:
                yield (
                    f"{weights} at {server_url} answers {drawn.text!r:.60} where the"
                    f" record has {recorded.text!r:.60}"
                )
        print(f"{equal} of {len(self._chosen)} greedy answers drawn again are equal")

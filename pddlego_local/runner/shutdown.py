"""What ends a run before its last episode: a limit of its settings, or Ctrl-C.

No further episode begins then, and those that have begun are finished and recorded, so that nothing
is lost and the same command goes on. A second Ctrl-C stops at once.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from pddlego_local.runner.settings import RunSettings


class Shutdown:
    """Whether episodes may still begin. Thread-safe.

    `tokens` are those of the episodes that have finished, prompts and answers together. Hours count
    from here.
    """

    def __init__(self, limits: RunSettings, tokens: int) -> None:
        self.interrupted = False
        self._limits, self._tokens = limits, tokens
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def count(self, tokens: int) -> None:
        """Of an episode that has finished now."""
        with self._lock:
            self._tokens += tokens

    @property
    def reason(self) -> str:
        """In words, "" while episodes may begin."""
        most_tokens, most_hours = self._limits.max_tokens_total, self._limits.max_hours
        if self.interrupted:
            return "interrupted"
        if most_tokens is not None and self._tokens >= most_tokens:
            return f"run.max_tokens_total={most_tokens} is reached ({self._tokens:,} tokens)"
        if most_hours is not None and time.monotonic() - self._began >= 3600 * most_hours:
            return f"run.max_hours={most_hours:g} is reached"
        return ""

    @contextlib.contextmanager
    def on_interrupt(self, in_flight: Callable[[], int]) -> Iterator[None]:
        """Within the block, the first Ctrl-C while episodes are in flight lets them finish; any
        other raises KeyboardInterrupt. Outside of the main thread nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(number: int, frame: FrameType | None) -> None:
            if self.interrupted or not in_flight():
                signal.default_int_handler(number, frame)
            self.interrupted = True

        before = signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

"""Work whose results are used as they come: no result waits for another, and none is lost."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def each_as_it_ends(
    make: Callable[[int], T], numbers: Sequence[int], width: int, use: Callable[[T], None]
) -> None:
    """Calls `use(make(number))` for all numbers, `width` at a time, one `use` at a time.

    Raises the first error of any; nothing more is begun or used then, nor after an interrupt. What
    is being made at that moment is left alone: its thread ends with the process.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    using = threading.Lock()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                made = make(number)
                with using:
                    if not stop.is_set():
                        use(made)
            except BaseException as error:
                ended.put(error)
                return
            ended.put(None)

    try:
        for _ in range(min(width, len(numbers))):
            threading.Thread(target=work, daemon=True).start()
        for _ in numbers:
            if error := ended.get():
                raise error
    finally:
        with using:  # whatever is being written is written whole
            stop.set()

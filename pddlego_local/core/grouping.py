"""Groups values by a key."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Groups the second elements of the pairs by the first ones, both in order."""
    groups: dict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def grouped_by(values: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Groups the values by their keys, both in order."""
    return grouped((key(value), value) for value in values)

"""The text of an answer in stages: what it gains, and what is rolled back and resampled."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.stages import Stage

Part = Generator[Stage, str, None]
"""Some stages of an answer."""

Build = Callable[[Rules], str]
"""Adds the rules of a stage; what its start is."""


@dataclass(frozen=True)
class Resample:
    """The text is cut at this offset and goes on with `put`, then with what is drawn by `build`."""

    offset: int
    build: Build | None
    put: str = ""


Look = Callable[[], Resample | None]
"""Looks at the text: what is to be drawn again, if anything."""


class Writing:
    """The answer so far, in its layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.text = ""
        self._drawn = ""  # `text` without what was put there since the last stage

    def write(self, name: str, build: Build, offset: int | None = None) -> Part:
        """One stage more, behind what stands before `offset` (None: behind the text)."""
        rules = Rules(self.layout)
        grammar = rules.grammar(name, build(rules))
        before = self.text[:offset] + rules.head
        kept = _common(self._drawn, before)
        added = yield Stage(name, grammar, drop=len(self._drawn) - kept, head=before[kept:])
        self.text = self._drawn = before[:kept] + added

    def put(self, offset: int, text: str) -> None:
        """Has the text go on from `offset` with words that need no model."""
        self.text = self.text[:offset] + text

    def write_until_right(self, name: str, build: Build, looks: Iterable[Look]) -> Part:
        """One stage more; then what the `looks` find is resampled, the first of it each time, until
        they find nothing."""
        looks = tuple(looks)
        yield from self.write(name, build)
        yield from self.resample(name, looks)

    def resample(self, name: str, looks: Iterable[Look]) -> Part:
        looks = tuple(looks)
        while found := [again for look in looks if (again := look())]:
            first = min(found, key=lambda again: again.offset)
            self.put(first.offset, first.put)
            if first.build:
                yield from self.write(name, first.build)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))

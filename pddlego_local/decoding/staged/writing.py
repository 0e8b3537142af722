"""The text of an answer in stages: what it gains, and what is rolled back and resampled."""

from collections.abc import Callable, Generator, Sequence
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


Review = Callable[[], Resample | None]
"""Reads the text so far: what is to be drawn again, if anything."""


class Writing:
    """The answer so far, in its layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.text = ""
        self._drawn = ""  # `text` without what was put there since the last stage

    def write(self, name: str, build: Build, offset: int | None = None) -> Part:
        """One stage more, which continues the text before `offset` (None: the whole text)."""
        rules = Rules(self.layout)
        grammar = rules.grammar(name, build(rules))
        before = self.text[:offset] + rules.head
        kept = _common(self._drawn, before)
        added = yield Stage(name, grammar, drop=len(self._drawn) - kept, head=before[kept:])
        self.text = self._drawn = before[:kept] + added

    def put(self, offset: int, text: str) -> None:
        """Cuts the text at `offset` and continues it with words that need no model."""
        self.text = self.text[:offset] + text

    def write_and_review(self, name: str, build: Build, reviews: Sequence[Review]) -> Part:
        """One stage more, then `resample`."""
        yield from self.write(name, build)
        yield from self.resample(name, reviews)

    def resample(self, name: str, reviews: Sequence[Review]) -> Part:
        """Draws again the first thing that the reviews find, until they find nothing."""
        while found := [again for review in reviews if (again := review())]:
            first = min(found, key=lambda again: again.offset)
            self.put(first.offset, first.put)
            if first.build:
                yield from self.write(name, first.build)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))

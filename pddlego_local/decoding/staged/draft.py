"""The text of an answer in stages: what it gains, and what is rolled back and resampled."""

from collections.abc import Callable, Collection, Generator, Sequence

from pddlego_local.core import Grammar
from pddlego_local.decoding.staged.reading import after_type, end_before, repeated
from pddlego_local.decoding.stages import Stage
from pddlego_local.pddl.reader import Word

Part = Generator[Stage, str, None]
"""Some stages of an answer."""


class Draft:
    """The answer so far."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, name: str, grammar: Grammar, drop: int = 0) -> Part:
        """One stage more; `drop` characters are rolled back before it."""
        added = yield Stage(name, grammar, drop)
        self.text = self.text[: len(self.text) - drop] + added

    def resample_from(self, offset: int, name: str, grammar: Grammar) -> Part:
        yield from self.write(name, grammar, len(self.text) - offset)

    def without_repetition(
        self,
        name: str,
        words: Callable[[], Sequence[Word]],
        rest: Callable[[Collection[str], bool], Grammar],
        taken: Collection[str] = (),
        *,
        in_blocks: bool = False,
    ) -> Part:
        """Rolls the list of `words` back to the first that comes again, and has its `rest`
        resampled: without the names that there are, after a type or not. `in_blocks`: each word
        heads a block of its own."""
        while word := repeated(words(), taken):
            cut = end_before(self.text, word.offset, block=in_blocks)
            before = [earlier.text for earlier in words() if earlier.offset < cut]
            grammar = rest([*taken, *before], after_type(self.text[:cut]))
            yield from self.resample_from(cut, name, grammar)

"""Reviews of a part once it is written, for what no grammar can know beforehand: names and operands
that come twice, names in which a model loops. Each review tells where to resample, and how.

The first time that something is wrong in a list, the text is cut before it and the list continues,
now without permission to say it again. The second time the list is closed, so that a model which
repeats itself without end still finishes its answer.
"""

import itertools
from collections.abc import Callable, Collection, Sequence

from pddlego_local.decoding.grammars.terminals import OPERATORS
from pddlego_local.decoding.staged.bodies import More
from pddlego_local.decoding.staged.names import NewNames
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    first_wrong,
    open_blocks,
    repeated_operand,
)
from pddlego_local.decoding.staged.writing import Build, Resample, Review, Writing
from pddlego_local.pddl.reader import Block, Word


def title(
    writing: Writing, names: NewNames, word: Callable[[], Word | None], rest: Build
) -> Review:
    """The name of a domain or problem; `rest` is what follows "(domain"."""

    def review() -> Resample | None:
        name = word()
        if name is None or not names.avoid_loop(name.name):
            return None
        return Resample(end_before(writing.text, name.offset), rest)

    return review


def listed(
    writing: Writing,
    names: NewNames,
    words: Callable[[], Sequence[Word]],
    rest: Callable[[Collection[str], bool], Build],
    taken: Collection[str] = (),
    *,
    end: Build | None = None,
    made_up: bool = True,
    in_blocks: bool = False,
) -> Review:
    """A list of names. From the first wrong one on, its `rest` comes: without the names that there
    are, after a type or not; after the second the list is closed, and `end` comes. `in_blocks`:
    each name heads a block of its own."""
    given_up = itertools.count()

    def review() -> Resample | None:
        word = first_wrong(words(), taken, made_up=made_up)
        if word is None:
            return None
        if made_up:
            names.avoid_loop(word.name)
        cut = end_before(writing.text, word.offset, block=in_blocks)
        if next(given_up):
            return Resample(cut, end, put=")")
        before = [earlier.text for earlier in words() if earlier.offset < cut]
        return Resample(cut, rest([*taken, *before], after_type(writing.text[:cut])))

    return review


def operands(
    writing: Writing,
    blocks: Callable[[], Sequence[Block]],
    rest: Callable[[Sequence[Block], More], Build],
) -> Review:
    """Operands of `and` and `or` in these blocks. From the first that comes again on, the `rest` of
    the open blocks comes, the innermost of which may gain so much more."""
    given_up: set[int] = set()

    def review() -> Resample | None:
        for block in blocks():
            if again := repeated_operand(block):
                cut = end_before(writing.text, again.offset)
                open_ = open_blocks(writing.text[:cut])
                is_fact = again.head not in OPERATORS and again.head != "="
                more: More = "anything" if is_fact else "facts"
                if open_[-1].offset in given_up:
                    more = "nothing"
                given_up.add(open_[-1].offset)
                return Resample(cut, rest(open_, more))
        return None

    return review


def unfinished(writing: Writing, rest: Callable[[Sequence[Block], More], Build]) -> Review:
    """A part that ends with a quantifier's header: the `rest` of the open blocks comes."""

    def review() -> Resample | None:
        open_ = open_blocks(writing.text)
        return Resample(len(writing.text), rest(open_, "anything")) if open_ else None

    return review

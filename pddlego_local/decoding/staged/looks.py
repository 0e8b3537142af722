"""What is looked at when a part is written, since no grammar can know it beforehand: names and
operands that come twice, names that run in circles. Each look tells where to resample, and how.
"""

from collections.abc import Callable, Collection, Sequence

from pddlego_local.decoding.grammars.terminals import OPERATORS
from pddlego_local.decoding.staged.names import Names, circle
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    first_wrong,
    open_blocks,
    repeated_operand,
)
from pddlego_local.decoding.staged.writing import Build, Look, Resample, Writing
from pddlego_local.pddl.reader import Block, Word


def title(writing: Writing, names: Names, word: Callable[[], Word | None], rest: Build) -> Look:
    """The name of a domain or problem; `rest` goes on behind "(domain"."""

    def look() -> Resample | None:
        name = word()
        if name is None or not (beginning := circle(name.name)):
            return None
        names.avoid(beginning)
        return Resample(end_before(writing.text, name.offset), rest)

    return look


def listed(
    writing: Writing,
    names: Names,
    words: Callable[[], Sequence[Word]],
    rest: Callable[[Collection[str], bool], Build],
    taken: Collection[str] = (),
    *,
    made_up: bool = True,
    in_blocks: bool = False,
) -> Look:
    """A list of names. From the first wrong one on, its `rest` comes: without the names that there
    are, after a type or not. `in_blocks`: each name heads a block of its own."""

    def look() -> Resample | None:
        word = first_wrong(words(), taken, made_up=made_up)
        if word is None:
            return None
        if made_up and (beginning := circle(word.name)):
            names.avoid(beginning)
        cut = end_before(writing.text, word.offset, block=in_blocks)
        before = [earlier.text for earlier in words() if earlier.offset < cut]
        return Resample(cut, rest([*taken, *before], after_type(writing.text[:cut])))

    return look


def operands(
    writing: Writing,
    blocks: Callable[[], Sequence[Block]],
    rest: Callable[[Sequence[Block], bool], Build],
) -> Look:
    """Operands of `and` and `or` in these blocks. From the first that comes again on, the `rest` of
    the open blocks comes; True: it may hold operators."""

    def look() -> Resample | None:
        for block in blocks():
            if again := repeated_operand(block):
                cut = end_before(writing.text, again.offset)
                is_fact = again.head not in OPERATORS and again.head != "="
                return Resample(cut, rest(open_blocks(writing.text[:cut]), is_fact))
        return None

    return look


def unfinished(writing: Writing, rest: Callable[[Sequence[Block], bool], Build]) -> Look:
    """A part that ends with a quantifier's header: the `rest` of the open blocks comes."""

    def look() -> Resample | None:
        open_ = open_blocks(writing.text)
        return Resample(len(writing.text), rest(open_, True)) if open_ else None

    return look

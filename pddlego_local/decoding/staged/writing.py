"""The text of an answer in stages: what it gains, and what is rolled back and resampled.

Once a part is written it is reviewed, for what no grammar can know beforehand: names, facts and
operands that come twice, names in which a model loops. The first time that something is wrong in a
list, the text is cut before it and the list continues, now without permission to say it again. The
second time the list is closed, so that a model which repeats itself without end still finishes its
answer.
"""

import itertools
import os.path
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass

from pddlego_local.decoding.grammars.builder import Rules, typed_list
from pddlego_local.decoding.grammars.terminals import OPERATORS, NewNames
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.session import Stage
from pddlego_local.decoding.staged.bodies import More
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    last_file,
    open_blocks,
    repeated_operand,
)
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.task import ActionDefinition, Predicate, TypedName

Part = Generator[Stage, str, None]
"""Some stages of an answer."""

Build = Callable[[Rules], str]
"""Adds the rules of what may follow the text so far; what their start is."""


@dataclass(frozen=True)
class Resample:
    """The text is cut at this offset and goes on with `put`, then with what is drawn by `build`."""

    offset: int
    build: Build | None
    put: str = ""


Review = Callable[[], Resample | None]
"""Reads the text so far: what is to be drawn again, if anything."""


class Writing:
    """The answer so far, in its layout; `names` are those that it may still declare."""

    def __init__(self, layout: Layout, names: NewNames) -> None:
        self.layout, self.names = layout, names
        self.text = ""
        self._drawn = ""  # `text` without what was put there since the last stage

    def write(self, name: str, build: Build, reviews: Sequence[Review] = ()) -> Part:
        """One stage more, which continues the text. Then the first thing that the reviews find is
        drawn again, until they find nothing."""
        yield from self._draw(name, build)
        while found := [again for review in reviews if (again := review())]:
            first = min(found, key=lambda again: again.offset)
            self.cut(first.offset, first.put)
            if first.build:
                yield from self._draw(name, first.build)

    def cut(self, offset: int, put: str = "") -> None:
        """Cuts the text at `offset` and continues it with words that need no model."""
        self.text = self.text[:offset] + put

    def _draw(self, name: str, build: Build) -> Part:
        rules = Rules(self.layout)
        grammar = rules.grammar(name, build(rules))
        before = self.text + rules.head
        kept = len(os.path.commonprefix([self._drawn, before]))  # noqa: RUF071 (no paths)
        added = yield Stage(name, grammar, drop=len(self._drawn) - kept, head=before[kept:])
        self.text = self._drawn = before[:kept] + added

    def rest_of_list(self, rules: Rules, name: str, kind: str, most: int) -> str:
        """What may follow in the `typed_list` at the end of the text."""
        dash = "" if after_type(self.text) else f"(_DASH {kind})?"
        return rules.terminal(f"{dash} {typed_list(rules, name, kind, most)}")

    def title(self, rest: Build) -> Review:
        """The name of a domain or problem is no loop; `rest` is what follows "(domain"."""

        def review() -> Resample | None:
            match last_file(self.text).items:
                case [_, Block(items=[_, Word() as name]), *_] if self.names.avoid_loop(name.name):
                    return Resample(end_before(self.text, name.offset), rest)
            return None

        return review

    def listed(
        self,
        entries: Callable[[], Iterable[tuple[Hashable, Word]]],
        rest: Build,
        taken: Collection[str] = (),
        *,
        end: Build | None = None,
        made_up: bool = True,
        in_blocks: bool = False,
    ) -> Review:
        """A list whose entries have a key, which no other has and is not `taken`, and begin with a
        word. From the first wrong one on the `rest` comes; after the second the list is closed, and
        `end` comes. A name that is `made_up` is no loop. `in_blocks`: each word heads a block."""
        given_up = itertools.count()

        def review() -> Resample | None:
            seen: set[Hashable] = {name.lower() for name in taken}
            for key, word in entries():
                if (made_up and self.names.avoid_loop(word.name.removeprefix("?"))) or key in seen:
                    cut = end_before(self.text, word.offset, block=in_blocks)
                    return Resample(cut, end, ")") if next(given_up) else Resample(cut, rest)
                seen.add(key)
            return None

        return review

    def bodies(self, rest: Callable[[Rules, More], str]) -> Review:
        """No operand of `and` or `or` in the last file comes again, and the text does not end with
        a quantifier's header: else the `rest` of the open blocks comes, the innermost of which may
        gain so much more."""
        given_up: set[int] = set()

        def again(more: More) -> Build:
            return lambda rules: rest(rules, more)

        def review() -> Resample | None:
            if operand := repeated_operand(last_file(self.text)):
                cut = end_before(self.text, operand.offset)
                is_fact = operand.head not in OPERATORS and operand.head != "="
                more: More = "anything" if is_fact else "facts"
                if (innermost := open_blocks(self.text[:cut])[-1].offset) in given_up:
                    more = "nothing"
                given_up.add(innermost)
                return Resample(cut, again(more))
            return Resample(len(self.text), again("anything")) if open_blocks(self.text) else None

        return review


def keyed(entries: Iterable[TypedName | Predicate | ActionDefinition]) -> list[tuple[str, Word]]:
    """Names as `Writing.listed` takes them."""
    return [(entry.word.name, entry.word) for entry in entries]

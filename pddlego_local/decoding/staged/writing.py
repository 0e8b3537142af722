"""The text of an answer in stages: how it grows, and what is rolled back and resampled.

Each written part is reviewed for mistakes that no grammar can exclude beforehand: a
name that is declared again as something else, and a name with a repeated part (a loop).
At the first mistake in a list, the text is cut before the wrong entry, and the list
continues under a grammar that excludes this entry. At the second mistake, the list is
closed, so that every answer comes to its end. A list in which the model repeats itself
is closed while it is being written (`decoding.repetition`).
"""

import itertools
import os.path
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pddlego_local.decoding.grammars.builder import Rules, typed_list
from pddlego_local.decoding.grammars.terminals import NewNames
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.repetition import LoopWatch
from pddlego_local.decoding.session import Stage, Stages
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    last_file,
    open_blocks,
)
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.task import Predicate, TypedName

Build = Callable[[Rules], str]
"""Adds the rules for what may follow the text so far; returns the expansion of the
start rule.
"""


@dataclass(frozen=True)
class Resample:
    """A request to cut the text at `offset`, to append `put`, and then to draw a stage
    with the grammar of `build` (None: no stage).
    """

    offset: int
    build: Build | None
    put: str = ""


Review = Callable[[bool], Resample | None]
"""Reads the text so far and returns what must be drawn again, or None. Its argument
says whether the stage was stopped early; if so, the text ends in a list that must be
closed.
"""


class Entry(NamedTuple):
    """An entry of a list: `key` is its name or fact, `word` has its position, and
    `says` is what the list says about it. Two entries with the same `key` are redundant
    if they have the same `says`; otherwise, they contradict each other.
    """

    key: Hashable
    word: Word
    says: Hashable = None


class Writing:
    """The answer so far, in its layout. `names` has the names that it may still
    declare.
    """

    def __init__(self, layout: Layout, names: NewNames) -> None:
        self.layout, self.names = layout, names
        self.text = ""
        self._drawn = ""  # `text` at the end of the last stage, before any `cut`

    def write(
        self,
        name: str,
        build: Build,
        reviews: Sequence[Review] = (),
        *,
        names: bool = True,
    ) -> Stages:
        """Yields one more stage, which continues the text. While the reviews find a
        mistake, the first one is resampled. `names` says that a loop in a name stops a
        stage.
        """
        again: Resample | None = Resample(len(self.text), build)
        while again:
            self.cut(again.offset, again.put)
            before, broken = self.text, False
            if again.build:
                broken = yield from self._draw(name, again.build, names=names)
            found = self._found(reviews, broken=broken)
            if (
                broken and not found and again.build
            ):  # there is no list that could be closed
                self.text = before
                yield from self._draw(name, again.build, watched=False)
                found = self._found(reviews, broken=False)
            again = min(found, key=lambda resample: resample.offset, default=None)

    def _found(self, reviews: Sequence[Review], *, broken: bool) -> list[Resample]:
        """Returns what must be drawn again."""
        return [found for review in reviews if (found := review(broken))]

    def cut(self, offset: int, put: str = "") -> None:
        """Cuts the text at `offset` and appends `put`, which the model does not
        write.
        """
        self.text = self.text[:offset] + put

    def _draw(
        self, name: str, build: Build, *, watched: bool = True, names: bool = True
    ) -> Generator[Stage, str, bool]:
        """Yields one stage, and returns whether it was stopped early."""
        rules = Rules(self.layout)
        grammar = rules.grammar(name, build(rules))
        before = self.text + rules.forced_prefix
        kept = len(os.path.commonprefix([self._drawn, before]))  # noqa: RUF071 (no paths)
        watch = LoopWatch(before, names=names) if watched else None
        stage = Stage(
            name,
            grammar,
            rollback_chars=len(self._drawn) - kept,
            forced_prefix=before[kept:],
            watch=watch,
        )
        added = yield stage
        self.text = self._drawn = before[:kept] + added
        if watch is None or watch.kept is None:
            return False
        self.cut(len(before) + watch.kept)
        return True

    def rest_of_list(self, rules: Rules, name: str, kind: str, most: int) -> str:
        """Returns a terminal for the rest of the `typed_list` at the end of the
        text.
        """
        dash = "" if after_type(self.text) else f"(_DASH {kind})?"
        return rules.terminal(f"{dash} {typed_list(rules, name, kind, most)}")

    def title(self, rest: Build) -> Review:
        """Returns the review of the name of a domain or problem, which must not be a
        loop. `rest` builds what follows "(domain".
        """

        def review(_broken: bool) -> Resample | None:
            match last_file(self.text).items:
                case [_, Block(items=[_, Word() as name]), *_] if self.names.avoid_loop(
                    name.name
                ):
                    return Resample(end_before(self.text, name.offset), rest)
            return None

        return review

    def listed(
        self,
        entries: Callable[[], Sequence[Entry]],
        rest: Build,
        taken: Mapping[Hashable, Hashable] | None = None,
        *,
        end: Build | None = None,
        made_up: bool = True,
        in_blocks: bool = False,
    ) -> Review:
        """Returns the review of a list. No entry may contradict an earlier one, or one
        of `taken` (key → what is said about it). At the first wrong entry, the text is
        cut and `rest` follows; at the second, the list is closed and `end` follows.
        `made_up` says that the model invents names, which must not be loops.
        `in_blocks` says that each entry is a block that begins with its word.
        """
        given_up = itertools.count()
        close = self.closed(
            lambda: [entry.word for entry in entries()], end, in_blocks=in_blocks
        )

        def review(broken: bool) -> Resample | None:
            seen = dict(taken or {})
            for entry in entries():
                name = entry.word.name.removeprefix("?")
                loops = made_up and self.names.avoid_loop(name)
                if not loops and seen.setdefault(entry.key, entry.says) == entry.says:
                    continue
                cut = end_before(self.text, entry.word.offset, block=in_blocks)
                if next(given_up):
                    return Resample(cut, end, ")")
                return Resample(cut, rest)
            return close(broken)

        return review

    def closed(
        self,
        entries: Callable[[], Sequence[Word]],
        end: Build | None,
        *,
        in_blocks: bool = False,
    ) -> Review:
        """Returns the review that closes a list in which the model repeats itself;
        `end` follows.
        """

        def review(broken: bool) -> Resample | None:
            words = entries()
            if not broken or not words:
                return None
            begin = words[-1].offset - (1 if in_blocks else 0)
            if begin <= open_blocks(self.text)[-1].offset:
                return None  # the list itself, or a list within its last entry, is open
            return Resample(len(self.text), end, ")")

        return review

    def bodies(self, rest: Callable[[Rules, bool], str]) -> Review:
        """Returns the review of conditions and effects, which may end with a
        quantifier's header. Then the `rest` of the open blocks follows; its second
        argument says that the innermost block is an `and` or `or` that must be closed.
        """

        def review(broken: bool) -> Resample | None:
            open_ = open_blocks(self.text)
            if not open_:
                return None
            is_list = open_[-1].head in ("and", "or")
            closed = broken and is_list
            return Resample(len(self.text), lambda rules: rest(rules, closed))

        return review


def keyed(entries: Iterable[TypedName | Predicate]) -> list[Entry]:
    """Returns names, with their types or those of their parameters, as `Writing.listed`
    needs.
    """
    return [Entry(entry.word.name, entry.word, _says(entry)) for entry in entries]


def _says(entry: TypedName | Predicate) -> Hashable:
    if isinstance(entry, TypedName):
        return entry.type_names
    return tuple(parameter.type_names for parameter in entry.parameters or ())

"""The text of an answer in stages: how it grows, and what is rolled back and resampled.

Each written part is reviewed for mistakes that no grammar can exclude beforehand: a
name that is declared again as something else, a name with a repeated part (a loop) and,
under tight lists, any repeated entry. At the first mistake in a list, the text is cut
before the wrong entry, and the list continues under a grammar that excludes this entry.
At the second mistake, the list is closed, so that a model that repeats itself endlessly
still finishes its answer. Under free lists, a list in which the model repeats itself is
closed while it is being written (`decoding.repetition`).
"""

import itertools
import os.path
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pddlego_local.decoding.grammars.builder import Rules, typed_list
from pddlego_local.decoding.grammars.terminals import OPERATORS, NewNames
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.repetition import LoopWatch
from pddlego_local.decoding.rungs import Lists
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
from pddlego_local.pddl.task import Predicate, TypedName

Part = Generator[Stage, str, None]
"""A generator of some stages of an answer."""

Build = Callable[[Rules], str]
"""Adds the rules for what may follow the text so far; returns the expansion of the
start rule.
"""


_CLOSING = ')]}" '


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
    declare. Without `rollback`, nothing that the model chose is rolled back.
    """

    def __init__(
        self, layout: Layout, names: NewNames, lists: Lists, *, rollback: bool
    ) -> None:
        self.layout, self.names, self.rollback = layout, names, rollback
        self.tight = lists == "tight"
        self.text = ""
        self._drawn = ""  # `text` at the end of the last stage, before any `cut`

    def write(
        self,
        name: str,
        build: Build,
        reviews: Sequence[Review] = (),
        *,
        names: bool = True,
    ) -> Part:
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
            again = min(found, key=lambda one: one.offset, default=None)

    def _found(self, reviews: Sequence[Review], *, broken: bool) -> list[Resample]:
        """Returns what must be drawn again. Without rollback, this is only what is
        added after the text, or before the brackets at its end.
        """
        found = [one for review in reviews if (one := review(broken))]
        kept = len(self.text.rstrip(_CLOSING))
        return [one for one in found if self.rollback or one.offset >= kept]

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
        watch = (
            LoopWatch(before, names=names)
            if watched and self.rollback and not self.tight
            else None
        )
        drop = len(self._drawn) - kept
        added = yield Stage(name, grammar, drop, before[kept:], watch)
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
        entries: Callable[[], Iterable[Entry]],
        rest: Build,
        taken: Mapping[Hashable, Hashable] | None = None,
        *,
        end: Build | None = None,
        made_up: bool = True,
        in_blocks: bool = False,
    ) -> Review:
        """Returns the review of a list. No entry may contradict an earlier one, or one
        of `taken` (key → what is said about it); under tight lists, none may repeat
        one. At the first wrong entry, the text is cut and `rest` follows; at the
        second, the list is closed and `end` follows. `made_up` says that the model
        invents names, which must not be loops. `in_blocks` says that each entry is a
        block that begins with its word.
        """
        given_up = itertools.count()

        def review(broken: bool) -> Resample | None:
            seen = dict(taken or {})
            last: Word | None = None
            for key, last, says in entries():
                loops = made_up and self.names.avoid_loop(last.name.removeprefix("?"))
                if loops or (key in seen and (self.tight or seen[key] != says)):
                    cut = end_before(self.text, last.offset, block=in_blocks)
                    return (
                        Resample(cut, end, ")")
                        if next(given_up)
                        else Resample(cut, rest)
                    )
                seen[key] = says
            if (
                broken
                and last
                and last.offset - in_blocks > open_blocks(self.text)[-1].offset
            ):
                return Resample(len(self.text), end, ")")
            return None

        return review

    def bodies(self, rest: Callable[[Rules, More], str]) -> Review:
        """Returns the review of conditions and effects. The text must not end with a
        quantifier's header and, under tight lists, no operand of an `and` or `or` in
        the last file may be repeated. Otherwise the `rest` of the open blocks follows;
        its second argument says what the innermost block may gain.
        """
        given_up: set[int] = set()

        def again(more: More) -> Build:
            return lambda rules: rest(rules, more)

        def review(broken: bool) -> Resample | None:
            if (
                self.tight
                and self.rollback
                and (operand := repeated_operand(last_file(self.text)))
            ):
                cut = end_before(self.text, operand.offset)
                is_fact = operand.head not in OPERATORS and operand.head != "="
                more: More = "anything" if is_fact else "facts"
                if (innermost := open_blocks(self.text[:cut])[-1].offset) in given_up:
                    more = "nothing"
                given_up.add(innermost)
                return Resample(cut, again(more))
            if not (open_ := open_blocks(self.text)):
                return None
            closed = broken and open_[-1].head in ("and", "or")
            return Resample(len(self.text), again("nothing" if closed else "anything"))

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

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
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from pddlego_local.decoding.grammars.builder import (
    ANY,
    Rules,
    name_except,
    one_of,
    typed_list,
)
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.repetition import LoopWatch, looping_prefix
from pddlego_local.decoding.session import Stage, Stages
from pddlego_local.decoding.staged.reading import (
    after_type,
    end_before,
    last_file,
    open_blocks,
)
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.task import Predicate, TypedName

OPERATORS = frozenset(
    {"and", "exists", "forall", "imply", "increase", "not", "or", "when"}
)
"""Words that cannot be the name of a predicate."""
_NO_TYPES = frozenset({"number"})
"""Words that Fast Downward does not allow as the name of a declared type."""

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


class RestOfBody(Protocol):
    """Adds the rules for the rest of an open body, and returns the expansion of the
    start rule. `closed` says that the innermost block is an `and` or `or` that must be
    closed.
    """

    def __call__(self, rules: Rules, *, closed: bool) -> str: ...


class Entry(NamedTuple):
    """An entry of a list: `key` is its name or fact, `word` has its position, and
    `says` is what the list says about it. Two entries with the same `key` are redundant
    if they have the same `says`; otherwise, they contradict each other.
    """

    key: Hashable
    word: Word
    says: Hashable = None


class NewNames:
    """Terminals for the names that an answer declares. Types, predicates, actions and
    objects may share a name, because Fast Downward tells them apart by their position.
    No predicate may have the name of an operator.

    `allowed` has the names for constants and objects; None means that the model invents
    them. `avoided` has the beginnings (`looping_prefix`) of the model's names that were
    loops. No further name may begin in this way.
    """

    def __init__(self, allowed: Sequence[str] | None = None) -> None:
        self.allowed = allowed
        self.avoided: set[str] = set()

    def avoid_loop(self, name: str) -> bool:
        """Returns whether a name is a loop, which has a part three times in a row. If
        so, it bans later names that begin like this one.
        """
        prefix = looping_prefix(name)
        if prefix:
            self.avoided.add(prefix + ANY)
        return bool(prefix)

    def any(self) -> str:
        return name_except(self.avoided)

    def type(self, taken: Collection[str]) -> str:
        return name_except([*_NO_TYPES, *self.avoided, *taken])

    def predicate(self, taken: Collection[str]) -> str:
        return name_except([*OPERATORS, *self.avoided, *taken])

    def thing(self, taken: Collection[str]) -> str:
        """Returns a terminal for a constant or object; "" if no allowed name is
        left.
        """
        if self.allowed is None:
            return name_except([*taken, *self.avoided])
        used = {name.lower() for name in taken}
        left = [name for name in self.allowed if name.lower() not in used]
        return one_of(left) if left else ""

    def variable(self, taken: Iterable[str] = ()) -> str:
        """Returns a pattern for a space and a variable; the `taken` names begin with
        "?".
        """
        excluded = {*self.avoided}
        for name in taken:
            excluded.add(name.removeprefix("?"))
        return f'_B1 "?" {name_except(excluded)}'


class Writing:
    """The answer so far, in its layout. `names` has the names that it may still
    declare.
    """

    def __init__(self, layout: Layout, names: NewNames) -> None:
        self.layout = layout
        self.names = names
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
            before = self.text
            broken = False
            if again.build:
                broken = yield from self._draw(name, again.build, names=names)
            found = _first_mistake(reviews, broken=broken)
            if broken and found is None and again.build:
                # There is no list that could be closed.
                self.text = before
                yield from self._draw(name, again.build, watched=False)
                found = _first_mistake(reviews, broken=False)
            again = found

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
        start = build(rules)
        grammar = rules.grammar(name, start)
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
                case [_define, Block(items=[_kind, Word() as name]), *_]:
                    if self.names.avoid_loop(name.name):
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
        mistakes = itertools.count(1)
        close = self.closed(entries, end, in_blocks=in_blocks)

        def is_wrong(entry: Entry, seen: dict[Hashable, Hashable]) -> bool:
            name = entry.word.name.removeprefix("?")
            if made_up and self.names.avoid_loop(name):
                return True
            return seen.setdefault(entry.key, entry.says) != entry.says

        def review(broken: bool) -> Resample | None:
            seen = dict(taken or {})
            for entry in entries():
                if is_wrong(entry, seen):
                    cut = end_before(self.text, entry.word.offset, block=in_blocks)
                    if next(mistakes) == 1:
                        return Resample(cut, rest)
                    return Resample(cut, end, put=")")
            return close(broken)

        return review

    def closed(
        self,
        entries: Callable[[], Sequence[Entry]],
        end: Build | None,
        *,
        in_blocks: bool = False,
    ) -> Review:
        """Returns the review that closes a list in which the model repeats itself;
        `end` follows.
        """

        def review(broken: bool) -> Resample | None:
            written = entries()
            if not broken or not written:
                return None
            begin = written[-1].word.offset
            if in_blocks:
                begin -= 1
            innermost = open_blocks(self.text)[-1]
            if begin <= innermost.offset:  # a list within the last entry is open
                return None
            return Resample(len(self.text), end, put=")")

        return review

    def bodies(self, rest: RestOfBody) -> Review:
        """Returns the review of conditions and effects, which may end with a
        quantifier's header. Then the `rest` of the open blocks follows.
        """

        def review(broken: bool) -> Resample | None:
            open_ = open_blocks(self.text)
            if not open_:
                return None
            closed = broken and open_[-1].head in ("and", "or")
            return Resample(len(self.text), partial(rest, closed=closed))

        return review


def keyed(entries: Iterable[TypedName | Predicate]) -> list[Entry]:
    """Returns names, with their types or those of their parameters, as `Writing.listed`
    needs.
    """
    listed = []
    for entry in entries:
        says: Hashable
        if isinstance(entry, TypedName):
            says = entry.type_names
        else:
            says = tuple([names.type_names for names in entry.parameters or ()])
        listed.append(Entry(entry.word.name, entry.word, says))
    return listed


def _first_mistake(reviews: Sequence[Review], *, broken: bool) -> Resample | None:
    """Returns what must be drawn again first."""
    first = None
    for review in reviews:
        found = review(broken)
        if found and (first is None or found.offset < first.offset):
            first = found
    return first

"""The lenient reader: finds the last complete answer in a text, however it is written.

A doubtful candidate is taken only if there is no other. A candidate is doubtful if it
is in a thought or in a turn that the model imagined, if it copies the prompt, or if it
is an excerpt. A placeholder is never taken. If one action is asked for, the first is
taken, unless the model corrects it.
"""

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import pydantic

from pddlego_local.core.nouns import Messages
from pddlego_local.decoding.forms import (
    COMMAND,
    EDIT,
    MOVE,
    PROBLEM,
    Fault,
    Fields,
    Form,
    T_co,
)
from pddlego_local.episode.reading import wholeness
from pddlego_local.episode.reading.bare import bare
from pddlego_local.episode.reading.entries import OF_FILES, Entries, fitted, unfenced
from pddlego_local.episode.reading.files import (
    IN_TEXT,
    KINDS,
    SECTION,
    File,
    files,
    only_file,
)
from pddlego_local.episode.reading.objects import Found, objects
from pddlego_local.episode.reading.thoughts import Markers, inside, thoughts, without
from pddlego_local.episode.reading.turns import turns
from pddlego_local.episode.reading.words import any_of
from pddlego_local.pddl.edit import difference

T = TypeVar("T", bound=Fields)

PLACEHOLDER, BLANK, NO_PDDL, EXCERPT = (
    "a placeholder",
    "blank",
    "no PDDL in it",
    "an excerpt",
)
THOUGHT, PROMPT = "in a thought", "as in the prompt"
_ONE_STEP = (COMMAND.name, MOVE.name, "choice")
_CORRECTS = re.compile(rf"\b{any_of('correction')}\b", re.IGNORECASE)
MOST_CHARACTERS = (
    1_000_000  # from the end: no model writes more, and reading must stay fast
)


@dataclass(frozen=True)
class Candidate(Generic[T_co]):
    """A possible answer. `how` says how it is written, `start` and `end` where it
    begins and ends. `doubt` is a reason not to take it, or "".
    """

    value: T_co
    how: str
    start: int
    end: int
    doubt: str = ""


@dataclass(frozen=True)
class Findings(Generic[T_co]):
    """All candidates, and the one that is taken. If it is None, `fault` says why."""

    candidates: tuple[Candidate[T_co], ...]
    taken: Candidate[T_co] | None
    fault: Fault


def lenient(
    text: str,
    form: Form[T],
    *,
    cut: bool = False,
    prompt: Messages = (),
    markers: Markers | None = None,
    problem: str = "",
) -> Findings[T]:
    """Finds the answer in a text.

    If a token limit `cut` the text, only what is complete is read. `prompt` holds the
    messages of the request; a copy of its words is taken only if there is no other
    candidate. `markers` surround the model's thoughts; if there are none or they do not
    occur, those of other models are recognized. If the answer is a complete file in
    place of an edit of `problem`, the edit is the difference between the two files.
    """
    text = text[-MOST_CHARACTERS:]
    if not text.strip():
        return Findings((), None, "empty")
    search = _Search(text, form, cut, prompt, markers)
    candidates = tuple(search.candidates())
    taken = _taken(candidates, form, text, cut)
    if taken is None and form.name == EDIT.name and problem:
        file = lenient(text, PROBLEM, cut=cut, prompt=prompt, markers=markers).taken
        if file and not file.doubt:
            edit = form.keys.model_validate(difference(problem, file.value.pf))
            taken = Candidate(edit, f"{file.how}, a whole file", file.start, file.end)
    if taken:
        return Findings(candidates, taken, "")
    fault = "placeholder" if candidates and not cut else search.fault
    return Findings(candidates, None, fault)


def _taken(
    candidates: Sequence[Candidate[T]], form: Form[T], text: str, cut: bool
) -> Candidate[T] | None:
    sure = [one for one in candidates if not one.doubt]
    if form.name in _ONE_STEP and sure:
        return _first_step(sure, text)
    if sure or cut:
        return sure[-1] if sure else None
    doubted = [one for one in reversed(candidates) if one.doubt != PLACEHOLDER]
    return max(
        doubted,
        key=lambda one: one.doubt not in (BLANK, NO_PDDL, EXCERPT),
        default=None,
    )


def _first_step(sure: Sequence[Candidate[T]], text: str) -> Candidate[T]:
    """Returns the first of several actions, or the model's correction of it. Acts have
    priority over thoughts.
    """
    steps = [one for one in sure if getattr(one.value, "kind", "act") == "act"] or sure
    taken = steps[0]
    for before, one in itertools.pairwise(steps):
        taken = one if _CORRECTS.search(text, before.end, one.start) else taken
    return taken


class _Search(Generic[T]):
    """Searches one text for one form. After the search, `fault` says why there is no
    candidate.
    """

    def __init__(
        self,
        text: str,
        form: Form[T],
        cut: bool,
        prompt: Messages,
        markers: Markers | None,
    ) -> None:
        self._text, self._form, self._cut = text, form, cut
        self._keys = form.keys.model_fields.keys()
        self._prompt = wholeness.words_of(
            "\n".join(one.content for one in prompt if one.role != "assistant")
        )
        self._files = files(text) if form.name in OF_FILES else []
        pddl = [(file.start, file.end) for file in self._files if file.balanced]
        self._thoughts, unfinished = thoughts(text, markers, cut=cut, pddl=pddl)
        self._imagined = (
            len(text) + 1
        )  # where imagined turns begin, after a first answer
        self.fault: Fault = "truncated" if cut else "no_json"
        if unfinished:
            self.fault = "unfinished_thought"

    def candidates(self) -> Iterator[Candidate[T]]:
        for one in (
            self._of_files() if self._form.name in OF_FILES else self._of_objects()
        ):
            if not one.doubt and self._imagined > len(self._text):
                following = turns(self._text, self._form, one.end)
                self._imagined = next(following, len(self._text))
            yield one

    def _objects(self) -> Iterator[tuple[Found, Entries, T | None]]:
        """Yields objects, entries and values; a value is None if the form does not
        accept it.
        """
        for found in objects(self._text, self._is_answer):
            if self._cut and not found.whole:
                continue
            entries, value = fitted(found.entries, self._form), None
            with contextlib.suppress(pydantic.ValidationError):
                value = self._form.keys.model_validate(entries)
            if value is None and not self._cut:
                self.fault = "wrong_keys"
            yield found, entries, value

    def _is_answer(self, entries: Entries) -> bool:
        return fitted(entries, self._form).keys() >= self._keys

    def _of_objects(self) -> Iterator[Candidate[T]]:
        sure = False
        for found, _, value in self._objects():
            if value is not None:
                doubt = self._doubt(value, found.start, found.end)
                sure = sure or not doubt
                yield Candidate(value, _how(found), found.start, found.end, doubt)
        if not sure:
            with contextlib.suppress(pydantic.ValidationError):
                alone = bare(
                    without(self._text, self._thoughts), self._form, cut=self._cut
                )
                value = self._form.keys.model_validate(
                    alone and fitted(alone, self._form)
                )
                begin = max(
                    [0, *(end for _, end in self._thoughts if end < len(self._text))]
                )
                doubt = self._doubt(value, begin, begin)
                yield Candidate(value, "no JSON", begin, len(self._text), doubt)

    def _doubt(self, value: Fields, start: int, end: int) -> str:
        texts = wholeness.texts_of(value, self._form)
        words = wholeness.words_of(self._text[start:end])
        if any(map(wholeness.is_placeholder, texts)):
            return PLACEHOLDER
        if not all(text.strip() for text in texts):
            return BLANK
        if inside(self._thoughts, start):
            return THOUGHT
        if start >= self._imagined:
            return "in a turn that the model imagined"
        return PROMPT if words and words in self._prompt else ""

    def _of_files(self) -> Iterator[Candidate[T]]:
        """Yields the files after each draft of them. A new draft of a file replaces the
        one before it, unless the earlier one is more complete.
        """
        latest: _Draft = {}
        for draft in _drafts(self._parts()):
            if min(file.start for file in draft.values()) >= self._imagined:
                return
            if self._cut and not all(file.closed for file in draft.values()):
                continue
            weighed: _Draft = {
                k: (self._weight(file, latest), file) for k, file in draft.items()
            }
            better = {
                k: one for k, one in weighed.items() if one[0][0] >= _rank(latest, k)
            }
            if (
                latest.keys() >= self._keys
                and min(_rank(weighed, kind) for kind in weighed) == 0
            ):
                better = {}
            if weighed.keys() >= self._keys and better.keys() < self._keys:
                passed = self._candidate(weighed)
                yield replace(passed, doubt=passed.doubt or EXCERPT)
            latest |= better
            if better and latest.keys() >= self._keys:
                yield self._candidate(latest)

    def _parts(self) -> list[dict[str, File]]:
        """Returns the files of each object and those in the text around them, left to
        right.
        """
        parts: list[dict[str, File]] = []
        for found, entries, _ in self._objects():
            where = found.start, found.end
            written = {
                kind: text
                for kind in KINDS
                if isinstance(text := entries.get(kind), str)
            }
            texts = {kind: only_file(text, kind) for kind, text in written.items()}
            parts += [
                {k: File(k, text, *where, how=_how(found)) for k, text in texts.items()}
            ]
        spans = [(file.start, file.end) for part in parts for file in part.values()]
        for file in self._files:
            # without an end and without a section it is only a phrase, unless its end
            # was cut off
            is_file = file.closed or self._cut or SECTION.search(file.text)
            if file.kind in self._keys and is_file and not inside(spans, file.start):
                parts.append({file.kind: replace(file, text=unfenced(file.text))})
        return sorted(
            filter(len, parts), key=lambda part: min(f.start for f in part.values())
        )

    def _weight(self, file: File, latest: "_Draft") -> tuple[int, str]:
        """Rates how usable a file is, and returns the reason for doubt."""
        if wholeness.is_placeholder(file.text) or wholeness.is_template(file.text):
            return 0, PLACEHOLDER
        if not SECTION.search(file.text):
            return 0, NO_PDDL if file.text.strip() else BLANK
        before = latest[file.kind][1].text if file.kind in latest else ""
        if wholeness.is_excerpt(file.text) or wholeness.is_part(file.text, before):
            return 1, EXCERPT
        if inside(self._thoughts, file.start):
            return 2, THOUGHT
        if not wholeness.is_whole(file.kind, file.text):
            return 3, ""
        if wholeness.words_of(file.text) in self._prompt:
            return 4, PROMPT
        return (5, "") if wholeness.has_header(file.text) else (3, "")

    def _candidate(self, draft: "_Draft") -> Candidate[T]:
        found = {kind: draft[kind][1] for kind in self._keys}
        value = self._form.keys.model_validate(
            {kind: file.text for kind, file in found.items()}
        )
        spans = {(file.start, file.end) for file in found.values()}
        how, *others = {file.how for file in found.values()}
        if others or (how != IN_TEXT and len(spans) > 1):
            how = (
                IN_TEXT
                if IN_TEXT in (how, *others)
                else "one JSON object for each file"
            )
        _, doubt = min(draft[kind][0] for kind in self._keys)
        return Candidate(value, how, min(spans)[0], max(end for _, end in spans), doubt)


_Draft = dict[str, tuple[tuple[int, str], File]]
"""Files by kind, with their weights."""


def _rank(draft: _Draft, kind: str) -> int:
    return draft[kind][0][0] if kind in draft else 0


def _how(found: Found) -> str:
    return "JSON" if found.exact else "JSON with slips"


def _drafts(parts: Sequence[Mapping[str, File]]) -> list[dict[str, File]]:
    """Joins neighbouring files of different kinds to drafts."""
    drafts: list[dict[str, File]] = []
    for part in parts:
        if not drafts or part.keys() & drafts[-1].keys():
            drafts.append({})
        drafts[-1] |= part
    return drafts

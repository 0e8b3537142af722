"""The lenient reader: finds the last complete answer in a text, however it is written.

A doubtful candidate is taken only if there is no other. A candidate is doubtful if it
is in a thought or in a turn that the model imagined, if it copies the prompt, or if it
is an excerpt. A placeholder is never taken. If one action is asked for, the first is
taken, unless the model corrects it.
"""

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
from pddlego_local.episode.reading.thoughts import (
    Markers,
    Span,
    inside,
    thoughts,
    without,
)
from pddlego_local.episode.reading.turns import turns
from pddlego_local.episode.reading.words import any_of
from pddlego_local.pddl.edit import difference

T = TypeVar("T", bound=Fields)

PLACEHOLDER = "a placeholder"
BLANK = "blank"
EXCERPT = "an excerpt"
NO_PDDL = "no PDDL in it"
THOUGHT = "in a thought"
PROMPT = "as in the prompt"
IMAGINED = "in a turn that the model imagined"
_ONE_STEP = (COMMAND.name, MOVE.name, "choice")
_CORRECTS = re.compile(rf"\b{any_of('correction')}\b", re.IGNORECASE)
# From the end: no model writes more, and reading must stay fast.
MOST_CHARACTERS = 1_000_000


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
            how = f"{file.how}, a whole file"
            taken = Candidate(edit, how, file.start, file.end)
    if taken:
        return Findings(candidates, taken, "")
    if candidates and not cut:
        return Findings(candidates, None, "placeholder")
    return Findings(candidates, None, search.fault)


def _taken(
    candidates: Sequence[Candidate[T]], form: Form[T], text: str, cut: bool
) -> Candidate[T] | None:
    """Takes the last certain candidate (the first, of actions), else the last doubtful
    one.
    """
    certain = [candidate for candidate in candidates if not candidate.doubt]
    if certain and form.name in _ONE_STEP:
        return _first_step(certain, text)
    if certain:
        return certain[-1]
    if cut:
        return None
    for candidate in reversed(candidates):
        if candidate.doubt != PLACEHOLDER:
            return candidate
    return None


def _first_step(certain: Sequence[Candidate[T]], text: str) -> Candidate[T]:
    """Returns the first of several actions, or the model's correction of it. Acts have
    priority over thoughts.
    """
    # A command and a choice have no kind: they are acts.
    acts = [step for step in certain if getattr(step.value, "kind", "act") == "act"]
    steps = acts or certain
    taken = steps[0]
    for before, step in itertools.pairwise(steps):
        if _CORRECTS.search(text, before.end, step.start):
            taken = step
    return taken


@dataclass(frozen=True)
class _Rated:
    """A file with its rank: how usable it is, from 0 (a placeholder) to 5. `doubt` is
    the reason not to take it, or "".
    """

    file: File
    rank: int
    doubt: str = ""


_Draft = dict[str, _Rated]
"""One file of each kind, or fewer."""


def _rank(draft: _Draft, kind: str) -> int:
    return draft[kind].rank if kind in draft else 0


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
        self._text = text
        self._form = form
        self._cut = cut
        self._keys = form.keys.model_fields.keys()
        asked = [turn.content for turn in prompt if turn.role != "assistant"]
        self._prompt = wholeness.words_of("\n".join(asked))
        self._files = files(text) if form.name in OF_FILES else []
        pddl = [Span(file.start, file.end) for file in self._files if file.balanced]
        self._thoughts, unfinished = thoughts(text, markers, cut=cut, pddl=pddl)
        # where imagined turns begin; known once there is a first certain answer
        self._imagined = len(text) + 1
        self.fault: Fault = "truncated" if cut else "no_json"
        if unfinished:
            self.fault = "unfinished_thought"

    def candidates(self) -> Iterator[Candidate[T]]:
        every = self._of_files() if self._form.name in OF_FILES else self._of_objects()
        for found in every:
            is_first_certain = not found.doubt and self._imagined > len(self._text)
            if is_first_certain:
                following = turns(self._text, self._form, found.end)
                self._imagined = next(following, len(self._text))
            yield found

    def _objects(self) -> Iterator[tuple[Found, Entries]]:
        """Yields the objects with the entries that the form asks for."""
        for found in objects(self._text, self._is_answer):
            if found.whole or not self._cut:
                yield found, fitted(found.entries, self._form)

    def _is_answer(self, entries: Entries) -> bool:
        return fitted(entries, self._form).keys() >= self._keys

    def _value(self, entries: Entries | None) -> T | None:
        """Returns the value that the form accepts, or None."""
        try:
            return self._form.keys.model_validate(entries)
        except pydantic.ValidationError:
            return None

    def _note_wrong_keys(self) -> None:
        if not self._cut:
            self.fault = "wrong_keys"

    def _of_objects(self) -> Iterator[Candidate[T]]:
        is_certain = False
        for found, entries in self._objects():
            value = self._value(entries)
            if value is None:
                self._note_wrong_keys()
                continue
            doubt = self._doubt(value, found.start, found.end)
            is_certain = is_certain or not doubt
            yield Candidate(value, _how(found), found.start, found.end, doubt)
        if not is_certain:
            yield from self._without_object()

    def _without_object(self) -> Iterator[Candidate[T]]:
        spoken = without(self._text, self._thoughts)
        alone = bare(spoken, self._form, cut=self._cut)
        value = self._value(alone and fitted(alone, self._form))
        if value is None:
            return
        begin = 0  # after the last thought
        for thought in self._thoughts:
            if thought.end < len(self._text):
                begin = max(begin, thought.end)
        doubt = self._doubt(value, begin, begin)
        yield Candidate(value, "no JSON", begin, len(self._text), doubt)

    def _doubt(self, value: Fields, start: int, end: int) -> str:
        texts = wholeness.texts_of(value, self._form)
        words = wholeness.words_of(self._text[start:end])
        if any(wholeness.is_placeholder(text) for text in texts):
            return PLACEHOLDER
        if not all(text.strip() for text in texts):
            return BLANK
        if inside(self._thoughts, start):
            return THOUGHT
        if start >= self._imagined:
            return IMAGINED
        if words and words in self._prompt:
            return PROMPT
        return ""

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
            rated: _Draft = {}
            better: _Draft = {}
            for kind, file in draft.items():
                rated[kind] = self._rated(file, latest)
                if rated[kind].rank >= _rank(latest, kind):
                    better[kind] = rated[kind]
            has_placeholder = any(file.rank == 0 for file in rated.values())
            if has_placeholder and latest.keys() >= self._keys:
                better.clear()
            if rated.keys() >= self._keys and better.keys() < self._keys:
                passed_over = self._candidate(rated)
                yield replace(passed_over, doubt=passed_over.doubt or EXCERPT)
            latest |= better
            if better and latest.keys() >= self._keys:
                yield self._candidate(latest)

    def _parts(self) -> list[dict[str, File]]:
        """Returns the files of each object and those in the text around them, left to
        right.
        """
        parts: list[dict[str, File]] = []
        spans: list[Span] = []  # of the objects with files
        for found, entries in self._objects():
            if self._value(entries) is None:
                self._note_wrong_keys()
            part: dict[str, File] = {}
            for kind in KINDS:
                text = entries.get(kind)
                if isinstance(text, str):
                    alone = only_file(text, kind)
                    how = _how(found)
                    part[kind] = File(kind, alone, found.start, found.end, how=how)
            if part:
                parts.append(part)
                spans.append(Span(found.start, found.end))
        for file in self._files:
            # Without an end and without a section it is only a phrase, unless its end
            # was cut off.
            is_file = file.closed or self._cut or SECTION.search(file.text)
            is_asked_for = file.kind in self._keys
            if is_asked_for and is_file and not inside(spans, file.start):
                parts.append({file.kind: replace(file, text=unfenced(file.text))})
        return sorted(parts, key=_start)

    def _rated(self, file: File, latest: _Draft) -> _Rated:
        if wholeness.is_placeholder(file.text) or wholeness.is_template(file.text):
            return _Rated(file, 0, PLACEHOLDER)
        if not SECTION.search(file.text):
            return _Rated(file, 0, NO_PDDL if file.text.strip() else BLANK)
        before = ""
        if file.kind in latest:
            before = latest[file.kind].file.text
        if wholeness.is_excerpt(file.text) or wholeness.is_part(file.text, before):
            return _Rated(file, 1, EXCERPT)
        if inside(self._thoughts, file.start):
            return _Rated(file, 2, THOUGHT)
        if not wholeness.is_whole(file.kind, file.text):
            return _Rated(file, 3)
        if wholeness.words_of(file.text) in self._prompt:
            return _Rated(file, 4, PROMPT)
        return _Rated(file, 5 if wholeness.has_header(file.text) else 3)

    def _candidate(self, draft: _Draft) -> Candidate[T]:
        rated = [draft[kind] for kind in self._keys]
        worst = min(rated, key=lambda file: (file.rank, file.doubt))
        files = [file.file for file in rated]
        texts = {file.kind: file.text for file in files}
        is_in_text = any(file.how == IN_TEXT for file in files)
        return Candidate(
            value=self._form.keys.model_validate(texts),
            how=IN_TEXT if is_in_text else files[0].how,
            start=min(file.start for file in files),
            end=max(file.end for file in files),
            doubt=worst.doubt,
        )


def _how(found: Found) -> str:
    return "JSON" if found.exact else "JSON with slips"


def _start(part: Mapping[str, File]) -> int:
    return min(file.start for file in part.values())


def _drafts(parts: Sequence[Mapping[str, File]]) -> list[dict[str, File]]:
    """Joins neighbouring files of different kinds to drafts."""
    drafts: list[dict[str, File]] = []
    for part in parts:
        if not drafts or part.keys() & drafts[-1].keys():
            drafts.append({})
        drafts[-1] |= part
    return drafts

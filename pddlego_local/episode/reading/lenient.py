"""The lenient reader: the last whole answer in a text, however it is written.

An object of the form comes before files in prose. What is in doubt counts only where nothing else
stands: placeholders, what the prompt showed, and what was written in a thought.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pydantic

from pddlego_local.core.nouns import Messages
from pddlego_local.decoding.forms import (
    COMMAND,
    DOMAIN,
    MOVE,
    PDDL,
    PROBLEM,
    Fault,
    Form,
    Keys,
    T_co,
)
from pddlego_local.episode.reading.bare import bare
from pddlego_local.episode.reading.files import KINDS, File, files
from pddlego_local.episode.reading.objects import Found, objects

T = TypeVar("T", bound=Keys)
Entries = dict[str, Any]

_OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    PDDL.name: {"domain": "df", "problem": "pf"},
    DOMAIN.name: {"domain": "df"},
    PROBLEM.name: {"problem": "pf"},
    COMMAND.name: {"command": "action"},
}
_OF_FILES = (PDDL.name, DOMAIN.name, PROBLEM.name)
_EXACT, _DAMAGED = "JSON", "JSON with slips"
_FILLER = re.compile(r"[\s_.-]|file|pddl|definition")
_FENCE_OPENS = re.compile(r"\s*(?:`{3,}|~{3,})[\w+.-]*[ \t]*(?:\r?\n)?")
_FENCE_CLOSES = re.compile(r"(?:`{3,}|~{3,})\Z")
_PLACEHOLDER = re.compile(r"\W*(?:\.\.\.|…)\W*|<[^<>]*>|\[[^\[\]]*\]|\s*")
_LONGEST_PLACEHOLDER = 200
MOST_CHARACTERS = 1_000_000  # from the end; no model writes as many, and nothing may take minutes
_THOUGHT_OPENS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate(Generic[T_co]):
    """What could be the answer: how it is written, where it begins and ends, and what speaks
    against it, "" nothing."""

    value: T_co
    how: str
    start: int
    end: int
    doubt: str = ""


@dataclass(frozen=True)
class Findings(Generic[T_co]):
    """All that could be the answer; the candidate that is, or None and why there is none."""

    candidates: tuple[Candidate[T_co], ...]
    taken: Candidate[T_co] | None
    fault: Fault


def lenient(text: str, form: Form[T], *, cut: bool = False, prompt: Messages = ()) -> Findings[T]:
    """What a text holds; of one that a token limit cut, only what is whole. `prompt` is what was
    asked: what repeats its words counts only where nothing else stands."""
    text = text[-MOST_CHARACTERS:]
    if not text.strip():
        return Findings((), None, "empty")
    search = _Search(text, form, cut, prompt)
    candidates = tuple(search.candidates())
    sure = [one for one in candidates if not one.doubt]
    chosen = sure or ([] if cut else candidates)
    if not chosen:
        return Findings(candidates, None, search.fault)
    taken = max(chosen, key=lambda one: (one.how in (_EXACT, _DAMAGED), one.end))
    return Findings(candidates, taken, "")


class _Search(Generic[T]):
    """One text, one form; `fault` is why there was no candidate, once all have been looked for."""

    def __init__(self, text: str, form: Form[T], cut: bool, prompt: Messages) -> None:
        self._text, self._form, self._cut = text, form, cut
        self._prompt = _blanks_alike(
            "\n".join(one.content for one in prompt if one.role != "assistant")
        )
        self._thought = _end_of_thought(text, cut)
        self.fault: Fault = "truncated" if cut else "no_json"
        if cut and self._thought == len(text):
            self.fault = "unfinished_thought"

    def candidates(self) -> Iterator[Candidate[T]]:
        parts: list[File] = []
        found_one = False
        for found in objects(self._text, self._is_answer):
            if self._cut and not found.whole:
                continue
            entries = _fitted(found.entries, self._form)
            try:
                value = self._form.keys.model_validate(entries)
            except pydantic.ValidationError:
                self.fault = self.fault if self._cut else "wrong_keys"
                parts += _as_files(entries, found)
                continue
            found_one = True
            words = _blanks_alike(self._text[found.start : found.end])
            doubt = self._doubt(value, found.start, [words])
            how = _EXACT if found.exact else _DAMAGED
            yield Candidate(value, how, found.start, found.end, doubt)
        if self._form.name in _OF_FILES:
            yield from self._of_files(parts, "one JSON object for each file")
            yield from self._of_files(files(self._text), "PDDL in the text")
        elif not found_one and not self._cut:
            with contextlib.suppress(pydantic.ValidationError):
                alone = bare(self._text[self._thought :], self._form)
                value = self._form.keys.model_validate(alone)
                yield Candidate(value, "no JSON", self._thought, len(self._text))

    def _is_answer(self, entries: Entries) -> bool:
        return _fitted(entries, self._form).keys() >= self._form.keys.model_fields.keys()

    def _of_files(self, found: Sequence[File], how: str) -> Iterator[Candidate[T]]:
        """Each draft of the files; one file that is drafted again replaces the one before it."""
        latest: dict[str, File] = {}
        keys = self._form.keys.model_fields.keys()
        for draft in _drafts([file for file in found if file.kind in keys and self._counts(file)]):
            if self._cut and not all(file.closed for file in draft.values()):
                continue
            latest |= draft
            if latest.keys() < keys:
                continue
            kept = {kind: latest[kind] for kind in keys}
            value = self._form.keys.model_validate({k: _unfenced(f.text) for k, f in kept.items()})
            start = min(one.start for one in kept.values())
            end = max(one.end for one in draft.values())
            doubt = self._doubt(value, start, [_blanks_alike(one.text) for one in kept.values()])
            yield Candidate(value, how, start, end, doubt)

    def _counts(self, file: File) -> bool:
        """A file without an end and without a section is a phrase, unless its end was cut off."""
        return file.closed or self._cut or "(:" in file.text

    def _doubt(self, value: Keys, start: int, shown: Sequence[str]) -> str:
        """What speaks against a candidate; `shown` are the words that a prompt might have."""
        if start < self._thought:
            return "in a thought"
        if _is_placeholder(value, self._form):
            return "a placeholder"
        in_prompt = self._prompt and all(words in self._prompt for words in shown)
        return "as in the prompt" if in_prompt else ""


def _end_of_thought(text: str, cut: bool) -> int:
    """Where a thought that is written out ends, 0 without one; a cut one goes on to the end."""
    end = max((match.end() for match in _THOUGHT_ENDS.finditer(text)), default=0)
    return len(text) if cut and _THOUGHT_OPENS.search(text, end) else end


def _fitted(entries: Entries, form: Form[Keys]) -> Entries:
    """The entries that the form asks for, under its names. A list of lines is a text; PDDL has no
    fences."""
    fields = form.keys.model_fields
    fitted: Entries = {}
    for name, value in entries.items():
        key = name if name in fields else _name(name, form)
        if key in fields and (name == key or key not in fitted):
            fitted[key] = _text(value) if fields[key].annotation is str else value
    if form.name in _OF_FILES:
        return {k: _unfenced(v) if isinstance(v, str) else v for k, v in fitted.items()}
    if form.name == MOVE.name and isinstance(fitted.get("kind"), str):
        fitted["kind"] = fitted["kind"].lower()
    return fitted


def _name(name: str, form: Form[Keys]) -> str:
    """As the form spells it, if it is one of its names: "Domain File" is "df"."""
    name = name.strip().lower()
    if form.name in _OF_FILES:
        name = _FILLER.sub("", name)
    return _OTHER_NAMES.get(form.name, {}).get(name, name)


def _text(value: object) -> object:
    if not (isinstance(value, list) and value and all(isinstance(line, str) for line in value)):
        return value
    return ("" if all(line.endswith("\n") for line in value[:-1]) else "\n").join(value)


def _unfenced(text: str) -> str:
    opens = _FENCE_OPENS.match(text)
    return _FENCE_CLOSES.sub("", text[opens.end() :].rstrip()).rstrip() if opens else text


def _as_files(entries: Entries, found: Found) -> Iterator[File]:
    for kind in KINDS:
        if isinstance(text := entries.get(kind), str):
            yield File(kind, text, found.start, found.end, closed=True)


def _drafts(found: Sequence[File]) -> Iterator[dict[str, File]]:
    """Files next to each other of different kinds."""
    draft: dict[str, File] = {}
    for file in found:
        if file.kind in draft:
            yield draft
            draft = {}
        draft[file.kind] = file
    if draft:
        yield draft


def _is_placeholder(value: Keys, form: Form[Keys]) -> bool:
    entries = value.model_dump()
    texts = [
        text
        for key, entry in entries.items()
        if key not in form.may_be_blank
        for text in (entry if isinstance(entry, list) else [entry])
        if isinstance(text, str)
    ]
    if form.name in _OF_FILES and not all("(:" in text for text in texts):
        return True
    return any(
        len(text) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.fullmatch(text.strip()) for text in texts
    )


def _blanks_alike(text: str) -> str:
    return " ".join(text.split())

"""Reads the number of an option from a line that names it, or from a sentence that
chooses it.
"""

# ruff: noqa: RUF001  # these dashes are intended

import re
from collections.abc import Mapping

from pddlego_local.episode.reading.words import any_of

_DIGITS = r"[#(\[]?(?P<number>\d{1,4})(?![\d%])[)\]]?"
_WHY = any_of("why")
_OTHER = r"(?:\d|(?:or|and|but|maybe|perhaps|possibly)\b)"  # another number may follow
_LINE = re.compile(  # "2", "Option 2", "2. go to shelf 1", "I choose 2."
    r"(?:(?:so|thus|therefore|hence),? )?"
    r"(?:(?:the |my )?(?:best |next |final"
    r" )?(?:answer|choice|number|option|action|selection)"
    r"(?: number)?(?: is)?\s*+[:=#]*+\s*+|i (?:would |will )?(?:choose|pick|select)(?:"
    r" option)? )?"
    rf"{_DIGITS}"
    rf"(?:[.!]|[.:)]\s+\S.*|(?<=[)\]])\s+\S.*|\s*[–—(-](?!\s*{_OTHER})\s*[^\W\d].*|,?\s+{_WHY}\b.*)?",
    re.IGNORECASE,
)
_ALONE = re.compile(r"[\[(]?(\d{1,4})[\])]?[.!]?")
_OPTION = r"(?:(?:the )?(?:option|number|action|choice|goal)(?: number)?\s*)?"
_DECIDED = (
    # "the answer is", "my choice: ", "the best option would be"
    r"\b(?:answer|choice|selection|decision|pick"
    r"|(?:best|right|correct|nearest|optimal|chosen|selected|final|better|my)"
    r"(?: (?:option|number|action|goal|one))?)"
    r"(?: (?:to|for) [^.,:\n\d]{1,60}?)?\s*(?:is|:|=|would be|should be|will"
    r" be)\s*:?\s*",
    # "I choose", "let's go with"
    r"\b(?:i|we|let['’]s|let me|therefore|so|thus)(?:"
    r" (?:will|would|shall|should)|['’](?:ll|d))?"
    r" (?:choose|pick|select|take|think|go (?:with|for)|going with|choosing|opt"
    r" for)\s+",
    r"^(?:choose|pick|select|choosing|going with)\s+",
)
_ENDS = rf"(?!\.\d)(?=\s*(?:\Z|:(?!\d)|[.!;,)\n(–—-](?!\s*{_OTHER})|{_WHY}\b))"
_CONCLUSIONS = (
    *(rf"{decided}{_OPTION}{_DIGITS}{_ENDS}" for decided in _DECIDED),
    rf"\b(?:option|number) {_DIGITS} is (?:the |my )?"
    r"(?:best|right|correct|optimal|answer|nearest)\b",
)
_CONCLUSION = [
    re.compile(sentence, re.IGNORECASE | re.MULTILINE) for sentence in _CONCLUSIONS
]
_DOUBTS = re.compile(
    r"\b(?:if|whether|unless|not|never|neither|either)\b|n['’]t\b", re.IGNORECASE
)
_ENDS_SENTENCE = re.compile(r"[.!?;,\n]")
_MARKS = re.compile(r"[*_`\"“”]")
_KEY = re.compile(
    r"(?:selected|chosen|best|next|final|my)?(?:option|choice|selection|number|answer|index|id|pick"
    r"|decision|action|goal|subgoal|selected|chosen|choose|best)(?:number|index|id|no)?"
)
_LONGEST = 20_000  # characters that are searched, from the end


def number_in(text: str) -> int | None:
    """Returns the one number that a text decides for, or None if there is none or more
    than one.
    """
    end = text[-_LONGEST:]
    plain = _MARKS.sub("", end)
    named: set[int] = set()  # by lines
    alone: set[int] = set()  # on lines of their own
    for line in plain.splitlines():
        stripped = line.strip(" #'\t")
        if found := _LINE.fullmatch(stripped):
            named.add(int(found["number"]))
        if found := _ALONE.fullmatch(stripped):
            alone.add(int(found[1]))
    concluded = _concluded(plain)
    decided = concluded | alone if concluded else named
    return decided.pop() if len(decided) == 1 else None


def _concluded(text: str) -> set[int]:
    """Returns the numbers that sentences decide for."""
    numbers: set[int] = set()
    for conclusion in _CONCLUSION:
        for match in conclusion.finditer(text):
            if not _is_doubted(text, match.start()):
                numbers.add(int(match["number"]))
    return numbers


def _is_doubted(text: str, at: int) -> bool:
    """Returns whether the sentence denies or only supposes what begins at `at`."""
    before = text[max(0, at - 200) : at]
    *_, sentence = _ENDS_SENTENCE.split(before)
    return _DOUBTS.search(sentence) is not None


def number_under_other_key(entries: Mapping[str, object]) -> int | None:
    """Returns the number under a key such as "choice", or None if there is none or they
    differ.
    """
    numbers: set[int] = set()
    for key, value in entries.items():
        number = _as_number(value)
        words = re.sub(r"[\s_-]", "", key.lower())
        if number is not None and _KEY.fullmatch(words):
            numbers.add(number)
    return numbers.pop() if len(numbers) == 1 else None


def _as_number(value: object) -> int | None:
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value

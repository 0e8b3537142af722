"""The phrases of a partly seen world: how facts and commands are said, and how they are
read back.

A phrase has slots, which are names of parameters: "the corridor leads to {to*}". A slot
with a star takes a list, so that facts which are equal in all other arguments become
one sentence. Whatever is said must come back when it is read, since a method learns of
the world from the texts alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego_local.pddl.conditions import Fact

_SLOT = re.compile(r"\{([^{}*]+)(\*?)\}")
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(r"([a-z][a-z_]*)(\d+)")
_NAME = r"(?:the )?[^\s,.;:]+(?: [^\s,.;:]+)*?"


def spelled(name: str) -> str:
    """Returns a name as texts write it: "living room" for living_room, and "room 3" for
    room3. Hyphens stay. A name that would not come back (room_3) is written as it is.
    """
    numbered = _NUMBERED.fullmatch(name)
    text = f"{numbered[1]} {numbered[2]}" if numbered else name
    text = text.replace("_", " ")
    return text if unspelled(text) == name else name


def unspelled(text: str) -> str:
    """Returns the name that a text writes; the opposite of `spelled`."""
    words = text.lower().split()
    if words[:1] == ["the"] and len(words) > 1:
        words = words[1:]
    if len(words) > 1 and words[-1].isdecimal():
        words[-2:] = [words[-2] + words[-1]]
    return "_".join(words)


def with_article(name: str) -> str:
    """Returns a name within a sentence: "the kitchen", but "room 3"."""
    text = spelled(name)
    return text if _DIGIT.search(text) else f"the {text}"


def a_kind(kind: str) -> str:
    """Returns a type within a sentence: "an item"."""
    article = "an" if kind[:1] in "aeiou" else "a"
    return f"{article} {spelled(kind)}"


def _is_told(text: str) -> bool:
    """Returns whether `with_article` could have written a name."""
    return text.lower().startswith("the ") or bool(_DIGIT.search(text))


def enumerated(names: Sequence[str]) -> str:
    """Returns "the kitchen, the hall and room 3"."""
    words = [with_article(name) for name in names]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def sentence(text: str) -> str:
    """Returns a phrase as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}."


@dataclass(frozen=True)
class Phrase:
    """A phrase for a predicate or an action. `parameters` are all of its parameters, in
    order and without "?".
    """

    text: str
    parameters: Sequence[str]

    @cached_property
    def slots(self) -> Sequence[str]:
        """The parameters that the phrase names, in the order of the text."""
        return [match[1].strip() for match in _SLOT.finditer(self.text)]

    @cached_property
    def starred(self) -> str:
        """The slot that takes a list; "" if none does."""
        for match in _SLOT.finditer(self.text):
            if match[2]:
                return match[1].strip()
        return ""

    @property
    def around(self) -> str:
        """The text without its slots."""
        return _SLOT.sub(" ", self.text)

    @property
    def unsaid(self) -> list[str]:
        """The parameters that the phrase leaves out."""
        return [name for name in self.parameters if name not in self.slots]

    @property
    def unknown(self) -> list[str]:
        """The slots that are no parameters."""
        return [name for name in self.slots if name not in self.parameters]

    def said(self, things: Mapping[str, str | Sequence[str]]) -> str:
        """Returns the phrase with these things in its slots."""

        def filled(match: re.Match[str]) -> str:
            thing = things[match[1].strip()]
            return enumerated([thing] if isinstance(thing, str) else thing)

        return _SLOT.sub(filled, self.text)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches a text of this phrase; its groups are the slots."""
        parts = []
        end = 0
        for match in _SLOT.finditer(self.text):
            slot = f"(?P<{_group(match[1].strip())}>{_name_pattern(match[2])})"
            parts += [re.escape(self.text[end : match.start()]), slot]
            end = match.end()
        parts.append(re.escape(self.text[end:]))
        return re.compile("".join(parts), re.IGNORECASE)

    def read(self, text: str, *, told: bool = False) -> dict[str, list[str]] | None:
        """Returns the names in the slots of a text; None if it is not of this phrase.

        The names of what the game tells have an article or a number; a player may leave
        the article out.
        """
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        listed = {slot: _listed(match[_group(slot)]) for slot in self.slots}
        names = [name for several in listed.values() for name in several]
        if told and not all(_is_told(name) for name in names):
            return None
        return {slot: [*map(unspelled, several)] for slot, several in listed.items()}


def _group(slot: str) -> str:
    return "slot_" + re.sub(r"\W", "_", slot)


def _name_pattern(star: str) -> str:
    return f"{_NAME}(?:, {_NAME})*?(?: and {_NAME})?" if star else _NAME


def _listed(text: str) -> list[str]:
    """Returns the elements of an enumeration."""
    head, joint, last = text.rpartition(" and ")
    if not joint:
        return [text]
    return [*head.split(", "), last]


def grouped_facts(
    facts: Iterable[Fact], phrase: Phrase
) -> Iterator[Mapping[str, str | list[str]]]:
    """Yields what fills the slots of each sentence, for facts of one predicate.

    Facts that are equal but for the starred argument are one sentence.
    """
    star = phrase.starred
    position = phrase.parameters.index(star) + 1 if star else 0
    groups: dict[Fact, list[Fact]] = {}
    for fact in facts:
        key = fact
        if star:
            key = (*fact[:position], *fact[position + 1 :])
        groups.setdefault(key, []).append(fact)
    for group in groups.values():
        first = group[0]
        things: dict[str, str | list[str]] = dict(
            zip(phrase.parameters, first[1:], strict=True)
        )
        if star:
            things[star] = [fact[position] for fact in group]
        yield things

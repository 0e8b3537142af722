"""Hostile texts: built from what has broken readers before, and by mangling real
answers.

`EXAMPLES=10000` (make fuzz) shares so many examples among the tests, drawn anew each
time; without it a few hundred are drawn, always the same.
"""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.tables import table
from tools.bench.played import Asked, played

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
FEW = 300
TEN_MB = 10_000_000
MOST_OF_ONE = 50_000  # characters of a generated text; texts of 10 MB are given by name

TABLE = table(__file__, "pieces")
PIECES: list[str] = TABLE["pieces"]


def fuzz(share: float) -> settings:
    """Of all examples this share."""
    return settings(
        max_examples=max(1, round(share * (EXAMPLES or FEW))),
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,  # no test is about time; what hangs meets the tests' own limit
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


def _repeated(piece: str, times: int) -> str:
    return (piece * times)[:MOST_OF_ONE]


def _nested(opening: str, depth: int, closed: bool, inside: str) -> str:
    closing = {"(": ")", "[": "]", "{": "}"}.get(opening[0], "")
    return opening * depth + inside + closing * depth * closed


TEXTS = st.one_of(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=30).map(
        "".join
    ),
    st.builds(
        _repeated, st.sampled_from(PIECES), st.sampled_from((100, 3_000, 50_000))
    ),
    st.builds(
        _nested,
        st.sampled_from(TABLE["openings"]),
        st.sampled_from((90, 480, 1_100, 9_000)),
        st.booleans(),
        st.sampled_from(PIECES),
    ),
)

Kind = Literal["cut", "insert", "repeat", "swap", "rename"]


@dataclass(frozen=True)
class Slip:
    """One change of a text: at a word, with another word or a piece. Places count in
    thousandths of the text.
    """

    kind: Kind
    at: int
    other: int
    piece: str

    def made(self, words: list[str]) -> list[str]:
        at, other = (place * len(words) // 1000 for place in (self.at, self.other))
        match self.kind:
            case "cut":
                return words[: min(at, other)] + words[max(at, other) :][-len(words) :]
            case "insert":
                return [*words[:at], self.piece, *words[at:]]
            case "repeat":
                return [*words[:at], *words[min(at, other) : at][:40], *words[at:]]
            case "swap" if words:
                swapped = list(words)
                swapped[at] = words[other]
                swapped[other] = words[at]
                return swapped
            case "rename" if words:
                return [self.piece if word == words[at] else word for word in words]
        return words


SLIPS = st.lists(
    st.builds(
        Slip,
        st.sampled_from(("cut", "insert", "repeat", "swap", "rename")),
        st.integers(0, 999),
        st.integers(0, 999),
        st.sampled_from(PIECES),
    ),
    min_size=1,
    max_size=5,
)


def mangled(text: str, slips: Sequence[Slip]) -> str:
    """The text with these slips; its words are what blanks and parentheses part."""
    words = text.replace("(", " ( ").replace(")", " ) ").split(" ")
    for slip in slips:
        words = slip.made(words)
    return " ".join(words)


@functools.cache
def real_answers() -> tuple[Asked, ...]:
    """What the reference writes in two games, of Coin and of Cooking."""
    return tuple(a for name in ("coin", "cooking_hard") for a in played(name, [1]))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A domain and a problem: real ones of which one or both are mangled, or hostile
    text.
    """
    answer = draw(st.sampled_from(real_answers())).answer
    domain = answer["df"]
    problem = answer["pf"]
    match draw(
        st.sampled_from(
            ("domain", "problem", "problem", "both", "no domain", "no problem")
        )
    ):
        case "domain":
            return mangled(domain, draw(SLIPS)), problem
        case "problem":
            return domain, mangled(problem, draw(SLIPS))
        case "both":
            return mangled(domain, draw(SLIPS)), mangled(problem, draw(SLIPS))
        case "no domain":
            return draw(TEXTS), problem
    return domain, draw(TEXTS)


def ten_megabytes(piece: str) -> str:
    return piece * (TEN_MB // len(piece))

"""What a text declares that is still being written: read between the stages of an answer."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pddlego_local.core import Action
from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, Word, read
from pddlego_local.pddl.sections import without_comments
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Problem, TypedName

_COMMENT = re.compile(r';(?:[^"\\]|\\[^n])*(?:\\n)?')
_ESCAPE = re.compile(r"\\.")
_PARAMETER = re.compile(r"(\?[\w-]+)(?:\s+-\s+([\w-]+))?")


@dataclass(frozen=True)
class Signature:
    """An action's name and its parameters as (variable, type)."""

    name: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, action: Action) -> "Signature":
        found = _PARAMETER.findall(action.parameters)
        return cls(action.name, tuple((name, kind or "object") for name, kind in found))


@dataclass(frozen=True)
class Symbols:
    """The declarations of a domain, and the objects of a problem, as a grammar needs them.

    `types` may be had by objects, `known_types` by variables. `predicates` is (name, types of the
    parameters); `things` is name → type of constants and objects. All are spelled as declared.
    """

    domain_name: str
    types: tuple[str, ...]
    known_types: tuple[str, ...]
    hierarchy: Types
    predicates: tuple[tuple[str, tuple[str, ...]], ...]
    things: dict[str, str]

    def fits(self, have: str, want: str) -> bool:
        return want.lower() in self.hierarchy.with_ancestors(have.lower())

    def of_type(self, want: str, things: Iterable[tuple[str, str]]) -> frozenset[str]:
        return frozenset(name for name, kind in things if self.fits(kind, want))

    def with_objects(self, problem: Problem) -> "Symbols":
        objects = {entry.word.text: _type(entry) for entry in problem.objects}
        return Symbols(
            self.domain_name,
            self.types,
            self.known_types,
            self.hierarchy,
            self.predicates,
            self.things | objects,
        )


def symbols(domain: Domain) -> Symbols:
    """Raises nothing: of a domain with faults what could be read."""
    declared = _spelled(entry.word for entry in domain.types)
    named = _spelled(word for entry in domain.types for word in (entry.word, *entry.types))
    return Symbols(
        domain_name=domain.word.text if domain.word else "domain",
        types=tuple(declared.values()),
        known_types=tuple(named.values()),
        hierarchy=Types(domain),
        predicates=tuple(
            (predicate.word.text, tuple(_type(entry) for entry in predicate.parameters or ()))
            for predicate in domain.predicates or ()
        ),
        things={entry.word.text: _type(entry) for entry in domain.constants},
    )


@functools.lru_cache(maxsize=64)
def domain_in(text: str) -> Domain:
    """The domain that a JSON answer, or the beginning of one, holds; offsets are of `text`."""
    return _read_domain(_plain(text))


@functools.lru_cache(maxsize=64)
def domain_of(text: str) -> Domain:
    """A domain file."""
    return _read_domain(without_comments(text))


@functools.lru_cache(maxsize=64)
def problem_in(text: str) -> Problem:
    """The problem that a JSON answer, or the beginning of one, holds; offsets are of `text`."""
    plain = _plain(text)
    begins = list(re.finditer(r"\(\s*define\s*\(\s*problem\b", plain, re.IGNORECASE))[-1].start()
    block = _list_at(begins, plain)
    assert block is not None
    return read_problem(block, FaultLog("problem", ""))


def open_blocks(text: str) -> list[Block]:
    """The blocks that are not closed yet, the outermost `(define …` first."""
    plain = _plain(text)
    begins = list(re.finditer(r"\(\s*define\b", plain, re.IGNORECASE))[-1].start()
    found = [_list_at(begins, plain)]
    while (last := found[-1]) and last.end >= len(plain):
        inner = last.items[-1] if last.items else None
        found.append(inner if isinstance(inner, Block) else None)
    return [block for block in found[:-1] if block]


def end_of_objects(problem: Problem) -> int:
    """Where the list of objects closes; where it would stand, if there is none."""
    sections = {item.head: item for item in problem.block.items if isinstance(item, Block)}
    listed = sections.get(":objects")
    return listed.end if listed else sections[":init"].offset


def repeated(words: Iterable[Word], taken: Iterable[str] = ()) -> Word | None:
    """The first word that comes again, or that is taken; PDDL ignores case."""
    seen = {name.lower() for name in taken}
    for word in words:
        if word.name in seen:
            return word
        seen.add(word.name)
    return None


def end_before(text: str, offset: int, *, block: bool = False) -> int:
    """Where what stands before `offset` ends, blanks and comments left out; with `block`, before
    the bracket that opens there."""
    before = _plain(text)[:offset]
    return len((before[: before.rindex("(")] if block else before).rstrip())


def after_type(text: str) -> bool:
    """Whether a typed list ends with a type: "a b - room"."""
    return re.search(r"\s-\s+[\w-]+$", _plain(text)) is not None


def has_section(text: str, name: str) -> bool:
    return re.search(rf"\(\s*:{name}\b", _plain(text), re.IGNORECASE) is not None


def _read_domain(plain: str) -> Domain:
    block = _list_at(max(plain.find("("), 0), plain)
    return read_domain(block or Block(0), FaultLog("domain", ""))


def _list_at(begins: int, plain: str) -> Block | None:
    """The list that begins there, closed or not; offsets are those of `plain`."""
    return read(_closed(" " * begins + plain[begins:]), lambda *_: None)


@functools.lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """The text with comments, escapes and the envelope blanked out; offsets stay what they are."""
    text = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    text = _ESCAPE.sub("  ", text)
    return re.sub(r'"[dp]f"\s*:|["{},]', lambda found: " " * len(found[0]), text)


def _closed(plain: str) -> str:
    """With the brackets that are missing at the end; what follows the outermost list is cut off."""
    depth = 0
    for bracket in re.finditer(r"[()]", plain):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return plain[: bracket.end()]
    return plain + ")" * depth


def _spelled(words: Iterable[Word]) -> dict[str, str]:
    """Each name once, "object" always, as first spelled."""
    found: dict[str, str] = {}
    for word in words:
        found.setdefault(word.name, word.text)
    return {"object": "object"} | found


def _type(entry: TypedName) -> str:
    return entry.types[0].text if entry.types else "object"

"""Reads an answer that is still being written, with the project's PDDL reader.

An answer is JSON: {"df": a domain, "pf": a problem} or one of the two alone. All
offsets are in this JSON text. A file may end anywhere: blocks that are not closed yet
have the end -1.
"""

import functools
import re

from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Block, Node, Word, read
from pddlego_local.pddl.task import Domain, Problem

_ESCAPE = re.compile(r"\\(.)")


@functools.lru_cache(maxsize=64)
def domain_of(text: str) -> Domain:
    """Reads a domain file."""
    return read_domain(_block(text) or Block(0))


@functools.lru_cache(maxsize=64)
def domain_in(text: str) -> Domain:
    """Reads the domain in an answer, or in the beginning of one."""
    return domain_of(_files(text)[0])


@functools.lru_cache(maxsize=64)
def problem_in(text: str) -> Problem:
    """Reads the problem in an answer, or in the beginning of one."""
    return read_problem(last_file(text))


@functools.lru_cache(maxsize=64)
def last_file(text: str) -> Block:
    """Reads the last file in an answer, or in the beginning of one."""
    block = _block(_files(text)[-1])
    assert block is not None
    return block


def open_blocks(text: str) -> list[Block]:
    """Returns the blocks of the last file that are not closed yet; the first is
    `(define …`.
    """
    blocks: list[Block] = []
    node: Node | None = last_file(text)
    while isinstance(node, Block) and node.end < 0:
        blocks.append(node)
        node = node.items[-1] if node.items else None
    return blocks


def end_before(text: str, offset: int, *, block: bool = False) -> int:
    """Returns where the last word or list before `offset` ends, without comments. With
    `block`, it is the last one before the bracket of the innermost block that is open
    at `offset`.
    """
    open_ = open_blocks(text[:offset])
    before = open_[-1].items
    if block:
        before = open_[-2].items[:-1]  # without the innermost block
    if not before:
        return open_[-1].offset + 1
    last = before[-1]
    if isinstance(last, Word):
        return last.offset + len(last.text)
    return last.end + 1


def after_type(text: str) -> bool:
    """Returns whether the open list at the end of a text ends with a type, as in "a b -
    room".
    """
    match open_blocks(text)[-1].items:
        case [*_, Word("-"), _]:
            return True
    return False


def _files(text: str) -> list[str]:
    """Returns the PDDL files of an answer, each padded with spaces that preserve its
    offsets.
    """
    files = []
    offset = 0
    for number, piece in enumerate(_ESCAPE.sub(_as_blanks, text).split('"')):
        is_file = number % 4 == 3  # in {"df": "…", "pf": "…"}
        if is_file:
            padding = " " * offset
            files.append(padding + piece)
        offset += len(piece) + 1
    return files


def _as_blanks(escape: re.Match[str]) -> str:
    """Two characters in place of an escape; a line break still ends a comment."""
    return " \n" if escape[1] == "n" else "  "


def _block(text: str) -> Block | None:
    """Parses a file. It ignores faults, which the static check reports."""
    return read(text, lambda _offset, _message: None, recover=True)

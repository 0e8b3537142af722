"""`pddlego` in this process, and what it prints."""

from collections.abc import Iterable
from typing import NamedTuple

import pytest

from pddlego_local.cli import Dispatch, run


def exit_code(words: Iterable[object], dispatch: Dispatch | None = None) -> int:
    """Of a command. Help, and what the parser refuses, end the interpreter."""
    try:
        return run([*map(str, words)], dispatch)
    except SystemExit as end:
        return int(end.code or 0)


class Printed(NamedTuple):
    out: str
    err: str


class Pddlego:
    """Called with the words of a command. The fixture `pddlego` is one. `dispatch`
    carries out the commands of another program.
    """

    def __init__(
        self, capsys: pytest.CaptureFixture[str], dispatch: Dispatch | None = None
    ) -> None:
        self._capsys = capsys
        self._dispatch = dispatch

    def __call__(self, *words: object, code: int | tuple[int, ...] = 0) -> Printed:
        """What this command printed, and nothing from before it. It must end with
        `code`, or with one of several, and without a traceback.
        """
        self._capsys.readouterr()
        ended = exit_code(words, self._dispatch)
        printed = Printed(*self._capsys.readouterr())
        assert ended in (code if isinstance(code, tuple) else (code,)), printed
        assert "Traceback" not in printed.err
        return printed

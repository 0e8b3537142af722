"""`pddlego` in this process, and what it prints."""

from typing import NamedTuple

import pytest

from pddlego_local.cli import run


class Printed(NamedTuple):
    out: str
    err: str


class Pddlego:
    """Called with the words of a command. The fixture `pddlego` is one."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object, code: int = 0) -> Printed:
        """What this command printed, and nothing from before it. It must end with `code`."""
        self._capsys.readouterr()
        ended = run([*map(str, words)])
        printed = Printed(*self._capsys.readouterr())
        assert ended == code, printed
        return printed

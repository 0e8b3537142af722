"""The command `pddlego`: starts the subcommands and turns errors into exit codes.

The exit codes are 0 for success, 1 for a negative answer (such as an invalid plan) or
unreadable records, 2 for bad usage or configuration, and 3 for an infrastructure fault.
"""

import argparse
import contextlib
import errno
import importlib
import importlib.metadata
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pddlego_local.core.errors import ConfigError, InfrastructureError, PddlegoError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.resources import table
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.core.visible import visible

COMMANDS: dict[str, str] = table(__file__)

INTERRUPTED = 130  # 128 + SIGINT, the shells' convention
_FEWER = "lower run.concurrency, or raise the limit"
_FEWER_FILES = f"{_FEWER} of open files (ulimit -n)"
_FEWER_PROCESSES = f"{_FEWER} of processes (ulimit -u)"
_REMEDIES = {  # of errors that concern the machine and not one file
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EFBIG: "make room",
    errno.EIO: "check the disk, or use another",
    errno.ESTALE: "check the disk, or use another",
    errno.EMFILE: _FEWER_FILES,
    errno.ENFILE: _FEWER_FILES,
    errno.EAGAIN: _FEWER_PROCESSES,
    errno.ENOMEM: _FEWER_PROCESSES,
    errno.EBADF: "leave standard input and output open",
}

Dispatch = Callable[[Sequence[str]], int]
"""Carries out the words of a command line, and returns the exit code."""


def main(
    arguments: Sequence[str] | None = None, dispatch: Dispatch | None = None
) -> None:
    """Runs one command in this process, which ends with its exit code. `dispatch`
    carries out another program's commands, whose errors are told in the same way.
    """
    _prepare_streams()
    sys.unraisablehook = _unraisable
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = run(given, dispatch)
    except KeyboardInterrupt:  # again, while the first one was being handled
        code = INTERRUPTED
    # Now the interpreter waits for threads; a further Ctrl-C would end in a traceback.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    sys.exit(code)


def _prepare_streams() -> None:
    """Makes the output UTF-8 in pipes and files, and never fails on a terminal's
    encoding. A closed stream is replaced, since the next file that is opened would take
    its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream: Any = getattr(sys, name)
        if stream is None:
            _CLOSED.add(name)
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")


_CLOSED = set[str]()


def _unraisable(args: "sys.UnraisableHookArgs") -> None:
    """Says nothing of a Ctrl-C that hits the interpreter where nobody can catch it."""
    if not isinstance(args.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(args)


def run(arguments: Sequence[str], dispatch: Dispatch | None = None) -> int:
    """Runs one command and returns its exit code. A `PddlegoError` is printed as one
    sentence.
    """
    carry_out = dispatch or _dispatch
    try:
        _check_surroundings(arguments)
        return carry_out(arguments)
    except PddlegoError as error:
        _print(f"{error}")
        return error.exit_code
    except KeyboardInterrupt:
        continues = dispatch is not None or arguments[:1] in (["run"], ["eval"])
        what_next = "; rerun the command to continue" if continues else ""
        _print(f"interrupted{what_next}")
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return 0
    except MemoryError:
        _print(f"the memory is exhausted; {_FEWER}, then rerun the command")
        return InfrastructureError.exit_code
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        _print(f"the system allows no more threads; {_FEWER_PROCESSES}, then rerun")
        return InfrastructureError.exit_code
    except OSError as error:
        return _of_the_system(error)


def _of_the_system(error: OSError) -> int:
    """Prints an error of the operating system as one sentence, and returns the exit
    code.
    """
    remedy = _REMEDIES.get(error.errno or 0)  # a failed write names no file
    if remedy is None and error.filename is None:
        raise error  # an OSError without a file is a bug of this program
    named = remedy or "check that path, or name another"
    with contextlib.suppress(OSError):  # standard error may be on the full disk
        _print(f"{error}; {named}, then rerun the command")
    if remedy:
        _stop_writing()
    return InfrastructureError.exit_code


def _print(sentence: str) -> None:
    print(visible(hidden_in_text(f"pddlego: {sentence}")), file=sys.stderr)


def _stop_writing() -> None:
    """Discards buffered output, so that the interpreter's exit does not fail to write
    it.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _check_surroundings(arguments: Sequence[str]) -> None:
    """Raises ConfigError if the folder or the streams of the command are gone, and for
    words of a script with Windows line ends.
    """
    try:
        os.getcwd()  # noqa: PTH109 - the folder may not exist
    except OSError as error:
        raise ConfigError(
            "the working folder no longer exists; change to another one"
        ) from error
    needed = {"stdout": "output"}
    if "-" in arguments or arguments[:1] == ["mcp"]:
        needed["stdin"] = "input"
    for name, in_words in needed.items():
        if name in _CLOSED:
            raise ConfigError(
                f"standard {in_words} is closed; leave it open, or redirect it to"
                " /dev/null"
            )
    for word in arguments:
        if word.endswith("\r"):
            raise ConfigError(
                f"{word[:-1]}: this word ends with a carriage return, as in a script"
                " with Windows line ends; convert the script with: sed -i 's/\\r$//'"
                " SCRIPT"
            )


def _dispatch(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["run"]:  # Hydra reads the rest, its own --help included
        from pddlego_local.commands import run as cells

        return cells.main(arguments[1:])
    options = _parser().parse_args(arguments or ["--help"])
    command = importlib.import_module(f"pddlego_local.commands.{options.command}")
    parser = argparse.ArgumentParser(
        prog=f"pddlego {options.command}", description=COMMANDS[options.command]
    )
    command.add_arguments(parser)
    code: int = command.carry_out(parser.parse_intermixed_args(options.rest))
    return code


def _command(name: str) -> str:
    if name not in COMMANDS:
        raise argparse.ArgumentTypeError(
            f"there is no command {name!r}{did_you_mean(name, COMMANDS)} "
            f"The commands are {', '.join(COMMANDS)}"
        )
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pddlego",
        description=(
            "Language models that write PDDL in partially observed text worlds."
        ),
        epilog="\n".join(f"  {name:9} {text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"pddlego_local {importlib.metadata.version('pddlego_local')}"
    parser.add_argument(
        "--version", action="version", version=version, help="print the version"
    )
    parser.add_argument("command", type=_command, metavar="COMMAND")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
    return parser

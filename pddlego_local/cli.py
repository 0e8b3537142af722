"""The command `pddlego`: starts the subcommands and turns errors into exit codes.

The exit codes are 0 for success, 1 for a negative answer (such as an invalid plan) or unreadable
records, 2 for bad usage or configuration, and 3 for an infrastructure fault.
"""

import argparse
import contextlib
import errno
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence

from pddlego_local.core.errors import ConfigError, InfrastructureError, PddlegoError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.resources import table
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.core.visible import visible

COMMANDS: dict[str, str] = table(__file__)

INTERRUPTED = 130  # 128 + SIGINT, the shells' convention
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BROKEN = (errno.EIO, errno.ESTALE)


def main(arguments: Sequence[str] | None = None) -> None:
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code. A `PddlegoError` is printed as one sentence."""
    try:
        return _dispatch(arguments)
    except PddlegoError as error:
        print(visible(hidden_in_text(f"pddlego: {error}")), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        what_next = "; rerun the command to continue" if arguments[0] in ("run", "train") else ""
        print(f"pddlego: interrupted{what_next}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return 0
    except OSError as error:
        remedy = "check that path, or name another"
        if disk_error := error.errno in (*_FULL, *_BROKEN):  # a failed write names no file
            remedy = "make room" if error.errno in _FULL else "check the disk, or use another"
        elif error.filename is None:
            raise  # an OSError without a file is a bug of this program
        with contextlib.suppress(OSError):  # standard error may be on the full disk
            print(visible(f"pddlego: {error}; {remedy}, then rerun the command"), file=sys.stderr)
        if disk_error:
            _stop_writing()
        return InfrastructureError.exit_code


def _stop_writing() -> None:
    """Discards buffered output, so that the interpreter's exit does not fail to write it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _refuse_carriage_return(arguments: Sequence[str]) -> None:
    for word in arguments:
        if word.endswith("\r"):
            raise ConfigError(
                f"{word[:-1]}: this word ends with a carriage return, as in a script with Windows "
                "line ends; convert the script with: sed -i 's/\\r$//' SCRIPT"
            )


def _dispatch(arguments: Sequence[str]) -> int:
    _refuse_carriage_return(arguments)
    if arguments and arguments[0] == "run":  # Hydra reads the rest, its own --help included
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
        description="Language models that write PDDL in partially observed text worlds.",
        epilog="\n".join(f"  {name:9} {text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"pddlego_local {importlib.metadata.version('pddlego_local')}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    parser.add_argument("command", type=_command, metavar="COMMAND")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
    return parser

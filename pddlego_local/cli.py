"""The command `pddlego`: each subcommand's options, and how errors become exit codes.

0 done · 1 the thing asked about does not hold · 2 bad usage or configuration · 3 infrastructure
"""

import argparse
import contextlib
import errno
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence

from pddlego_local.core.errors import InfrastructureError, PddlegoError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.visible import visible

COMMANDS = {
    "run": "play one cell, or with -m a sweep; the same command again continues it",
    "status": "how far a run has come, from its records, while it goes on or after",
    "report": "tables and pages of one or more runs, with n and intervals",
    "export": "all model calls or episodes as one CSV table",
    "rescore": "rows computed from transcripts again; 1 if anything differs",
    "show": "one episode's transcript, to read; or which there are",
    "read": "what is read from a model's answer, and why",
    "check": "check PDDL without planning: syntax, names, types",
    "plan": "plan with Fast Downward",
    "sample": "PDDL pairs that a model writes for one observation",
    "formalize": "a description in words becomes PDDL and a plan",
    "games": "ALFWorld games of our own making, as files of its data set",
    "train": "train a small model to write PDDL; the same command again continues it",
    "demo": "small language models play, freely and under a grammar",
    "doctor": "what is installed and missing, and the models; of MODEL…: will it fit, is it here",
    "fetch": "a model's files from the Hugging Face hub into the local cache",
}

INTERRUPTED = 130  # 128 + SIGINT, as shells say
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(arguments: Sequence[str] | None = None) -> None:
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Carries out one command and returns its exit code; errors of ours end in one sentence."""
    try:
        return _dispatch(arguments)
    except PddlegoError as error:
        print(visible(f"pddlego: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        what_next = "; the same command continues" if arguments[0] in ("run", "train") else ""
        print(f"pddlego: interrupted{what_next}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return 0
    except OSError as error:
        full = error.errno in _FULL
        if not full and error.filename is None:
            raise  # of no file: a mistake of ours
        helps = "make room" if full else "see to that path, or name another"
        with contextlib.suppress(OSError):  # standard error may be on the full disk
            print(visible(f"pddlego: {error}; {helps}, then the same again"), file=sys.stderr)
        if full:
            _stop_writing()
        return InfrastructureError.exit_code


def _stop_writing() -> None:
    """What is still to be written fails no more when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _dispatch(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "run":  # Hydra reads the rest, its own --help included
        from pddlego_local.commands import run as cells

        return cells.main(arguments[1:])
    if arguments and arguments[0] == "--version":
        print(f"pddlego_local {importlib.metadata.version('pddlego_local')}")
        return 0
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
            f"There are {', '.join(COMMANDS)}"
        )
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pddlego",
        description="PDDL-writing language models in partly seen text worlds.",
        epilog="\n".join(f"  {name:9} {text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print it")
    parser.add_argument("command", type=_command, metavar="COMMAND")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
    return parser

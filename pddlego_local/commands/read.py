"""`pddlego read`: shows which part of a model's answer is read, and why."""

import argparse
import json
import sys
from collections.abc import Mapping

from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import CAUSES
from pddlego_local.core.visible import visible
from pddlego_local.decoding.forms import FORMS, PDDL, Fields, Form, choice
from pddlego_local.episode.reading.answer import as_answer
from pddlego_local.episode.reading.lenient import Candidate, Findings, lenient

_FORMS: Mapping[str, Form[Fields]] = {form.name: form for form in FORMS} | {
    "choice": choice(9999)
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="a model's answer; - is stdin")
    add(
        "--form",
        choices=_FORMS,
        default=PDDL.name,
        help="the answer format (default: pddl)",
    )
    add(
        "--problem",
        metavar="FILE",
        help="the problem file that an edit (--form edit) changes",
    )
    add(
        "--thought",
        nargs=2,
        metavar=("BEGIN", "END"),
        help="the markers of the model's thoughts",
    )
    add("--cut", action="store_true", help="say that a token limit cut the answer")
    add(
        "--json",
        action="store_true",
        help='print one JSON object: the form\'s keys and "fault"',
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0 if an answer was read, 1 if none was. Raises ConfigError for an
    unreadable file.
    """
    if arguments.problem and arguments.form != "edit":
        raise ConfigError("--problem is only for --form edit")
    form, text = _FORMS[arguments.form], _text_of(arguments.file)
    markers = tuple(arguments.thought) if arguments.thought else None
    problem = _text_of(arguments.problem) if arguments.problem else ""
    findings = lenient(text, form, cut=arguments.cut, markers=markers, problem=problem)
    taken = findings.taken
    result = as_answer(taken.value if taken else None, findings.fault, form)
    value, fault = result.value, result.fault
    if arguments.json:
        entries = value.model_dump() if value else dict.fromkeys(form.keys.model_fields)
        print(json.dumps({**entries, "fault": fault}))
    elif value is None:
        print(f"{fault}: {CAUSES[fault].means}")
        print(f"Requested: {form.example}")
        _print_others(findings, text)
    else:
        for key, entry in value.model_dump().items():
            shown = (
                entry
                if isinstance(entry, str)
                else json.dumps(entry, ensure_ascii=False)
            )
            print(visible(f"--- {key}\n{shown.rstrip()}"))
        print("---")
        if taken:
            print(f"Read: {_place(taken, text)}.")
        _print_others(findings, text)
    return 0 if value else 1


def _text_of(file: str) -> str:
    """Returns the text as a model's server would have sent it: bad UTF-8 bytes are
    replaced.
    """
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    with as_error(ConfigError, file):
        return path(file).read_bytes().decode("utf-8", "replace")


def _print_others(findings: Findings[Fields], text: str) -> None:
    """Prints the other candidates for the answer, except repetitions of the value that
    was read.
    """
    for one in findings.candidates:
        if one is not findings.taken and not (
            findings.taken and one.value == findings.taken.value
        ):
            why = one.doubt or "an earlier draft, or of lower priority"
            print(f"Not read: {_place(one, text)}: {why}.")


def _place(one: Candidate[Fields], text: str) -> str:
    first = text.count("\n", 0, one.start) + 1
    last = text[: one.end].rstrip().count("\n") + 1
    return f"{one.how}, " + (
        f"line {first}" if first == last else f"lines {first} to {last}"
    )

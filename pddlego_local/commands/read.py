"""`pddlego read`: shows which part of a model's answer is read, and why."""

import argparse
import json
import sys

from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import CAUSES
from pddlego_local.core.visible import visible
from pddlego_local.decoding.forms import FORMS, PDDL, Fields, Form, choice
from pddlego_local.episode.reading.answer import as_answer
from pddlego_local.episode.reading.lenient import Candidate, Findings, lenient

_FORMS: dict[str, Form[Fields]] = {form.name: form for form in FORMS}
_FORMS["choice"] = choice(9999)


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
    form = _FORMS[arguments.form]
    text = _text_of(arguments.file)
    findings = lenient(
        text,
        form,
        cut=arguments.cut,
        markers=tuple(arguments.thought) if arguments.thought else None,
        problem=_text_of(arguments.problem) if arguments.problem else "",
    )
    taken = findings.taken
    result = as_answer(taken.value if taken else None, findings.fault, form)
    fields = result.value.model_dump() if result.value else {}
    if arguments.json:
        values = fields or dict.fromkeys(form.keys.model_fields)
        print(json.dumps({**values, "fault": result.fault}))
        return 0 if fields else 1
    if fields:
        for key, value in fields.items():
            if not isinstance(value, str):
                value = json.dumps(value, ensure_ascii=False)
            print(visible(f"--- {key}\n{value.rstrip()}"))
        print("---")
    else:
        print(f"{result.fault}: {CAUSES[result.fault].means}")
        print(f"Requested: {form.example}")
    _print_places(findings, text)
    return 0 if fields else 1


def _text_of(file: str) -> str:
    """Returns the text as a model's server would have sent it: bad UTF-8 bytes are
    replaced.
    """
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    with as_error(ConfigError, file):
        return path(file).read_bytes().decode("utf-8", "replace")


def _print_places(findings: Findings[Fields], text: str) -> None:
    """Prints where the answer was read, and the other candidates for it, except
    repetitions of its value.
    """
    taken = findings.taken
    if taken:
        print(f"Read: {_place(taken, text)}.")
    for candidate in findings.candidates:
        if taken and candidate.value == taken.value:
            continue
        why = candidate.doubt or "an earlier draft, or of lower priority"
        print(f"Not read: {_place(candidate, text)}: {why}.")


def _place(candidate: Candidate[Fields], text: str) -> str:
    first = text.count("\n", 0, candidate.start) + 1
    last = text[: candidate.end].rstrip().count("\n") + 1
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"{candidate.how}, {lines}"

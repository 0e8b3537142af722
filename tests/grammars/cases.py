"""The lists that every reader is tried on, and Fast Downward's own reading of them."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tests.processes import ran

HERE = Path(__file__).parent

# Fast Downward's parser is GPL-3.0 and keeps global state: it runs in a process of its
# own. Each line in is [domain, problem]; each line out is its complaint, "" for none.
_READER = """
import contextlib, json, sys
pairs = [json.loads(line) for line in sys.stdin]
sys.argv = ["translate", "domain", "problem"]
from fast_downward.translate import options
options.set_options(["domain", "problem"])
from fast_downward.translate.pddl_parser.lisp_parser import parse_nested_list
from fast_downward.translate.pddl_parser.parsing_functions import parse_task
for domain, problem in pairs:
    complaint = ""
    with contextlib.redirect_stdout(None):
        try:
            texts = (domain, problem)
            parse_task(*(parse_nested_list(t.splitlines(True)) for t in texts))
        except (Exception, SystemExit) as error:
            complaint = f"{type(error).__name__}: {error}"
    print(json.dumps(complaint))
"""


@dataclass(frozen=True)
class Case:
    grammar: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.grammar}: {self.title}"


def cases(grammar: str, kind: str) -> list[Case]:
    """The blocks of `<grammar>/<kind>.txt`: a line "# title", the text, an empty
    line.
    """
    blocks = (
        (HERE / grammar / f"{kind}.txt")
        .read_text(encoding="utf-8")
        .strip()
        .split("\n\n")
    )
    end = "" if grammar == "syntax" else "\n"
    found = [block.split("\n", 1) for block in blocks]
    return [
        Case(grammar, title.removeprefix("# "), text + end) for title, text in found
    ]


def fast_downward_complaints(pairs: list[tuple[str, str]]) -> list[str]:
    """What Fast Downward's parser says of each (domain, problem); "" where it takes
    them.
    """
    lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
    done = ran("-c", _READER, input=lines, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def data_folder() -> Path | None:
    """Other people's files to try the grammars on; `None` where they are absent."""
    named = os.environ.get("PDDLEGO_DATA")
    path = Path(named) if named else HERE.parents[1].parent / "shared" / "data"
    return path if path.is_dir() else None

"""The grammars against what models and competitions really wrote, where those files are
present.
"""

import json
import lzma
import re
import tarfile
from pathlib import Path

import pytest

from pddlego_local.decoding.grammars.lark_text import accepts, load
from tests.grammars.cases import data_folder, fast_downward_complaints

DATA = data_folder()
pytestmark = pytest.mark.skipif(
    DATA is None, reason="no recorded files on this machine"
)

NO_EFFECT = re.compile(r":effect\s*\((and\s*)?\)", re.IGNORECASE)
LOST_SPACE = re.compile(r"\(\w[\w-]*\?")  # a detokenizer made "(at?x" of "(at ?x"
WORD_OF_BACKSLASH = re.compile(r"\\n")  # Fast Downward takes it for an object's name
SYMBOL_FAULTS = (
    *("Undefined", "Expected logical operator or predicate name", "duplicate objects"),
    *("of arity", "is true and false", "does not match", "KeyError"),
)


def _accepts(domain: str, problem: str) -> bool:
    return accepts(load("domain"), domain) and accepts(load("problem"), problem)


def _recorded() -> list[dict[str, str]]:
    assert DATA
    with lzma.open(
        DATA / "llm_pddl" / "open_weight_dev.jsonl.xz", "rt", encoding="utf-8"
    ) as lines:
        return [json.loads(line) for line in lines]


def test_what_models_wrote_and_a_planner_solved_is_accepted() -> None:
    solved = [row for row in _recorded() if row["cause"] == "none"][::4]
    assert len(solved) > 1000
    refused = [row for row in solved if not _accepts(row["domain"], row["problem"])]
    complaints = fast_downward_complaints(
        [(row["domain"], row["problem"]) for row in refused]
    )
    ours = [row for row, said in zip(refused, complaints, strict=True) if not said]
    damage = re.compile(f"{LOST_SPACE.pattern}|{WORD_OF_BACKSLASH.pattern}")
    damaged = [row for row in ours if damage.search(row["domain"] + row["problem"])]
    idle = [
        row for row in ours if row not in damaged and NO_EFFECT.search(row["domain"])
    ]
    unexplained = [row["id"] for row in ours if row not in damaged + idle]
    assert len(unexplained) <= 0.002 * len(solved), unexplained
    assert len(idle) <= 0.005 * len(solved)


def test_what_is_accepted_and_refused_by_fast_downward_has_wrong_symbols_only() -> None:
    rows = [row for row in _recorded() if row["cause"] != "none"][::8]
    accepted = [row for row in rows if _accepts(row["domain"], row["problem"])]
    assert len(accepted) > 100
    complaints = fast_downward_complaints(
        [(row["domain"], row["problem"]) for row in accepted]
    )
    assert any(complaints)
    assert [
        c for c in complaints if c and not any(fault in c for fault in SYMBOL_FAULTS)
    ] == []


def test_competition_files_within_our_requirements_are_accepted(tmp_path: Path) -> None:
    assert DATA
    with tarfile.open(DATA / "pddl" / "benchmarks_dev.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    folders = sorted((tmp_path / "ipc").iterdir())
    pairs = [
        (
            (f / "domain.pddl").read_text("latin-1"),
            (f / "problem.pddl").read_text("latin-1"),
        )
        for f in folders
    ]
    complaints = fast_downward_complaints(pairs)
    ours = [
        (folder.name, pair)
        for folder, pair, said in zip(folders, pairs, complaints, strict=True)
        if not said and ":derived" not in pair[0].lower()
    ]
    assert len(ours) > 50
    refused = [name for name, pair in ours if not _accepts(*pair)]
    assert len(refused) <= 0.1 * len(ours), refused

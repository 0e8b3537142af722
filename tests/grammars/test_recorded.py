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
# A detokenizer made "(at?x" of "(at ?x". Fast Downward takes "\\n" for a name.
DAMAGE = re.compile(r"\(\w[\w-]*\?|\\n")


def _accepts(domain: str, problem: str) -> bool:
    return accepts(load("domain"), domain) and accepts(load("problem"), problem)


def _recorded() -> list[dict[str, str]]:
    assert DATA
    file = DATA / "llm_pddl" / "open_weight_dev.jsonl.xz"
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_what_models_wrote_and_a_planner_solved_is_accepted() -> None:
    solved = [row for row in _recorded() if row["cause"] == "none"][::20]
    assert len(solved) > 200
    refused = [
        (row["domain"], row["problem"])
        for row in solved
        if not _accepts(row["domain"], row["problem"])
    ]
    idle, unexplained = 0, []
    for pair, complaint in zip(refused, fast_downward_complaints(refused), strict=True):
        if complaint or DAMAGE.search("".join(pair)):
            continue
        if NO_EFFECT.search(pair[0]):
            idle += 1
        else:
            unexplained.append(pair)
    assert len(unexplained) <= 0.002 * len(solved), unexplained
    assert idle <= 0.005 * len(solved)


def test_competition_files_within_our_requirements_are_accepted(tmp_path: Path) -> None:
    assert DATA
    with tarfile.open(DATA / "pddl" / "benchmarks_dev.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    folders = sorted((tmp_path / "ipc").iterdir())
    pairs = []
    for folder in folders:
        files = folder / "domain.pddl", folder / "problem.pddl"
        pairs.append((files[0].read_text("latin-1"), files[1].read_text("latin-1")))
    count, refused = 0, []
    complaints = fast_downward_complaints(pairs)
    for folder, pair, complaint in zip(folders, pairs, complaints, strict=True):
        if complaint or ":derived" in pair[0].lower():
            continue
        count += 1
        if not _accepts(*pair):
            refused.append(folder.name)
    assert count > 50
    assert len(refused) <= 0.1 * count, refused

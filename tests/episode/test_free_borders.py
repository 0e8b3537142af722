"""Each comment, marker and excerpt in each surrounding: the files come out letter for
letter.
"""

import itertools
import json

import pytest

from pddlego_local.core.nouns import Completion
from pddlego_local.decoding.forms import COMMAND, PDDL
from pddlego_local.episode.reading.answer import read_free
from tests.episode.test_free_answers import DOMAIN, PROBLEM
from tests.tables import table

TABLE = table(__file__)


def pair(text: str, *, cut: bool = False) -> tuple[str, str] | str:
    """The two files, or the fault."""
    completion = Completion(text, "length" if cut else "stop", 0, 0, 0.0)
    answer = read_free(completion, PDDL)
    if answer.value is None:
        return answer.fault
    return answer.value.df.strip(), answer.value.pf.strip()


def with_line(line: str) -> tuple[str, str]:
    df = DOMAIN.replace("  (:action", f"  {line}\n  (:action")
    pf = PROBLEM.replace("  (:goal", f"  {line}\n  (:goal")
    return df, pf


@pytest.mark.parametrize(
    "around", TABLE["surroundings"].values(), ids=TABLE["surroundings"]
)
@pytest.mark.parametrize("line", TABLE["comments"])
def test_nothing_in_a_file_ends_it(line: str, around: str) -> None:
    df, pf = with_line(line)
    text = around.format(df=df, pf=pf)
    assert pair(text) == (df, pf)
    assert pair(f"{text}\nThis", cut=True) == (df, pf)


@pytest.mark.parametrize(
    "comment", [line for line in TABLE["comments"] if line[0] == ";"]
)
def test_comments_around_a_file_belong_to_it(comment: str) -> None:
    above = f"{comment}\n{DOMAIN}"
    behind = f"{DOMAIN} {comment}"
    for df in (above, behind):
        assert pair(f"```pddl\n{df}\n```\n```pddl\n{PROBLEM}\n```") == (df, PROBLEM)
    assert pair(f"{above}\n\n{PROBLEM}") == (above, PROBLEM)


@pytest.mark.parametrize("marks", TABLE["marks"], ids=repr)
def test_no_label_and_no_remark_becomes_a_part_of_a_complete_file(
    marks: list[str],
) -> None:
    before, between, behind = marks
    first = f"{before}{DOMAIN}\n{between}"
    second = f"{PROBLEM}\n{behind}"
    parts = {"both": first + second, "first": first, "second": second}
    parts["json"] = json.dumps({"df": first, "pf": second})
    for name, around in TABLE["holders"].items():
        assert pair(around.format(**parts)) == (DOMAIN, PROBLEM), name


JSON = json.dumps({"df": DOMAIN, "pf": PROBLEM})
FENCES = f"```pddl\n{DOMAIN}\n```\n```pddl\n{PROBLEM}\n```"
DRAFTS = (
    "(define (domain old) (:action a :effect (q)))",
    "(define (problem o) (:init) (:goal (q)))",
)
DRAFT_JSON = json.dumps({"df": DRAFTS[0], "pf": DRAFTS[1]})
DRAFT_FENCES = "```pddl\n{}\n```\n```pddl\n{}\n```".format(*DRAFTS)


@pytest.mark.parametrize(("begin", "end"), TABLE["markers"])
def test_a_draft_in_a_thought_is_no_answer_beside_one(begin: str, end: str) -> None:
    for draft, answer in itertools.product((DRAFT_JSON, DRAFT_FENCES), (JSON, FENCES)):
        text = f"{begin}Perhaps {draft} or not.{end}\n{answer}"
        assert pair(text) == (DOMAIN, PROBLEM)
    assert pair(f"{begin}Perhaps {JSON}.{end}\nDone.") == (DOMAIN, PROBLEM)
    command = Completion(f"{begin}Perhaps look.{end}\ngo to shelf 1", "stop", 0, 0, 0.0)
    assert str(read_free(command, COMMAND).value) == "action='go to shelf 1'"


@pytest.mark.parametrize(("begin", "end"), TABLE["markers"])
def test_a_thought_that_is_cut_holds_no_answer(begin: str, end: str) -> None:
    for draft in (JSON, FENCES):
        if begin:
            assert pair(f"{begin}Perhaps {draft} or", cut=True) == "unfinished_thought"
        assert pair(f"{begin}Perhaps {draft}.{end}\n", cut=True) == "truncated"


@pytest.mark.parametrize("excerpt", TABLE["excerpts"])
def test_an_excerpt_replaces_no_whole_file(excerpt: str) -> None:
    for answer in (JSON, FENCES, f"{DOMAIN}\n\n{PROBLEM}"):
        for text in (f"{answer}\n\nNote:\n{excerpt}", f"{excerpt}\n\nNow:\n{answer}"):
            assert pair(text) == (DOMAIN, PROBLEM)
            assert pair(f"{text}\nThis", cut=True) == (DOMAIN, PROBLEM)

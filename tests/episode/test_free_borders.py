"""Each comment, marker and excerpt in each surrounding: the files come out letter for letter."""

import itertools
import json

import pytest

from pddlego_local.core.nouns import Completion
from pddlego_local.decoding.forms import COMMAND, PDDL
from pddlego_local.episode.reading.answer import read_free
from tests.episode.test_free_answers import DOMAIN, PROBLEM

COMMENTS = (
    "; <move>", ";;; -- <actions> --", "; <br>", "; </domain>", '; """', "; '''", "; ``` code",
    "; ```", ";```pddl", "; ~~~", "; # Actions", "; **bold**", "; === x ===", "; --- x",
    "; <think>", "; </think>", "; [THINK]", "; assistantfinal", "; (define (problem q))",
    "; it's \"quoted\"",
    "; } ] `", "; Human: hm", "; Observation: hm", "# no comment", "<br>", "** x **",
)  # fmt: skip
SURROUNDINGS = {
    "a fence each": "```pddl\n{df}\n```\nand\n```\n{pf}\n```\nDone.",
    "one fence": "```lisp\n{df}\n\n{pf}\n```",
    "tildes": "~~~pddl\n{df}\n~~~\n~~~pddl\n{pf}\n~~~",
    "nothing": "{df}\n\n{pf}",
    "headings": "# Domain\n{df}\n# Problem\n{pf}\n",
    "tags": "<domain>\n{df}\n</domain>\n<problem>\n{pf}\n</problem>",
    "assignments": 'domain = """{df}"""\nproblem = """{pf}"""',
    "single quotes": "domain = '''{df}'''\nproblem = '''{pf}'''",
    "an object of Python": '{{"df": """{df}""", "pf": """{pf}"""}}',
    "a fence in the place of quotes": '{{"df": ```pddl\n{df}\n```, "pf": ```pddl\n{pf}\n```}}',
    "raw strings": '{{"df": "{df}", "pf": "{pf}"}}',
    "behind a thought": "<think>Hm.</think>\n```pddl\n{df}\n```\n```pddl\n{pf}\n```",
}


def pair(text: str, *, cut: bool = False) -> tuple[str, str] | str:
    answer = read_free(Completion(text, "length" if cut else "stop", 0, 0, 0.0), PDDL)
    return (answer.value.df.strip(), answer.value.pf.strip()) if answer.value else answer.fault


def with_line(line: str) -> tuple[str, str]:
    return (
        DOMAIN.replace("  (:action", f"  {line}\n  (:action"),
        PROBLEM.replace("  (:goal", f"  {line}\n  (:goal"),
    )


@pytest.mark.parametrize("around", SURROUNDINGS.values(), ids=SURROUNDINGS)
@pytest.mark.parametrize("line", COMMENTS)
def test_nothing_in_a_file_ends_it(line: str, around: str) -> None:
    df, pf = with_line(line)
    assert pair(around.format(df=df, pf=pf)) == (df, pf)
    assert pair(around.format(df=df, pf=pf) + "\nThis", cut=True) == (df, pf)


@pytest.mark.parametrize("comment", [line for line in COMMENTS if line[0] == ";"])
def test_comments_around_a_file_belong_to_it(comment: str) -> None:
    above, behind = f"{comment}\n{DOMAIN}", f"{DOMAIN} {comment}"
    for df in (above, behind):
        assert pair(f"```pddl\n{df}\n```\n```pddl\n{PROBLEM}\n```") == (df, PROBLEM)
    assert pair(f"{above}\n\n{PROBLEM}") == (above, PROBLEM)


MARKERS = (
    ("[THINK]", "[/THINK]"), ("<think>", "</think>"), ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"), ("<thought>", "</thought>"), ("<Thought>", "</Thought>"),
    ("<scratchpad>", "</scratchpad>"), ("<seed:think>", "</seed:think>"), ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought\n", "<channel|>"), ("analysis", "assistantfinal"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>commentary<|message|>ok"
     "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"),
    ("<unused94>thought\n", "<unused95>"), ("<mm:think>", "</mm:think>"), ("<cot>", "</cot>"),
    ("Here is my thought process:", "Here is my response:"), ('<think time="3">', "</think>"),
    ("<REASONING_SCRATCHPAD>", "</REASONING_SCRATCHPAD>"), ("|startthink|", "|endthink|"),
    ("<inner_monologue>", "</inner_monologue>"), ("<analysis>", "</analysis>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"), ("[Reasoning]", "[/Reasoning]"),
    ("<chain_of_thought>", "</chain_of_thought>"), ("", "</think>"), ("", "[/THINK]"),
)  # fmt: skip
JSON = json.dumps({"df": DOMAIN, "pf": PROBLEM})
FENCES = f"```pddl\n{DOMAIN}\n```\n```pddl\n{PROBLEM}\n```"
DRAFTS = (
    "(define (domain old) (:action a :effect (q)))",
    "(define (problem o) (:init) (:goal (q)))",
)
DRAFT_JSON = json.dumps({"df": DRAFTS[0], "pf": DRAFTS[1]})
DRAFT_FENCES = "```pddl\n{}\n```\n```pddl\n{}\n```".format(*DRAFTS)


@pytest.mark.parametrize(("begin", "end"), MARKERS)
def test_a_draft_in_a_thought_is_no_answer_beside_one(begin: str, end: str) -> None:
    for draft, answer in itertools.product((DRAFT_JSON, DRAFT_FENCES), (JSON, FENCES)):
        assert pair(f"{begin}Perhaps {draft} or not.{end}\n{answer}") == (DOMAIN, PROBLEM)
    assert pair(f"{begin}Perhaps {JSON}.{end}\nDone.") == (DOMAIN, PROBLEM)
    command = Completion(f"{begin}Perhaps look.{end}\ngo to shelf 1", "stop", 0, 0, 0.0)
    assert str(read_free(command, COMMAND).value) == "action='go to shelf 1'"


@pytest.mark.parametrize(("begin", "end"), MARKERS)
def test_a_thought_that_is_cut_holds_no_answer(begin: str, end: str) -> None:
    for draft in (JSON, FENCES):
        if begin:
            assert pair(f"{begin}Perhaps {draft} or", cut=True) == "unfinished_thought"
        assert pair(f"{begin}Perhaps {draft}.{end}\n", cut=True) == "truncated"


EXCERPTS = (
    "```pddl\n(define (domain house)\n  (:predicates (at ?r))\n  ...\n)\n```",
    "```pddl\n(define (domain house) (:predicates (at ?r)) …)\n```",
    "```pddl\n(define (domain house) (:action go :effect (p))\n  ; ... as before\n)\n```",
    "```pddl\n(define (domain house) (:action go :effect (p)) ; as before\n)\n```",
    "```pddl\n(define (domain house) (:action go :effect (p)) ; other actions unchanged\n)\n```",
    "```pddl\n(define (problem p) (:init <facts>) (:goal <goal>))\n```",
    "```pddl\n(define (problem p) (:init [facts here]) (:goal (at kitchen)))\n```",
    "```pddl\n(define (problem p) (:domain house) (:goal (at kitchen)))\n```",
    "```pddl\n(define (problem p) (:domain house) (:init (at kitchen)))\n```",
    "```pddl\n(define (domain house) (:predicates (at ?r)))\n```",
    "```pddl\n(define (domain n) (:action ...))\n```\n```\n(define (problem x) (:goal ...))\n```",
    "The head `(define (problem p) (:domain house) …)` names it.",
    "The head (define (problem p) (:domain house)) names it.",
    json.dumps(
        {"df": "(define (domain house) (:types) ...)", "pf": "(define (problem p) (:init))"}
    ),
    '{"df": "...", "pf": "..."}',
    "```\n(domain house)\n```",
)


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_an_excerpt_replaces_no_whole_file(excerpt: str) -> None:
    for answer in (JSON, FENCES, f"{DOMAIN}\n\n{PROBLEM}"):
        for text in (f"{answer}\n\nNote:\n{excerpt}", f"{excerpt}\n\nNow:\n{answer}"):
            assert pair(text) == (DOMAIN, PROBLEM)
            assert pair(f"{text}\nThis", cut=True) == (DOMAIN, PROBLEM)

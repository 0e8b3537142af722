"""What models put around their PDDL, and what a decoder must never have let through."""

import json

import pytest

from pddlego_local.core import Completion
from pddlego_local.decoding.answer import Answer, read_pddl
from pddlego_local.errors import ConfigError, GrammarIgnored, ModelFault

DOMAIN = '(define (domain d) ; "a"\n\t(:predicates (p))\n)'
PROBLEM = "(define (problem p) (:domain d)\n (:init (p)) (:goal (p)))"
OBJECT = json.dumps({"df": DOMAIN, "pf": PROBLEM})
RAW = '{"df": "(define (domain d)\n\t)", "pf": "' + PROBLEM + '"}'
OTHER = json.dumps({"df": "(define (domain old))", "pf": "(define (problem old))"})
FENCED = f"The domain:\n```pddl\n{DOMAIN}\n```\nand\n```lisp\n{PROBLEM}\n```\n"
WHOLE = Answer(DOMAIN, PROBLEM, "")


def _stop(text: str) -> Completion:
    return Completion(text, "stop", 1, 1, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f"Sure, here it is:\n{OBJECT}\nI hope {{this}} helps.",
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}```",
        f"<think>{{}} first {OTHER}</think>{OBJECT}",
        f"{OTHER}\nNo, wait. Better:\n{OBJECT}",
        f'{OBJECT}\n{{"df": "(define (dom',
        f'{{"answer": {OBJECT}}}',
        f'{{"a": [1, {OBJECT}]}} {{"note": "done"}}',
        json.dumps({"why": "{", "pf": PROBLEM, "df": DOMAIN, "n": 1}),
        f"{{{{{OBJECT}}}}}",
        f"{FENCED}{OBJECT}",
    ],
)
def test_free_finds_the_last_complete_object(text: str) -> None:
    assert read_pddl(_stop(text), "free") == WHOLE


def test_free_takes_raw_newlines_and_tabs_as_they_are() -> None:
    answer = read_pddl(_stop(f"```json\n{RAW}\n```"), "free")
    assert answer == Answer("(define (domain d)\n\t)", PROBLEM, "")


@pytest.mark.parametrize(
    "text",
    [
        FENCED,
        FENCED.replace("\n", "\r\n").replace("\r\n", "\n"),
        f"```pddl\n{PROBLEM}\n```\n```pddl\n{DOMAIN}\n```",
        "```pddl\n(define (domain old))\n```\n" + FENCED,
        FENCED + '\n```json\n{"df": 1}\n```',
    ],
)
def test_free_finds_a_pair_of_fenced_blocks(text: str) -> None:
    assert read_pddl(_stop(text), "free") == Answer(DOMAIN + "\n", PROBLEM + "\n", "")


def test_free_never_mends_the_pddl() -> None:
    broken = {"df": "  (define (domain d", "pf": "```\\n(define ((problem p)) ))"}
    assert read_pddl(_stop(json.dumps(broken)), "free") == Answer(broken["df"], broken["pf"], "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ('{"df": "", "pf": "x"}', "empty"),
        ('{"df": "x", "pf": " \\n"}', "empty"),
        ("I cannot do that.", "no_json"),
        (f"{DOMAIN}\n{PROBLEM}", "no_json"),
        (OBJECT[:-1], "no_json"),
        (OBJECT[1:], "no_json"),
        (OBJECT.replace("(p)", "\\(p\\)"), "no_json"),
        (f"```pddl\n{DOMAIN}\n{PROBLEM}\n```", "no_json"),
        (f"```pddl\n{DOMAIN}\n```", "no_json"),
        (FENCED.rsplit("```", 1)[0], "no_json"),
        ('{"df": "\\ud800", "pf": "x"}', "no_json"),
        ("{}", "wrong_keys"),
        ('{"domain": "a", "problem": "b"}', "wrong_keys"),
        ('{"df": "a"} {"pf": "b"}', "wrong_keys"),
        ('{"df": ["a"], "pf": "b"}', "wrong_keys"),
        ('{"df": null, "pf": null}', "wrong_keys"),
    ],
)
def test_free_names_why_there_is_no_answer(text: str, fault: str) -> None:
    assert read_pddl(_stop(text), "free") == Answer("", "", fault)  # type: ignore[arg-type]


def test_free_survives_enormous_and_hostile_text() -> None:
    for text in ("{" * 300_000, '{"a":' * 30_000, "[" * 300_000, "```\n" * 30_000, '{"' * 50_000):
        assert read_pddl(_stop(text), "free").fault == "no_json"
        assert read_pddl(_stop(text + OBJECT), "free") == WHOLE


@pytest.mark.parametrize("rung", ["free", "json", "syntax"])
def test_what_is_cut_is_never_passed_on_even_if_it_looks_whole(rung: str) -> None:
    cut = Completion(OBJECT, "length", 1, 1, 0.0)
    assert read_pddl(cut, rung) == Answer("", "", "truncated")
    thought = Completion("", "unfinished_thought", 1, 1, 0.0, "Let me")
    assert read_pddl(thought, rung) == Answer("", "", "unfinished_thought")


@pytest.mark.parametrize("rung", ["json", "syntax"])
def test_a_drawn_answer_is_read_strictly(rung: str) -> None:
    assert read_pddl(_stop(OBJECT), rung) == WHOLE
    assert read_pddl(_stop(OBJECT.replace(", ", ",\n  ", 1)), rung) == WHOLE


def test_json_passes_on_what_is_no_pddl() -> None:
    assert read_pddl(_stop('{"df": "a", "pf": "b"}'), "json") == Answer("a", "b", "")
    assert read_pddl(_stop('{"df": "", "pf": "b"}'), "json").fault == "empty"


@pytest.mark.parametrize("rung", ["json", "syntax"])
@pytest.mark.parametrize(
    "text",
    [
        f"Sure: {OBJECT}",
        f"```json\n{OBJECT}\n```",
        f"{OBJECT} Done.",
        RAW,
        "{}",
        "[]",
        '[["df", "a"], ["pf", "b"]]',
        '{"pf": "a", "df": "b"}',
        '{"df": "a", "df": "b", "pf": "c"}',
        '{"df": "a", "pf": "b", "x": "c"}',
        '{"df": "a", "pf": {"x": "y"}}',
        "I cannot do that.",
        "[" * 100_000,
    ],
)
def test_a_finished_answer_outside_its_grammar_is_a_backend_that_ignores_it(
    rung: str, text: str
) -> None:
    with pytest.raises(GrammarIgnored, match=f"'{rung}'"):
        read_pddl(_stop(text), rung)


def test_no_pddl_under_syntax_is_a_backend_that_ignores_it() -> None:
    with pytest.raises(GrammarIgnored, match="'syntax'"):
        read_pddl(_stop('{"df": "a", "pf": "b"}'), "syntax")


@pytest.mark.parametrize("rung", ["json", "syntax"])
@pytest.mark.parametrize("text", ["", "{", OBJECT[:40], OBJECT[:-1]])
def test_a_finished_answer_that_only_begins_well_is_a_fault_of_the_decoder(
    rung: str, text: str
) -> None:
    with pytest.raises(ModelFault, match="ended an answer") as caught:
        read_pddl(_stop(text), rung)
    assert not isinstance(caught.value, GrammarIgnored)


def test_a_rung_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="typo"):
        read_pddl(_stop(OBJECT), "typo")

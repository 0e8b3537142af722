"""What the strict reader takes, and what a decoder must never have let through.

What the lenient reader takes is in `free_answers.yaml`.
"""

import json

import pytest

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion
from pddlego_local.decoding.forms import EDIT, PDDL, Fault, Pddl
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.episode.reading.answer import Answer, read_constrained, read_free
from tests.decoding.on_rung import constraint_for
from tests.episode.test_free_answers import BY_NAME
from tests.questions import static_grammar
from tests.tables import table

DOMAIN = '(define (domain d) ; "a"\n\t(:predicates (p))\n)'
PROBLEM_TEXT = "(define (problem p) (:domain d)\n (:init (p)) (:goal (p)))"
OBJECT = json.dumps({"df": DOMAIN, "pf": PROBLEM_TEXT})
RAW = '{"df": "(define (domain d)\n\t)", "pf": "' + PROBLEM_TEXT + '"}'
WHOLE = Answer(Pddl(df=DOMAIN, pf=PROBLEM_TEXT), "")


def read_pddl(completion: Completion, rung: str) -> Answer[Pddl]:
    """As an answer that was drawn under the rung, strictly if it is free."""
    constraint = constraint_for(rung)
    constraint.begin().accept(completion.text, ended=completion.finish_reason == "stop")
    if constraint.free:
        return read_free(completion, PDDL, reading="strict")
    return read_constrained(completion, PDDL)


def pair(domain: str, problem: str) -> Answer[Pddl]:
    return Answer(Pddl(df=domain, pf=problem), "")


def fault(name: Fault) -> Answer[Pddl]:
    return Answer(None, name)


def _stop(text: str) -> Completion:
    return Completion(text, "stop", 1, 1, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        '{"a":' * 10_000,
        "[" * 100_000,
        '{"' * 20_000,
        "```\n" * 30_000,
        "```pddl\n" * 30_000,
    ],
    ids=lambda text: text[:8],
)
def test_the_strict_reader_survives_enormous_and_hostile_text(text: str) -> None:
    assert read_pddl(_stop(text), "free").fault == "no_json"
    assert read_pddl(_stop(text + OBJECT), "free") == WHOLE


@pytest.mark.parametrize("rung", ["free", "json", "syntax"])
def test_what_is_cut_is_never_passed_on_even_if_it_looks_whole(rung: str) -> None:
    assert read_pddl(Completion(OBJECT, "length", 1, 1, 0.0), rung) == fault(
        "truncated"
    )
    thought = Completion("", "unfinished_thought", 1, 1, 0.0, "Let me")
    assert read_pddl(thought, rung) == fault("unfinished_thought")


@pytest.mark.parametrize("rung", ["json", "syntax"])
def test_a_drawn_answer_is_read_strictly(rung: str) -> None:
    assert read_pddl(_stop(OBJECT), rung) == WHOLE
    assert read_pddl(_stop(OBJECT.replace(", ", ",\n  ", 1)), rung) == WHOLE


def test_json_passes_on_what_is_no_pddl_and_syntax_does_not() -> None:
    assert read_pddl(_stop('{"df": "a", "pf": "b"}'), "json") == pair("a", "b")
    assert read_pddl(_stop('{"df": "", "pf": "b"}'), "json").fault == "empty"
    with pytest.raises(GrammarIgnored, match="'syntax'"):
        read_pddl(_stop('{"df": "a", "pf": "b"}'), "syntax")


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


@pytest.mark.parametrize("rung", ["json", "syntax"])
@pytest.mark.parametrize("text", ["", "{", OBJECT[:40], OBJECT[:-1]])
def test_a_finished_answer_that_only_begins_well_is_a_fault_of_the_decoder(
    rung: str, text: str
) -> None:
    with pytest.raises(ModelFault, match="ended the stage") as caught:
        read_pddl(_stop(text), rung)
    assert not isinstance(caught.value, GrammarIgnored)


LADDER = table(__file__, "ladder_answers")


@pytest.mark.parametrize("name", LADDER)
def test_every_form_has_its_ladder(name: str) -> None:
    """What the grammars exclude, the reader refuses. (What they let through, it reads:
    tests/decoding/test_laws.py.)
    """
    form, answers = BY_NAME[name], LADDER[name]
    good, bad = answers["good"], answers["bad"]
    loose = answers["loose"].replace("LONG", "x" * 3000)
    for rung, verdict in (("json", "accepted"), ("syntax", "rejected")):
        grammar = static_grammar(rung, form)
        assert decoder_verdict(grammar, loose) == verdict
        assert decoder_verdict(grammar, bad) == "rejected"
    with pytest.raises(GrammarIgnored):
        read_constrained(_stop(bad), form)
    assert read_free(_stop(f"So:\n```json\n{good}\n```"), form).value
    assert read_free(_stop(bad), form).fault in ("wrong_keys", "no_json")
    assert read_free(_stop("I do not know."), form, reading="strict").fault == "no_json"


def test_a_name_that_is_replaced_twice_is_no_fault_of_the_decoder() -> None:
    """A schema cannot forbid that a map repeats a key: the last one counts, as JSON has
    it.
    """
    twice = LADDER["edit"]["good"].replace("{}", '{"a": "b", "a": "c"}', 1)
    for rung in ("json", "syntax"):
        constraint_for(rung, EDIT).begin().accept(twice)
        value = read_constrained(_stop(twice), EDIT).value
        assert value
        assert value.objects.replace == {"a": "c"}

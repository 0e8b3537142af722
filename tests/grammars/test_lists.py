"""Accept and reject lists against every reader: python-lark, llguidance, Fast
Downward's parser.
"""

import json
import random
import re

import pytest
from llguidance import LLMatcher, LLTokenizer

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import accepts, decoder_verdict, load
from tests.grammars.cases import HERE, Case, cases, fast_downward_complaints

GRAMMARS = ("domain", "problem", "syntax")
ACCEPT = [case for grammar in GRAMMARS for case in cases(grammar, "accept")]
REJECT = [case for grammar in GRAMMARS for case in cases(grammar, "reject")]
RESERVED = ("and", "exists", "forall", "imply", "increase", "not", "or", "when")
SMALLEST_PROBLEM = "(define (problem p) (:domain d) (:init) (:goal (and)))"


def _answer(domain: str) -> str:
    """With the smallest problem, as JSON; in an answer, brackets touch the word after
    them.
    """
    touching = re.sub(r"\(\s+(?=\w)", "(", domain)
    return json.dumps({"df": touching, "pf": SMALLEST_PROBLEM})


@pytest.mark.parametrize("case", ACCEPT, ids=str)
def test_both_readers_accept(case: Case) -> None:
    assert is_read(load(case.grammar), case.text)


@pytest.mark.parametrize("case", REJECT, ids=str)
def test_both_readers_reject(case: Case) -> None:
    grammar = load(case.grammar)
    assert not accepts(grammar, case.text)
    # What ends in an open bracket or an open comment could still become something.
    open_ended = ("unclosed", "a comment that swallows the end")
    verdict = "unfinished" if case.title in open_ended else "rejected"
    assert decoder_verdict(grammar, case.text) == verdict


@pytest.mark.parametrize("case", ACCEPT, ids=str)
def test_every_beginning_of_an_accepted_text_is_unfinished_and_never_rejected(
    case: Case,
) -> None:
    grammar = load(case.grammar)
    for end in range(0, len(case.text.rstrip()), 7):
        assert decoder_verdict(grammar, case.text[:end]) == "unfinished"
        assert not accepts(grammar, case.text[:end])


def test_fast_downward_reads_what_the_lists_accept() -> None:
    companion = (HERE / "problem" / "domain.pddl").read_text(encoding="utf-8")
    pairs = []
    for case in ACCEPT:
        if case.grammar == "domain":
            name = re.search(r"\(\s*domain\s+([\w-]+)", case.text, re.IGNORECASE)
            assert name
            pairs.append((case.text, SMALLEST_PROBLEM.replace(" d)", f" {name[1]})")))
        elif case.grammar == "problem":
            pairs.append((companion, case.text))
        else:
            answer = json.loads(case.text)
            pairs.append((answer["df"], answer["pf"]))
    for case, complaint in zip(ACCEPT, fast_downward_complaints(pairs), strict=True):
        assert complaint == "", case


def is_read(grammar: Grammar, text: str) -> bool:
    """Whether a text is in the language. Both readers agree."""
    is_accepted = accepts(grammar, text)
    assert (decoder_verdict(grammar, text) == "accepted") == is_accepted, text
    return is_accepted


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_is_no_predicate_but_every_neighbour_of_it_is(
    word: str,
) -> None:
    beginnings = [word[:end] for end in range(1, len(word) + 1)]
    names = {start + end for start in beginnings for end in ("", "x", "-")}
    for name in names | {word + word, word.upper(), word.title() + "ed"}:
        is_free = name.lower() not in RESERVED
        for atom in (f"({name} ?x)", f"( {name} )"):
            fields = f":parameters (?x) :precondition (and {atom}) :effect {atom}"
            for part in (f"(:predicates {atom})", f"(:action a {fields})"):
                domain = f"(define (domain d) {part})"
                assert is_read(load("domain"), domain) is is_free
                assert is_read(load("syntax"), _answer(domain)) is is_free


@pytest.mark.parametrize("count", [0, 1, 300, 400, 401])
def test_long_lists_end_where_the_grammar_says(count: int) -> None:
    objects = "".join(f" o{number}" for number in range(count))
    facts = "".join(f" (p o{number})" for number in range(count))
    for old, new, limit in (
        ("(:init)", f"(:objects{objects}) (:init)", 400),
        ("(:init)", f"(:init{facts})", 1000),
        ("(and)", f"(and{facts})", 400),
    ):
        text = SMALLEST_PROBLEM.replace(old, new)
        assert is_read(load("problem"), text) == (count <= limit)


@pytest.mark.parametrize("depth", [8, 9, 2000])
def test_nesting_is_bounded_and_a_deep_text_breaks_no_reader(depth: int) -> None:
    nested = "(and " * depth + "(p)" + ")" * depth
    text = SMALLEST_PROBLEM.replace("(and)", nested)
    assert is_read(load("problem"), text) == (depth == 8)


WITHOUT_COMMENTS = [case for case in cases("domain", "accept") if ";" not in case.text]


@pytest.mark.parametrize("domain", WITHOUT_COMMENTS, ids=str)
def test_what_files_may_hold_an_answer_may_hold(domain: Case) -> None:
    """An answer's comments have tighter bounds."""
    assert is_read(load("syntax"), _answer(domain.text))


def _wander(grammar: Grammar, seed: int, limit: int) -> str | None:
    """A text drawn byte by byte, each permitted byte as likely as any; `None` if cut at
    `limit`.
    """
    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar.text))
    chance = random.Random(seed)
    written: list[int] = []
    while not matcher.is_stopped() and len(written) < limit:
        biases = enumerate(matcher.compute_logit_bias())
        token = chance.choice([token for token, bias in biases if bias])
        assert matcher.consume_token(token), matcher.get_error()
        if token != tokenizer.eos_token:
            written.append(token)
    assert not matcher.is_error(), matcher.get_error()
    return bytes(written).decode() if matcher.is_stopped() else None


def test_a_decoder_without_sense_ends_and_what_it_wrote_is_in_the_language() -> None:
    grammar, domain, problem = load("syntax"), load("domain"), load("problem")
    answers = [_wander(grammar, seed, limit=8000) for seed in range(20)]
    finished = [answer for answer in answers if answer is not None]
    assert len(finished) >= 10
    for answer in finished:
        assert accepts(grammar, answer)
        files = json.loads(answer)
        assert accepts(domain, files["df"])
        assert accepts(problem, files["pf"])

"""A tokenizer of our own: spells everything, and names alike wherever they stand."""

import json
from typing import Any

import llguidance.hf
import pytest
from pddlego_training.answers import encode
from pddlego_training.examples import Example
from pddlego_training.tokenizer import shared_parts, train_tokenizer

EXAMPLE = Example(
    "Action: move east\nYou are in the living room. To the North you see the"
    " kitchen.\n",
    '{"df": "(define (domain exploration))", "pf": "(define (problem explore) (:objects'
    " living_room kitchen behind_kitchen_south - location) (:init (at living_room)"
    ' (connected living_room kitchen north)) (:goal (at kitchen)))"}',
    100_000,
)
TOKENIZER = train_tokenizer([EXAMPLE.prompt, EXAMPLE.answer] * 3, 500, 1024)


def tokens(text: str, tokenizer: Any = TOKENIZER) -> list[str]:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [tokenizer.decode([token]) for token in ids]


def texts_of(examples: list[Example]) -> list[str]:
    return [text for example in examples for text in (example.prompt, example.answer)]


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE.prompt,
        EXAMPLE.answer,
        "",
        "  \n\n\t two  blanks ",
        "naïve café, 日本語, 🪙, \x00\x7f\u2028",
        "Größe_1-a?b:c=<|end>(((",
        "(define (domain d)\\n  (:types a))",
    ],
)
def test_every_text_comes_back(text: str) -> None:
    ids = TOKENIZER(text, add_special_tokens=False)["input_ids"]
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == text


def test_a_name_has_the_same_tokens_in_prose_and_in_pddl() -> None:
    for before, behind in (
        ("the", "."),
        ("(at", ")"),
        ('"', '"'),
        ("(:objects", " - location"),
    ):
        assert " kitchen" in tokens(f"{before} kitchen{behind}")
    for behind in ("_south", " north)", ")"):
        assert "_kitchen" in tokens(f" behind_kitchen{behind}")


def test_what_is_learned_ends_with_the_end_and_begins_behind_the_prompt() -> None:
    row = encode(TOKENIZER, EXAMPLE.prompt, EXAMPLE.answer)
    ids, learned = row["input_ids"], row["answer_tokens"]
    assert TOKENIZER.decode(ids[-learned:]) == EXAMPLE.answer + "<|end|>"
    assert (
        TOKENIZER.decode(ids[:-learned])
        == f"<|user|>{EXAMPLE.prompt}<|end|><|assistant|>"
    )


def test_lines_that_questions_share_are_tokens_but_for_what_answers_have() -> None:
    """A decoder of grammars cannot draw a token that reaches out of forced text, and
    llguidance panics over one of more than 256 bytes.
    """
    action = " (:action look :precondition (and (at here) (not (dark)))) "
    line = f"(define (domain house){action.rstrip() * 9})\n"
    rule = f"- Do what {'is told ' * 90}\n"
    examples = [
        Example(
            f"{rule}Previous:\n{line}room {n}",
            f'{{"df": "{line[:-1]}", "pf": "{n}"}}',
            n,
        )
        for n in range(4)
    ]
    texts = texts_of(examples)
    tokenizer = train_tokenizer(texts, 600, 1024, shared_parts(examples, 0.5))
    in_pieces = train_tokenizer(texts, 600, 1024)
    llguidance.hf.from_tokenizer(tokenizer)
    for text in texts:
        assert "".join(tokens(text, tokenizer)) == text
    for example in examples:
        assert tokens(example.answer, tokenizer) == tokens(example.answer, in_pieces)
        assert len(tokens(rule, tokenizer)) < len(tokens(rule, in_pieces)) / 20


def test_what_one_environment_always_says_is_shared_however_rare_its_games_are() -> (
    None
):
    said = ["You are in the middle of a room.\n", "Gather all following ingredients.\n"]
    examples = [
        Example(f"Write the changes.\n{said[n % 2]}thing {n}\n", "{}", n)
        for n in [*range(0, 20, 2), 1]
    ]
    parts = {
        token.content
        for token in shared_parts(examples, 0.7, kinds=("alfworld", "cooking"))
    }
    assert parts == {*said}
    assert {token.content for token in shared_parts(examples, 0.7)} == {said[0]}


def test_long_parts_of_answers_are_special_tokens_with_which_nothing_is_written() -> (
    None
):
    """A prompt that shows a file once more is short; answers are spelled, on every
    rung.
    """
    actions = [
        f" (:action {name} :effect (and{' (not (seen ?there))' * 9}))" for name in "ab"
    ]
    line = f"(define (domain house){''.join(actions)})\n"
    examples = [
        Example(
            f"Write.\n{line}room {n}", json.dumps({"df": line[:-1], "pf": str(n)}), n
        )
        for n in range(4)
    ]
    texts = texts_of(examples)
    made = train_tokenizer(
        texts, 600, 1024, shared_parts(examples, 0.5, of_answers=True)
    )
    spelled = train_tokenizer(texts, 600, 1024)
    prompt, answer = examples[0].prompt, examples[0].answer
    row = encode(made, prompt, answer)
    ids, learned = [*row["input_ids"]], row["answer_tokens"]
    alone = [*encode(spelled, prompt, answer)["input_ids"]]
    assert [made.decode(one) for one in ids[-learned:]] == [
        spelled.decode(one) for one in alone[-learned:]
    ]
    assert len(ids) - learned < (len(alone) - learned) / 2
    added = made.added_tokens_decoder.items()
    parts = {one: token for one, token in added if token.content in answer}
    assert parts and all(token.special for token in parts.values())
    assert parts.keys() <= {*ids[:-learned]}


def test_a_name_with_a_number_is_one_token_in_prose_and_one_in_pddl() -> None:
    """So that a small model copies it at once, and not its number behind a word that
    many share.
    """
    told = (
        "There are block 1, block 2, city 1. In the beginning: block 1 stands on"
        " block 2; "
    )
    made = train_tokenizer([told + "(on block1 block2) city1"] * 3, 500, 1024)
    found = tokens(told + "(on block1 block2) block 71", made)
    assert {" block 1", " block 2", " city 1", " block1", " block2"} <= {*found}
    assert "".join(found).endswith(" block 71")

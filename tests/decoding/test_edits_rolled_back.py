"""What contradicts in an edit, or is left behind, is rolled back: stage by stage."""

import json
from collections.abc import Sequence

import pytest

from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from tests.decoding.test_edits import staged

OBJECTS = '{"objects": {"add": %s, "replace": %s, "delete": %s}'


@pytest.mark.parametrize(
    ("objects", "kept", "again", "other"),
    [
        (
            ('["attic - room", "x attic - way"]', "{}", "[]"),
            '"x',
            ' attic - way"',
            ' y - way"',
        ),
        (
            ('["attic - room", "attic - way"]', "{}", "[]"),
            'room"',
            ', "attic - way"',
            "",
        ),
        (
            ('["attic - room"]', '{"up": "Attic"}', "[]"),
            '"replace": {',
            '"up": "attic"',
            '"up": "x"',
        ),
        (
            ("[]", '{"up": "x", "hall": "x"}', "[]"),
            '"x"',
            ', "hall": "x"',
            ', "hall": "y"',
        ),
        (("[]", '{"up": "x"}', '["up", "hall"]'), '"delete": [', '"up"', '"hall"'),
    ],
)
def test_what_contradicts_is_rolled_back(
    objects: tuple[str, str, str], kept: str, again: str, other: str
) -> None:
    """The text is kept up to the repetition; the same cannot come again, something else
    can.
    """
    stages = staged("typed").stages()
    text = OBJECTS % objects
    assert decoder_verdict(next(stages).grammar, text) == "accepted"
    rest = stages.send(text)
    before = text[: len(text) - rest.rollback_chars]
    assert before.endswith(kept)
    assert decoder_verdict(rest.grammar, text[len(before) :]) == "rejected"
    assert decoder_verdict(rest.grammar, again) == "rejected"
    end = {"add": '], "replace": {}, "delete": []}', "replace": '}, "delete": []}'}
    heading = next(key for key in ("delete", "replace", "add") if f'"{key}"' in before)
    assert decoder_verdict(rest.grammar, other + end.get(heading, "]}")) == "accepted"


@pytest.mark.parametrize("deleted", [[], ["(at hall)"]])
def test_facts_of_a_deleted_object_go_at_the_end(deleted: Sequence[str]) -> None:
    stages = staged("typed").stages()
    next(stages)
    stages.send(OBJECTS % ("[]", '{"hall": "attic"}', '["door1", "up"]'))
    facts = json.dumps([fact.replace("hall", "attic") for fact in deleted])
    text = (
        f', "init": {{"add": ["(has torch)"], "replace": {{}}, "delete": {facts} }}\n}}'
    )
    forced = stages.send(text)
    assert text[len(text) - forced.rollback_chars :] == "] }\n}"
    gone = '"(next attic cellar up)", "(next attic door1 up)"'
    assert (
        decoder_verdict(forced.grammar, f"{', ' if deleted else ''}{gone}]}}}}")
        == "accepted"
    )
    with pytest.raises(StopIteration):
        stages.send(f"{gone}]}}}}")


def test_a_fact_that_is_replaced_and_deleted_is_rolled_back() -> None:
    stages = staged("typed").stages()
    next(stages)
    stages.send(OBJECTS % ("[]", "{}", "[]"))
    replaced = '"replace": {"(at hall)": "(done)"}'
    text = f', "init": {{"add": [], {replaced}, "delete": ["(at hall)"]}}}}'
    rest = stages.send(text)
    assert text[len(text) - rest.rollback_chars :].lstrip(" ,") == '"(at hall)"]}}'
    assert (
        decoder_verdict(rest.grammar, text[len(text) - rest.rollback_chars :])
        == "rejected"
    )
    other = '"(has candle)"]}}'
    assert decoder_verdict(rest.grammar, other) == "accepted"
    with pytest.raises(StopIteration):
        stages.send(other)


def test_a_loop_in_one_answer_bans_nothing_in_another() -> None:
    constraint = staged("typed")
    begin = next(constraint.stages()).grammar
    looping = OBJECTS % ('["nonenonenone - room"]', "{}", "[]")
    stages = constraint.stages()
    next(stages)
    rest = stages.send(looping)
    assert rest.rollback_chars > 0
    assert next(constraint.stages()).grammar == begin

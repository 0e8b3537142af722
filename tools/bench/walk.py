"""An answer as a decoder writes it under a staged grammar: stage by stage, token by token."""

from collections.abc import Iterator
from dataclasses import dataclass

from llguidance import LLMatcher, LLTokenizer

from pddlego_local.decoding.grammars.lark_text import decoder_prefix
from pddlego_local.decoding.session import Constraint, Stage, with_head_in_grammar

_LONGEST_TOKEN = 200  # bytes: no token of a PDDL text is longer


@dataclass(frozen=True)
class Token:
    """`forced`: the grammar leaves no choice, so that it need not be sampled."""

    number: int
    forced: bool


def stages_of(staged: Constraint, text: str) -> list[tuple[Stage, str]]:
    """Each stage with what it adds, its head included. Raises ValueError if the text could not have
    been drawn without a rollback.
    """
    data = text.encode()
    found, at = list[tuple[Stage, str]](), 0
    stages = staged.stages()
    stage = next(stages)
    while True:
        length, whole = decoder_prefix(with_head_in_grammar(stage).grammar, data[at:])
        if stage.drop or not whole:
            raise ValueError(f"the stage {stage.name!r} does not hold {data[at : at + 60]!r}")
        found.append((stage, data[at : at + length].decode()))
        at += length
        try:
            stage = stages.send(found[-1][1])
        except StopIteration:
            return found


def tokens_of(engine: LLTokenizer, stage: Stage, text: str) -> Iterator[Token]:
    """What a stage adds behind its head; where there is a choice, as the tokenizer would cut it."""
    assert stage.grammar
    lark = stage.grammar.kind == "lark"
    serialize = LLMatcher.grammar_from_lark if lark else LLMatcher.grammar_from_json_schema
    matcher = LLMatcher(engine, serialize(stage.grammar.text), log_level=0)
    rest = text.removeprefix(stage.head).encode()
    while rest:
        numbers = matcher.compute_ff_tokens()
        forced = bool(numbers)
        numbers = numbers or engine.tokenize_bytes(rest[:_LONGEST_TOKEN])[:1]
        written = engine.decode_bytes(numbers)
        if not rest.startswith(written) or not matcher.consume_tokens(numbers):
            raise AssertionError(f"{stage.name}: {written!r} before {rest[:60]!r}")
        rest = rest[len(written) :]
        yield from (Token(number, forced) for number in numbers)

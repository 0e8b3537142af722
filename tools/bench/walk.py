"""Splits an answer into the stages in which a decoder writes it under a staged
grammar.
"""

from pddlego_local.decoding.grammars.lark_text import decoder_prefix
from pddlego_local.decoding.session import Constraint, Stage, with_prefix_in_grammar


def stages_of(staged: Constraint, text: str) -> list[tuple[Stage, str]]:
    """Returns each stage with the text that it adds, including its forced prefix.
    Raises ValueError if the text could not have been drawn without a rollback.
    """
    data = text.encode()
    found, at = list[tuple[Stage, str]](), 0
    stages = staged.stages()
    stage = next(stages)
    while True:
        length, whole = decoder_prefix(with_prefix_in_grammar(stage).grammar, data[at:])
        if stage.rollback_chars or not whole:
            raise ValueError(
                f"the stage {stage.name!r} does not hold {data[at : at + 60]!r}"
            )
        found.append((stage, data[at : at + length].decode()))
        at += length
        try:
            stage = stages.send(found[-1][1])
        except StopIteration:
            return found

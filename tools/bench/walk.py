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
    found = list[tuple[Stage, str]]()
    stages = staged.stages()
    stage = next(stages)
    while True:
        grammar = with_prefix_in_grammar(stage).grammar
        length, whole = decoder_prefix(grammar, data)
        if stage.rollback_chars or not whole:
            raise ValueError(f"the stage {stage.name!r} does not hold {data[:60]!r}")
        added = data[:length].decode()
        found.append((stage, added))
        data = data[length:]
        try:
            stage = stages.send(added)
        except StopIteration:
            return found

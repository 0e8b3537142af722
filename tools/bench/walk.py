"""An answer as a decoder writes it under a staged grammar: stage by stage."""

from pddlego_local.decoding.grammars.lark_text import decoder_prefix
from pddlego_local.decoding.stages import Stage, StagedGrammar, with_head_in_grammar


def stages_of(staged: StagedGrammar, text: str) -> list[tuple[Stage, str]]:
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


def place_of_departure(staged: StagedGrammar, text: str) -> str:
    """Where a whole answer leaves the language, in words; "" if it could have been drawn without a
    rollback.
    """
    data = text.encode("utf-8", "surrogatepass")
    at = 0
    stages = staged.stages()
    stage = next(stages)
    while True:
        if stage.drop:
            return f"{stage.name}: a name is declared twice, or something needed is missing"
        length, whole = decoder_prefix(with_head_in_grammar(stage).grammar, data[at:])
        if not whole:
            there = data[max(at, at + length - 40) : at + length].decode(errors="replace")
            next_ = data[at + length : at + length + 40].decode(errors="replace")
            return f"{stage.name}: after {there!r} comes {next_!r}"
        try:
            stage = stages.send(data[at : at + length].decode(errors="replace"))
        except StopIteration:
            return "" if at + length == len(data) else "the answer goes on after its end"
        at += length

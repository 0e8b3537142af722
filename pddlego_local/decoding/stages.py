"""An answer in stages: each part is drawn under a grammar made from the parts before it.

The stages are a coroutine: it yields a stage, is sent what the model wrote in it, and goes on. So
the same lines that constrain a decoder also say whether a finished text could have been drawn.
"""

import hashlib
import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import all_parts, decoder_prefix


@dataclass(frozen=True)
class Stage:
    """One part of an answer. Its grammar's language is prefix-free: a finished text tells its end.

    `drop` characters at the end of the prefix are rolled back before the stage begins. `head` is
    the text that it begins with, which is forced; the grammar is that of the text behind it.
    """

    name: str
    grammar: Grammar
    drop: int = 0
    head: str = ""


Stages = Generator[Stage, str, None]


@dataclass(frozen=True)
class StagedGrammar:
    """A constraint whose grammars are made as the answer grows.

    `keeps` says of a whole answer, quickly, that it is what the rung promises; where it says no,
    each stage is looked at with its grammar.
    """

    name: str
    stages: Callable[[], Stages]
    keeps: Callable[[str], bool] = field(default=lambda _: False)


Constraint = Grammar | StagedGrammar | None
"""What is put on an answer; `None` is no constraint."""


def with_head_in_grammar(stage: Stage) -> Stage:
    """The same stage without a head: its grammar begins with that text."""
    if not stage.head:
        return stage
    grammar = stage.grammar
    if grammar.kind == "lark":
        rest = re.sub(r"^start\s*:", "_behind_head:", grammar.text, count=1, flags=re.MULTILINE)
    else:
        rest = f"_behind_head: %json {grammar.text}"
    head = json.dumps(stage.head, ensure_ascii=False)
    text = f"start: {head} _behind_head\n{rest}"
    return replace(stage, grammar=Grammar(grammar.name, "lark", text), head="")


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


def first_grammar(constraint: Grammar | StagedGrammar) -> Grammar:
    """What can be looked at before anything is written."""
    return constraint if isinstance(constraint, Grammar) else next(constraint.stages()).grammar


def sha256_of(constraint: Constraint) -> str | None:
    """A grammar's own hash. That of a staged one covers the grammar files; what makes grammars of
    them is the commit's, and each stage's own hash is in the transcript.
    """
    if isinstance(constraint, StagedGrammar):
        return hashlib.sha256("\0".join(all_parts()).encode()).hexdigest()
    return constraint.sha256 if constraint else None

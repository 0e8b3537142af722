"""An answer in stages: each part is drawn under a grammar made from the parts before it.

The stages are a coroutine: it yields a stage, is sent what the model wrote in it, and continues. So
the same lines that constrain a decoder can say whether a finished text could have been drawn.
"""

import hashlib
import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import all_parts


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
    """A constraint whose grammars are made as the answer grows."""

    name: str
    stages: Callable[[], Stages]


Constraint = Grammar | StagedGrammar | None
"""What is put on an answer; `None` is no constraint."""


def with_head_in_grammar(stage: Stage) -> Stage:
    """The same stage without a head: its grammar begins with that text."""
    if not stage.head:
        return stage
    start = re.compile(r"^start\s*:", re.MULTILINE)
    head, rest = json.dumps(stage.head, ensure_ascii=False), stage.grammar.text
    text = f"start: {head} _behind_head\n{start.sub('_behind_head:', rest, count=1)}"
    return replace(stage, grammar=replace(stage.grammar, text=text), head="")


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

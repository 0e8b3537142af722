"""A prototype: all stages of an answer under one grammar, in one request (`paper_gpu`).

It stands for an engine that would go from stage to stage by itself, and costs what that would cost
at the least: the grammars are those of an answer that is known beforehand, compiled together, one
behind the other. The engine would have to make them as the answer grows, and could not take a
token back.
"""

import json

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.session import Constraint, with_head_in_grammar
from tools.bench.walk import stages_of


def as_one(constraint: Constraint, answer: str) -> Grammar:
    """llguidance's own form of a grammar under which `answer` can be drawn at once."""
    parts = [with_head_in_grammar(stage).grammar.text for stage, _ in stages_of(constraint, answer)]
    order = " ".join(f"@stage{place}" for place in range(len(parts)))
    named = [{"name": f"stage{place}", "lark_grammar": part} for place, part in enumerate(parts)]
    whole = {"grammars": [{"lark_grammar": f"start: {order}\n"}, *named]}
    return Grammar("one request", "lark", json.dumps(whole))

"""Prompts and grammars that the tests of the models share."""

import re

from pddlego_local.core import Completion, Grammar, Message, Prompt

PROMPT = Prompt((Message("system", "You map a house."), Message("user", "Write the PDDL.")))
TOY = Grammar("toy", "lark", 'start: "(" NAME ("," NAME) ~ 0 .. 5 ")"\nNAME: /[a-z]{1,6}/\n')
TOY_LANGUAGE = re.compile(r"\([a-z]{1,6}(,[a-z]{1,6}){0,5}\)")
ENVELOPE = Grammar(
    "envelope",
    "json_schema",
    '{"type": "object", "properties": {"df": {"type": "string", "maxLength": 20},'
    ' "pf": {"type": "string", "maxLength": 20}}, "required": ["df", "pf"],'
    ' "additionalProperties": false}',
)
BAD_GRAMMARS = [
    Grammar("unknown rule", "lark", "start: nowhere\n"),
    Grammar("open bracket", "lark", "start: ((\n"),
    Grammar("look-around", "lark", "start: /(?=a)b/\n"),
    Grammar("no start", "lark", 'begin: "a"\n'),
    Grammar("not JSON", "json_schema", "{"),
    Grammar("unknown type", "json_schema", '{"type": "nonsense"}'),
]


def words(completion: Completion) -> tuple[str, str, str, int, int]:
    """A completion without its latency: what a seed must reproduce."""
    return (
        completion.text,
        completion.thought,
        completion.finish_reason,
        completion.prompt_tokens,
        completion.completion_tokens,
    )

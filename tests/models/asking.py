"""Prompts and grammars that the tests of the models share."""

import json
import re

from pddlego_local.core.nouns import Completion, Grammar, Message, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.decoding import forms
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.models.transformers import Engine
from tests.questions import static_grammar

CPU = Engine(device="cpu", threads=1)
PROMPT = (Message("system", "You map a house."), Message("user", "Write the PDDL."))
SHORT = [form for form in forms.FORMS if form.name not in ("pddl", "domain", "choice")]
FORMS = [*SHORT, forms.choice(12)]
TOY = Grammar(
    "toy", "lark", 'start: "(" NAME ("," NAME) ~ 0 .. 5 ")"\nNAME: /[a-z]{1,6}/\n'
)
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


Words = tuple[str, str, str, int, int]


def words(completion: Completion) -> Words:
    """A completion without its latency: what a seed must reproduce."""
    return (
        completion.text,
        completion.thought,
        completion.finish_reason,
        completion.prompt_tokens,
        completion.completion_tokens,
    )


def assert_grammars_are_obeyed(model: LanguageModel, seed: int) -> None:
    """One of Lark's, and a JSON schema."""
    lark = model.complete(PROMPT, TOY, Sampling(max_tokens=100, seed=seed))
    schema = model.complete(PROMPT, ENVELOPE, Sampling(max_tokens=400, seed=seed))
    assert (lark.finish_reason, schema.finish_reason) == ("stop", "stop")
    assert TOY_LANGUAGE.fullmatch(lark.text)
    assert json.loads(schema.text).keys() == {"df", "pf"}


def finished(model: LanguageModel, form: Form[Fields], seed: int) -> bool:
    """Whether an answer under "syntax" came to its end; if it did, it must be one of
    the form.
    """
    grammar = static_grammar("syntax", form)
    completion = model.complete(PROMPT, grammar, Sampling(max_tokens=2500, seed=seed))
    answer = read_constrained(completion, form)
    assert answer.value or completion.finish_reason == "length"
    return answer.value is not None

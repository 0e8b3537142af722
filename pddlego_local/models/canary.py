"""Checks that the backend obeys grammars: a server that ignores them would spoil every
result.
"""

import dataclasses
import json

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Grammar, Message, Prefix, Sampling
from pddlego_local.core.protocols import LanguageModel

_WORD = "zyxomma"
_GRAMMAR = Grammar("canary", "lark", f'start: "{_WORD}"\n')
_SCHEMA = Grammar(
    "canary", "json_schema", json.dumps({"type": "string", "enum": [_WORD]})
)
_MESSAGES = (Message("user", "Is water wet? Answer with the single word yes or no."),)
_TOKENS = 256
_THINKING_TOKENS = 4096
_TRIES = 3
_HEAD = "".join(map(chr, range(ord(" "), ord("~") + 1))) + " (:goal (at ?x - location))"
"""All characters of forced text, and some of its words; a tokenizer must be able to
spell them.
"""


def check_obedience(
    model: LanguageModel,
    *,
    thinking: bool = False,
    stages: bool = False,
    schema: bool = False,
) -> None:
    """Asks a yes-no question under a grammar (or a JSON `schema`) that permits one
    unlikely word.

    Set `thinking` as in the experiment: backends apply a reasoning model's grammar in a
    different way. This is also true of answers in `stages`: the word is then requested
    a second time, as a continuation of forced text. Raises GrammarIgnored for any other
    answer, ModelFault if no thought finished in three tries, and ConfigError for a
    tokenizer that cannot spell forced text.
    """
    for seed in range(_TRIES):
        sampling = Sampling(
            max_tokens=_THINKING_TOKENS if thinking else _TOKENS,
            seed=seed,
            thinking=thinking,
        )
        grammar = _SCHEMA if schema else _GRAMMAR
        completion = model.complete(
            _MESSAGES, grammar, sampling, Prefix() if stages else None
        )
        if completion.finish_reason == "unfinished_thought":
            continue
        _check(completion.text.strip(' "\n') if schema else completion.text)
        if stages:
            assert completion.prefix is not None
            behind_head = dataclasses.replace(completion.prefix, forced_prefix=_HEAD)
            _check(model.complete(_MESSAGES, _GRAMMAR, sampling, behind_head).text)
        return
    raise ModelFault(
        f"The model did not finish a thought within {_THINKING_TOKENS} tokens in"
        f" {_TRIES} tries, so whether it obeys grammars could not be checked; set"
        " decoding.reason=none."
    )


def _check(text: str) -> None:
    if text != _WORD:
        raise GrammarIgnored(
            f"The model's backend does not obey grammars: only {_WORD!r} was"
            f" permitted, but it answered {text[:80]!r}. Use vLLM >= 0.12, started with"
            ' --structured-outputs-config \'{"backend":"guidance"}\'.'
        )

"""Does the backend obey grammars? A server that ignores them would spoil every
result."""

import dataclasses

from pddlego_local.core import Grammar, LanguageModel, Message, Prefix, Sampling
from pddlego_local.errors import GrammarIgnored, ModelFault

_WORD = "zyxomma"
_GRAMMAR = Grammar("canary", "lark", f'start: "{_WORD}"\n')
_MESSAGES = (Message("user", "Is water wet? Answer with the single word yes or no."),)
_TOKENS = 256
_THINKING_TOKENS = 4096
_TRIES = 3
_HEAD = "".join(map(chr, range(ord(" "), ord("~") + 1)))
"""What forced text is made of; a tokenizer must be able to spell it."""


def check_obedience(model: LanguageModel, *, thinking: bool = False, stages: bool = False) -> None:
    """Asks a yes-no question under a grammar that permits one unlikely word only.

    `thinking` asks as the experiment will: a reasoning model's grammar takes another path. So does
    that of an answer in `stages`: the word is asked for a second time, as a continuation behind
    forced text. Raises GrammarIgnored for any other answer, ModelFault if no thought came to its
    end in three tries, ConfigError for a tokenizer that cannot spell forced text.
    """
    for seed in range(_TRIES):
        sampling = Sampling(
            max_tokens=_THINKING_TOKENS if thinking else _TOKENS, seed=seed, thinking=thinking
        )
        if stages:
            completion = model.complete(_MESSAGES, _GRAMMAR, sampling, Prefix())
        else:
            completion = model.complete(_MESSAGES, _GRAMMAR, sampling)
        if completion.finish_reason == "unfinished_thought":
            continue
        _check(completion.text)
        if stages:
            assert completion.prefix is not None
            behind_head = dataclasses.replace(completion.prefix, head=_HEAD)
            _check(model.complete(_MESSAGES, _GRAMMAR, sampling, behind_head).text)
        return
    raise ModelFault(
        f"The model never finished its thought within {_THINKING_TOKENS} tokens in {_TRIES} tries, "
        "so that its obedience to grammars could not be checked; set decoding.reason=none."
    )


def _check(text: str) -> None:
    if text != _WORD:
        raise GrammarIgnored(
            f"The model's backend does not obey grammars: only {_WORD!r} was permitted and it "
            f"answered {text[:80]!r}. Use vLLM >= 0.12 started with "
            '--structured-outputs-config \'{"backend":"guidance"}\'.'
        )

"""Whether a grammar compiles, asked of the engine that will apply it, before any model is asked."""

from functools import lru_cache

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import decoder_fault


@lru_cache(maxsize=64)
def check_grammar(grammar: Grammar) -> None:
    """Raises ConfigError with llguidance's words if the grammar does not compile.

    Needed because Outlines in process answers an invalid grammar with an empty text, and a server
    may answer an unsatisfiable one with a bare HTTP 500.
    """
    if fault := decoder_fault(grammar):
        raise ConfigError(f"The grammar {grammar.name!r} does not compile: {fault.strip()}")

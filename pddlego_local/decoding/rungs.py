"""The decoding ladder: which grammar a rung puts on an answer.

    free     none
    json     one JSON object of exactly the two strings df and pf, in that order
    syntax   the same object, and what the strings hold is PDDL

Each rung excludes by construction what the one before lets through; prompts and envelope are the
same on all. A rung that depends on the environment will take it as a further argument here.
"""

import json

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammar import load
from pddlego_local.errors import ConfigError

RUNGS = ("free", "json", "syntax")
KEYS = ("df", "pf")

_SCHEMA = Grammar(
    name="json",
    kind="json_schema",
    text=json.dumps(
        {
            "type": "object",
            "properties": {key: {"type": "string"} for key in KEYS},
            "required": list(KEYS),
            "additionalProperties": False,
        }
    ),
)


def grammar_for(rung: str) -> Grammar | None:
    """The grammar of a rung, `None` for "free". Raises ConfigError for a rung there is not."""
    if rung == "free":
        return None
    if rung == "json":
        return _SCHEMA
    if rung == "syntax":
        return load("syntax")
    raise ConfigError(f"decoding.rung={rung!r} is unknown; choose one of {', '.join(RUNGS)}.")

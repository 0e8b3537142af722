"""The decoding ladder: what a rung puts on an answer.

    free        nothing
    json        one JSON object of exactly the form's keys, in their order
    syntax      the same object, and what its strings hold is PDDL, or what the form says
    signatures  the environment's actions, with their exact parameters; one name for the domain
    typed       what is used is declared, with its number and types of arguments
    grounded    names from the observations; a goal that does not hold yet

Each rung excludes by construction what the one before lets through; prompts and envelope are the
same on all. The three above "syntax" know the scene that a question is asked in.
"""

import functools

from pddlego_local.core import Grammar
from pddlego_local.decoding.forms import PDDL, Form, Keys
from pddlego_local.decoding.grammars.lark_text import load
from pddlego_local.decoding.grammars.schema import schema_grammar, schema_of
from pddlego_local.decoding.stages import Constraint, Scene
from pddlego_local.errors import ConfigError

RUNGS = ("free", "json", "syntax", "signatures", "typed", "grounded")
UPPER_RUNGS = RUNGS[3:]
NO_SCENE = Scene()


def constraint_for(rung: str, form: Form[Keys] = PDDL, scene: Scene = NO_SCENE) -> Constraint:
    """What a rung puts on a form; None for "free". Raises ConfigError for an unknown rung."""
    if rung not in RUNGS:
        raise ConfigError(f"decoding.rung={rung!r} is unknown; choose one of {', '.join(RUNGS)}.")
    if rung in UPPER_RUNGS and form.upper:
        return form.upper(rung, scene)
    return grammar_for("syntax" if rung in UPPER_RUNGS else rung, form)


def grammar_for(rung: str, form: Form[Keys] = PDDL) -> Grammar | None:
    """The grammar of one of the three lower rungs; None for "free"."""
    if rung == "free":
        return None
    if rung == "syntax" and form.grammar:
        return load(form.grammar)
    return _schema(rung, form.syntax if rung == "syntax" and form.syntax else form.keys)


@functools.lru_cache(maxsize=200)
def _schema(rung: str, keys: type[Keys]) -> Grammar:
    return schema_grammar(rung, schema_of(keys))

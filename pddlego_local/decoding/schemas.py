"""The JSON schemas of the ladder: the constraint of each rung on answers that are not
PDDL files.

    json        the form's keys, with any strings
    syntax      a pattern for each string, a maximum length for each list, a range for a
                number
    signatures  a command is one of the environment's, with any names in it, or one that
                is offered
    typed       as signatures; in addition, a direction is one of the four
    grounded    a command is offered, or one of the environment's with names that were
                mentioned; the form "seen" lists only names that were mentioned

The forms "choice", "goals" and "text" have the constraint of "syntax" on all higher
rungs. No rung excludes duplicates in a list: llguidance does not support `uniqueItems`.
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from pddlego_local.core.nouns import Action, Grammar
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, at_once
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.declarations import ActionSchema

DIRECTIONS = ("north", "south", "east", "west")

# At most 30 characters: a command with two names then keeps to the 80 of the rung
# "syntax".
_ANY_NAME = "[a-zA-Z]([a-zA-Z0-9 -]{0,28}[a-zA-Z0-9])?"
_HOLE = re.compile(r"\{([\w-]+)\}")  # in the template of a command
# Options of llguidance; other engines ignore them.
_ON_ONE_LINE = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}


def schema_grammar(
    name: str, schema: Mapping[str, Any], layout: Layout = "any"
) -> Grammar:
    """Returns the grammar of a JSON schema. Under both exact layouts, JSON is on one
    line.
    """
    whole = dict(schema)
    if layout != "any":
        whole["x-guidance"] = _ON_ONE_LINE
    return Grammar(name, "json_schema", json.dumps(whole))


def keys(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains an answer to the keys of the form and their types."""
    return at_once(_of_model("json", form.keys, decoding.layout))


def patterns(
    decoding: Decoding, form: Form[Fields], context: GrammarContext
) -> Constraint:
    """Constrains an answer to the patterns of the form."""
    model = form.patterns or form.keys
    return at_once(_of_model("syntax", model, decoding.layout))


@functools.lru_cache(maxsize=200)
def _of_model(name: str, model: type[BaseModel], layout: Layout) -> Grammar:
    return schema_grammar(name, _schema_of(model), layout)


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Returns the schema without titles and descriptions: they constrain nothing, and
    they would make the hash of a grammar depend on a comment.
    """

    def without_prose(part: dict[str, Any]) -> dict[str, Any]:
        for key in ("title", "description"):
            if isinstance(part.get(key), str):  # else it is a field of this name
                del part[key]
        return part

    text = json.dumps(model.model_json_schema())
    schema: dict[str, Any] = json.loads(text, object_hook=without_prose)
    return schema


def command(
    decoding: Decoding, form: Form[Fields], context: GrammarContext
) -> Constraint:
    """Constrains {"action": …} to a command."""
    action = _command(decoding, context)
    return _schema(decoding, _object({"action": action}))


def move(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains {"kind": "act", "text": …} to a command, and a thought to the form's
    length.
    """
    act = {"kind": {"const": "act"}, "text": _command(decoding, context)}
    think = {"kind": {"const": "think"}, "text": _properties(form)["text"]}
    return _schema(decoding, {"anyOf": [_object(think), _object(act)]})


def seen(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains lists to things that were mentioned, with the lengths of the form's
    patterns.
    """
    names = _nouns(context)
    only = {"items": {"enum": names}} if names else {"maxItems": 0}
    lists = {}
    for key, schema in _properties(form).items():
        lists[key] = schema | only
    return _schema(decoding, _object(lists))


def _schema(decoding: Decoding, schema: Mapping[str, Any]) -> Constraint:
    return at_once(schema_grammar(decoding.rung, schema, decoding.layout))


def _properties(form: Form[Fields]) -> dict[str, Any]:
    schema = _schema_of(form.patterns or form.keys)
    properties: dict[str, Any] = schema["properties"]
    return properties


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties),
        "type": "object",
    }


def _command(decoding: Decoding, context: GrammarContext) -> dict[str, Any]:
    """Returns the schema of one string. It is a pattern, as a list of all pairs of
    names would be long.
    """
    direction = _any_of(DIRECTIONS) if decoding.excludes.typed else _ANY_NAME
    name = _any_of(_nouns(context)) if decoding.excludes.grounded else _ANY_NAME
    patterns = [_literal(offered) for offered in context.commands]
    patterns += _templates(context.actions, name, direction)
    if not patterns:
        # Nothing is offered or mentioned, but the answer must name an action.
        patterns = _templates(context.actions, _ANY_NAME, direction)
    return {"type": "string", "pattern": f"^({_choice(patterns)})$"}


def _templates(actions: Iterable[Action], name: str, direction: str) -> list[str]:
    """Returns patterns for the commands of actions; if `name` is "", those with a name
    are omitted.

    Verbs with the same arguments share one pattern, because long lists of names compile
    slowly.
    """
    verbs: dict[str, list[str]] = {}  # by the pattern of what follows
    for action in actions:
        verb, *_arguments = _HOLE.split(action.command)
        rest = _after_verb(action, name, direction)
        if rest is not None:
            verbs.setdefault(rest, []).append(_literal(verb))
    return [f"({_choice(beginnings)}){rest}" for rest, beginnings in verbs.items()]


def _after_verb(action: Action, name: str, direction: str) -> str | None:
    """Returns the pattern of a command after its verb; None if there is nothing to
    fill in.
    """
    types = dict(ActionSchema.of(action).parameters)
    _verb, *parts = _HOLE.split(action.command)
    holes = parts[::2]
    words_after = parts[1::2]
    pattern = ""
    for hole, words in zip(holes, words_after, strict=True):
        is_direction = types.get(f"?{hole}") == "direction"
        filling = direction if is_direction else name
        if not filling:
            return None
        pattern += f"({filling}){_literal(words)}"
    return pattern


def _choice(patterns: Iterable[str]) -> str:
    """Returns a pattern for one of these, each of them once."""
    return "|".join(dict.fromkeys(patterns))


def _nouns(context: GrammarContext) -> list[str]:
    """Returns the mentioned things that are not directions."""
    return [thing for thing in context.names.things if thing not in DIRECTIONS]


def _any_of(words: Iterable[str]) -> str:
    return "|".join([_literal(word) for word in words])


def _literal(words: str) -> str:
    """Returns a pattern for exactly these words."""
    return re.sub(r"[^\w /-]", r"\\\g<0>", words)

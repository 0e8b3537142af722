"""JSON schemas as grammars, made of pydantic models."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.layout import Layout

# Options of llguidance; others pass over them.
_ON_ONE_LINE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def schema_of(keys: type[BaseModel]) -> dict[str, Any]:
    """The schema without titles and descriptions: they constrain nothing, and would make a hash
    depend on a comment."""
    schema: dict[str, Any] = _without_prose(keys.model_json_schema())
    return schema


def schema_grammar(name: str, schema: Mapping[str, Any], layout: Layout = "any") -> Grammar:
    """JSON is written on one line under both exact layouts."""
    exact = {} if layout == "any" else {"x-guidance": _ON_ONE_LINE}
    return Grammar(name, "json_schema", json.dumps({**schema, **exact}))


def _without_prose(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_prose(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_prose(value)
        for key, value in schema.items()
        if not (key in ("title", "description") and isinstance(value, str))
    }

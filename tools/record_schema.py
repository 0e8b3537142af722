"""Prints the JSON schema of a run's files, made from the types that read and write
them.

python -m tools.record_schema > docs/extend/records.schema.json
"""

import json
from collections.abc import Mapping
from typing import Any

import pydantic

from pddlego_local.core.formats import FORMAT
from pddlego_local.core.record.events import EVENT
from pddlego_local.core.record.rows import ROW, FaultRow
from pddlego_local.core.record.run_record import RUN

FILES: Mapping[str, pydantic.TypeAdapter[Any]] = {
    "run.json": RUN,
    "episodes.jsonl": ROW,
    "faults.jsonl": pydantic.TypeAdapter(FaultRow),
    "transcripts": EVENT,
}


def schema() -> dict[str, Any]:
    """Returns the schema as one document. Its definitions named "file …" are for
    run.json and for one line of each of the other files; they refer to the remaining
    definitions.
    """
    inputs = [(name, "validation", adapter) for name, adapter in FILES.items()]
    found, definitions = pydantic.TypeAdapter.json_schemas(inputs)  # type: ignore[arg-type]
    files = {f"file {name}": found[name, "validation"] for name in FILES}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"records of pddlego_local, format {FORMAT}",
        "$defs": without_texts(definitions["$defs"] | files),
    }


def without_texts(node: Any) -> Any:
    """Returns a part of a schema without its titles and docstrings."""
    if isinstance(node, list):
        return [without_texts(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_texts(value)
        for key, value in node.items()
        if key not in ("title", "description") or not isinstance(value, str)
    }


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))

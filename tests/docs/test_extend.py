"""The pages for those who extend the project name every field, key and outcome that
there is.
"""

import inspect
import json
import re
from typing import Any

import pytest
from typing_extensions import get_protocol_members

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.environments.base import BaseEnvironment, Words
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import GameRunner
from pddlego_local.episode.shown import FILTERS
from pddlego_local.methods import Method
from tools.pages.records import ROOT
from tools.record_schema import schema

EXTEND = ROOT / "docs/extend"
RECORDS = (EXTEND / "records.md").read_text(encoding="utf-8")
TYPES: dict[str, Any] = schema()["$defs"]


def table(page: str, before: str) -> dict[str, bool]:
    """The names in the first column of the first table behind `before`, and whether a
    default in brackets follows them.
    """
    behind = page.partition(before)[2]
    first_table = re.findall(r"(?:^\|.*\n)+", behind, re.MULTILINE)[0]
    found = dict[str, bool]()
    for row in first_table.splitlines()[2:]:
        column = row.split("|")[1]
        for name in re.findall(r"`([^`]+)`", column):
            found[name] = "[" in column
    return found


def fields(kind: str) -> dict[str, bool]:
    """The fields of a type, and whether they may be absent."""
    (found,) = (value for name, value in TYPES.items() if name.endswith(kind))
    return {name: name not in found.get("required", ()) for name in found["properties"]}


def test_the_schema_is_made_from_the_types() -> None:
    written = json.loads((EXTEND / "records.schema.json").read_text(encoding="utf-8"))
    assert written == schema(), (
        "python -m tools.record_schema > docs/extend/records.schema.json"
    )


@pytest.mark.parametrize(
    ("before", "kind", "more"),
    [
        ("\n## `run.json`", "RunRecord", {"format": False}),
        ("Each of `starts`:", "run_record__Start", {}),
        ("\n## `episodes.jsonl`", "EpisodeRow", {}),
        ("\n## `faults.jsonl`", "FaultRow", {}),
        ("A `call` has these fields:", "Call", {}),
    ],
)
def test_the_tables_of_records_have_every_field(
    before: str, kind: str, more: dict[str, bool]
) -> None:
    expected = {name: left for name, left in fields(kind).items() if name != "event"}
    assert table(RECORDS, before) == expected | more


def test_the_table_of_events_has_every_event_and_field() -> None:
    events = RECORDS.partition("## Transcripts")[2].partition("`where` says")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", events, re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", names)) for name, names in rows}
    told.pop("event", None)
    expected = dict[str, set[str]]()
    for found in TYPES.values():
        names = found.get("properties", {})
        if "const" in names.get("event", {}):
            expected[names["event"]["const"]] = names.keys() - {"event"}
    del told["call"], expected["call"]
    assert told == expected
    for name in fields("Where") | fields("Sampling") | fields("DrawnStage"):
        assert f"`{name}`" in RECORDS


def test_the_tables_of_outcomes_and_causes_are_whole() -> None:
    assert [*table(RECORDS, "\n## Outcomes")] == [*OUTCOMES]
    assert [*table(RECORDS, "\n## Causes")] == [*CAUSES]
    outcomes = RECORDS.partition("\n## Outcomes")[2]
    excluded = re.findall(r"^\| `(\w+)` \| .* \| (\w+) \|$", outcomes, re.MULTILINE)
    apart = {name: outcome.apart for name, outcome in OUTCOMES.items()}
    assert dict(excluded) == {name: reason for name, reason in apart.items() if reason}


def test_the_page_of_environments_has_every_key_and_what_is_required() -> None:
    page = (EXTEND / "environment.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| (yes|no) \|", page.partition("## The YAML file")[2], re.M
    )
    expected = {"_target_": "yes"}
    for name, field in BaseEnvironment.model_fields.items():
        expected[field.alias or name] = "yes" if field.is_required() else "no"
    assert dict(rows) == expected


def test_the_page_of_methods_has_every_attribute_and_only_calls_that_there_are() -> (
    None
):
    page = (EXTEND / "method.md").read_text(encoding="utf-8")
    for name in get_protocol_members(Method):
        assert f"| `{name}" in page
    source = inspect.getsource(Episode) + inspect.getsource(GameRunner)
    named = re.findall(r"`episode\.(\w+)", page)
    assert len(named) > 10
    for name in named:
        assert re.search(rf"def {name}\(|self\.{name} ?[:=]", source), name


def test_the_page_of_prompts_has_every_key_and_filter() -> None:
    page = (EXTEND / "prompts.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([\w.]+)`", page))
    for name in Words.model_fields:
        assert any(key == name or key.startswith(f"{name}.") for key in told)
    prompts = ROOT / "pddlego_local/methods/prompts"
    for template in prompts.glob("*/*.jinja"):
        text = template.read_text(encoding="utf-8")
        for key in re.findall(r"\b(?:environment|examples)\.([a-z_.]+[a-z])", text):
            assert key in told or key == "yaml", f"{template}: {key}"
    for name in FILTERS:
        assert f"| `{name}` |" in page

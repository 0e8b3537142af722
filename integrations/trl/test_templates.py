"""What the configurations of models say about thinking, tried on the models' own
templates.

TRL carries the chat templates of many models as their makers publish them.
"""

import functools
import importlib.util
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from transformers.utils.chat_template_utils import render_jinja_template

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.thinking import Thinking, read_thinking
from pddlego_local.runner.config import compose_cell

ASKED = [{"role": "user", "content": "?"}]


class Case(NamedTuple):
    """A model, the file with its template, and whether it thinks if nothing is said."""

    model: str
    template: str
    thinks: bool


CASES = [
    Case("qwen38_27b", "qwen3_8", True),
    Case("qwen36_35b_a3b", "qwen3_6", True),
    Case("qwen35_9b", "qwen3_5_think", True),
    Case("qwen35_4b", "qwen3_5_think", True),
    Case("qwen35_2b", "qwen3_5_nothink", False),
    Case("gemma4_e4b", "gemma4_v5", False),
    Case("nemotron3_nano_4b", "nemotron_3_nano", True),
    Case("qwen3_8b", "qwen3", True),
    Case("r1_distill_qwen_7b", "deepseek_r1_distill", True),
    Case("r1_distill_llama_8b", "deepseek_r1_distill", True),
    Case("qwen3_4b_2507", "qwen3_instruct_2507", False),
    Case("qwen25_7b", "qwen2_5", False),
    Case("llama31_8b", "llama3_1", False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_a_model_thinks_as_its_configuration_says(case: Case) -> None:
    thinking = compose_cell([f"model={case.model}"]).tree["model"]["thinking"]
    by_default = prompt(case)
    if not isinstance(thinking, dict):  # it does not think, or that is detected
        assert not case.thinks
        assert "think" not in by_default
    elif thinking["switch"] is None:
        assert case.thinks
        assert by_default.rstrip().endswith(thinking["start"])
    else:
        switch = thinking["switch"]
        on, off = (prompt(case, arguments={switch: value}) for value in (True, False))
        assert on != off
        assert by_default == (on if case.thinks else off)
        assert not off.rstrip().endswith(thinking["start"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_auto_reads_the_same_from_the_template(case: Case) -> None:
    configured = compose_cell([f"model={case.model}"]).tree["model"]["thinking"]
    others = ("qwen2_5", "llama3_1", "gemma4_v5")  # whose <think> is no token

    def read() -> Thinking | None:
        return read_thinking(
            functools.partial(prompt, case),
            lambda marker: case.template not in others,
            case.model,
        )

    if case.template == "gemma4_v5":
        with pytest.raises(ConfigError, match=r"thinking=auto: .* knows thoughts"):
            read()
    elif isinstance(configured, dict):
        found = read()
        assert found
        markers = configured["start"], configured["end"], configured["switch"]
        assert markers == (found.start, found.end, found.switch)
    else:
        assert read() is None


def prompt(
    case: Case,
    messages: list[dict[str, str]] | None = None,
    arguments: dict[str, Any] | None = None,
) -> str:
    """Renders messages, or one question, with the template of a model."""
    package = importlib.util.find_spec("trl")
    assert package and package.origin
    file = Path(package.origin).parent / "chat_templates" / f"{case.template}.jinja"
    render: Any = render_jinja_template
    rendered, _ = render(
        [messages or ASKED],
        chat_template=file.read_text(encoding="utf-8"),
        add_generation_prompt=True,
        bos_token="",
        **(arguments or {}),
    )
    return str(rendered[0])

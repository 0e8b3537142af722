"""Real tokenizers and chat templates in process: the whole line, on each of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.models.transformers import TransformersModel
from pddlego_local.runner.config import compose_cell
from tests.models.asking import CPU
from tests.models.families import FAMILIES, MAY_ANSWER_AT_ONCE, make_family
from tests.models.whole_line import CHECKS, Line

# Alike to others here; and Mistral's vocabulary comes with vLLM.
BY_HAND = ("olmo3_instruct", "qwen3_moe", "mistral")


@pytest.fixture(scope="module", params=[name for name in MAY_ANSWER_AT_ONCE if name not in BY_HAND])
def line(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Line]:
    from transformers import AutoTokenizer

    name = request.param
    folder = make_family(tmp_path_factory.mktemp("families") / name, name)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    thinking = FAMILIES[name].thinking
    model = TransformersModel(weights=str(folder), thinking=thinking, engine=CPU)
    yield Line(model, tokenizer, thinking, limit=16)
    model.close()


@pytest.mark.parametrize("check", CHECKS)
def test_the_whole_line(line: Line, check: str) -> None:
    CHECKS[check](line)


def test_mistrals_config_is_served_as_its_family_is_tried() -> None:
    config = compose_cell(["model=mistral_small_24b"]).tree["model"]
    assert tuple(config["server"]["extra_arguments"]) == FAMILIES["mistral"].arguments

"""Real tokenizers and chat templates in process: the whole line, on each of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.models.transformers import TransformersModel
from tests.models.asking import CPU
from tests.models.families import FAMILIES, MAY_ANSWER_AT_ONCE, make_family
from tests.models.whole_line import CHECKS, Line


@pytest.fixture(scope="module", params=MAY_ANSWER_AT_ONCE)
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

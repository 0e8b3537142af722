"""Models whose tokenizers have added tokens that spell PDDL: nothing is taken for an
answer that was cut by one.
"""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from transformers import AddedToken, AutoModelForCausalLM, AutoTokenizer

from pddlego_local.api.sample import Sample, first_question, sampler
from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Drawn
from pddlego_local.episode.drawing import draw_one
from pddlego_local.models.weights import locate
from pddlego_local.runner.config import CellConfig, compose_cell
from tests.decoding.on_rung import constraint_for


@pytest.fixture(scope="module")
def special(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nano with added tokens; "location" is in its vocabulary as well."""
    folder = tmp_path_factory.mktemp("models") / "special"
    tokenizer: Any = AutoTokenizer.from_pretrained(locate("nano"))
    model: Any = AutoModelForCausalLM.from_pretrained(locate("nano"))
    words = ("(:goal", "location", "<tool>")
    tokens = [AddedToken(word, special=True) for word in words]
    tokenizer.add_tokens(tokens, special_tokens=True)
    entries = max(len(tokenizer), model.config.vocab_size)
    model.resize_token_embeddings(entries)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def cell(weights: object, rung: str) -> CellConfig:
    model = ["model=transformers", f"model.weights={weights}", "model.dtype=float32"]
    game = ["method.variant=compact", "environment.rooms=5", "games=7"]
    drawing = [f"decoding={rung}", "decoding.max_tokens=700", "decoding.temperature=0"]
    return compose_cell([*model, *game, *drawing, "model.engine.device=cpu"])


def answer(weights: object, rung: str) -> Sample:
    config = cell(weights, rung)
    return sampler(config, config.build("model"), first_question(config))(0)


@pytest.mark.parametrize("rung", ["typed", "syntax", "signatures", "grounded"])
def test_where_the_engine_fails_there_is_no_answer(special: Path, rung: str) -> None:
    """llguidance stops where forced text meets a special token."""
    with pytest.raises(ModelFault):  # GrammarIgnored is one
        answer(special, rung)


class Ending:
    """Draws the stages of an answer that is known; in one of them it ends too early, or
    goes on behind the end, and says that this is the end.
    """

    decodes = True

    def __init__(self, texts: list[str], stage: int, cut: int) -> None:
        self._texts, self._stage, self._cut, self._number = texts, stage, cut, 0

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix,
    ) -> Completion:
        text = self._texts[self._number].removeprefix(prefix.forced_prefix)
        if self._number == self._stage:
            text = text[: self._cut] if self._cut < len(text) else f"{text} )"
        self._number += 1
        grown = dataclasses.replace(
            prefix, text=prefix.continued + text, rollback_chars=0, forced_prefix=""
        )
        return Completion(text, "stop", 10, 5, 0.1, prefix=grown)


def test_a_stop_that_is_no_stages_end_is_never_taken_for_one() -> None:
    config = cell("nano", "typed")
    question, decoding = first_question(config), config.build("decoding")
    constraint = constraint_for("typed", PDDL, question.context, decoding.layout)
    sampling = decoding.sampling(1)

    def drawn(backend: Any) -> Drawn:
        return draw_one(backend, question.messages, constraint, sampling, {})

    texts = [stage.text for stage in drawn(config.build("model")).stages]
    assert drawn(Ending(texts, -1, 0)).completion.text.endswith("}")
    for stage, text in enumerate(texts):
        for cut in range(0, len(text) + 1, max(1, len(text) // 12)):
            with pytest.raises((ModelFault, GrammarIgnored)):
                drawn(Ending(texts, stage, cut))

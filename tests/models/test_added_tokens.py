"""Models whose tokenizers have added tokens that spell PDDL: they answer as they would without."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AddedToken, AutoModelForCausalLM, AutoTokenizer

from pddlego_local.commands.sample import Sample, first_question, sampler
from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Drawn
from pddlego_local.episode.one_answer import draw_one
from pddlego_local.models import added_tokens, loading
from pddlego_local.models.added_tokens import ordinary_tokenizer, spelling
from pddlego_local.models.seam import LocalTokenizer
from pddlego_local.models.vllm.tokenizer import PROBE
from pddlego_local.models.weights import in_the_box, locate
from pddlego_local.runner.config import CellConfig, compose_cell

SPECIAL, STRIPS = "special", "strips"
TEXT = "(define (problem p) (:goal (at ?x - location ?y)))"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """nano with added tokens; "location" is in its vocabulary as well."""
    made = {}
    settings: dict[str, tuple[list[str], dict[str, Any]]] = {
        SPECIAL: (["(:goal", "location", "<tool>"], {"special": True}),
        STRIPS: (["location", " - "], {"lstrip": True, "rstrip": True}),
    }
    for name, (texts, kind) in settings.items():
        tokenizer: Any = AutoTokenizer.from_pretrained(locate("nano"))
        model: Any = AutoModelForCausalLM.from_pretrained(locate("nano"))
        tokens = [AddedToken(text, **kind) for text in texts]
        tokenizer.add_tokens(tokens, special_tokens=name == SPECIAL)
        model.resize_token_embeddings(max(len(tokenizer), model.config.vocab_size))
        made[name] = tmp_path_factory.mktemp("models") / name
        tokenizer.save_pretrained(made[name])
        model.save_pretrained(made[name])
    return made


def cell(weights: object, rung: str) -> CellConfig:
    model = ["model=transformers", f"model.weights={weights}", "model.dtype=float32"]
    game = ["method.variant=compact", "environment.rooms=5", "games=7"]
    drawing = [f"decoding={rung}", "decoding.max_tokens=700", "decoding.temperature=0"]
    return compose_cell([*model, *game, *drawing, "model.engine.device=cpu"])


def answer(weights: object, rung: str) -> Sample:
    config = cell(weights, rung)
    return sampler(config, config.build("model"), first_question(config))(0)


@pytest.mark.parametrize("rung", ["typed", "syntax", "json", "signatures", "grounded"])
def test_it_answers_as_without_them_and_they_are_named(
    folders: dict[str, Path], rung: str, caplog: pytest.LogCaptureFixture
) -> None:
    plain = answer("nano", rung)
    assert plain.fault == "" and not caplog.text
    for name, folder in folders.items():
        caplog.clear()
        given = answer(folder, rung)
        assert (given.domain, given.problem, given.fault) == (plain.domain, plain.problem, "")
        assert "'location'" in caplog.text and ("'(:goal'" in caplog.text) == (name == SPECIAL)
        assert "'<tool>'" not in caplog.text


def test_a_servers_tokenizer_is_given_to_it_without_them(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        own = LocalTokenizer.of("maker/model", folder)
        served = ordinary_tokenizer(folder)
        assert own and served and own.decode(own.encode(PROBE)) == PROBE
        for tokenizer in (AutoTokenizer.from_pretrained(served), loading.load_tokenizer(folder)):
            tokens: list[int] = tokenizer.encode(TEXT, add_special_tokens=False)
            assert tuple(tokens) == own.encode(TEXT)
            assert tokenizer.decode(tokens, skip_special_tokens=True) == TEXT
    served = ordinary_tokenizer(folders[SPECIAL])
    assert served
    before: Any = AutoTokenizer.from_pretrained(folders[SPECIAL])
    after: Any = AutoTokenizer.from_pretrained(served)
    assert len(before) == len(after)
    for control in ("<tool>", "<|end|>", "<|user|>"):
        assert before.convert_tokens_to_ids(control) == after.convert_tokens_to_ids(control)
    for name in in_the_box():
        assert ordinary_tokenizer(locate(name)) is None


@pytest.mark.parametrize(
    ("content", "kind", "spells"),
    [
        ("(:goal", {"special": True}, True),
        (" and ", {"lstrip": True}, True),
        ("))", {"rstrip": True}, True),
        ('","', {"special": True}, True),
        ("<=", {"special": True}, True),
        ("(:goal", {}, False),  # read and written as any other token
        ("<|im_end|>", {"special": True}, False),
        ("</s>", {"special": True, "rstrip": True}, False),
        ("[INST]", {"special": True}, False),
        ("<\uff5cend of sentence\uff5c>", {"special": True}, False),
        ("◁think▷", {"special": True}, False),
        ("<mask>", {"special": True, "lstrip": True}, False),
        ("END", {"special": True}, False),  # the one that ends an answer
    ],
)  # fmt: skip
def test_which_added_tokens_spell_text(
    tmp_path: Path, content: str, kind: dict[str, bool], spells: bool
) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": {"content": "END"}}))
    token = {"content": content, "special": False, "lstrip": False, "rstrip": False, **kind}
    assert spelling(json.dumps({"added_tokens": [token]}), tmp_path) == [content] * spells


@pytest.mark.parametrize("rung", ["typed", "syntax", "signatures", "grounded"])
def test_where_the_engine_fails_there_is_no_answer(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, rung: str
) -> None:
    """With the tokens as they were, llguidance stops where forced text meets one."""
    monkeypatch.setattr(added_tokens, "spelling", lambda tokenizer, folder: [])
    with pytest.raises(ModelFault):  # GrammarIgnored is one
        answer(folders[SPECIAL], rung)


class Ending:
    """Draws the stages of an answer that is known; in one of them it ends too early, or goes on
    behind the end, and says that this is the end."""

    decodes = True

    def __init__(self, texts: list[str], stage: int, cut: int) -> None:
        self._texts, self._stage, self._cut, self._number = texts, stage, cut, 0

    def complete(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, prefix: Prefix
    ) -> Completion:
        text = self._texts[self._number].removeprefix(prefix.head)
        if self._number == self._stage:
            text = text[: self._cut] if self._cut < len(text) else f"{text} )"
        self._number += 1
        grown = dataclasses.replace(prefix, text=prefix.continued + text, drop=0, head="")
        return Completion(text, "stop", 10, 5, 0.1, prefix=grown)


def test_a_stop_that_is_no_stages_end_is_never_taken_for_one() -> None:
    config = cell("nano", "typed")
    question, decoding = first_question(config), config.build("decoding")
    model = config.build("model")
    constraint = constraint_for("typed", PDDL, question.scene, decoding.layout)

    def drawn(backend: Any) -> Drawn:
        return draw_one(backend, question.messages, constraint, decoding.sampling(1), {})

    texts = [stage.text for stage in drawn(model).stages]
    assert drawn(Ending(texts, -1, 0)).completion.text.endswith("}")
    for stage, text in enumerate(texts):
        for cut in range(0, len(text) + 1, max(1, len(text) // 12)):
            with pytest.raises((ModelFault, GrammarIgnored)):
                drawn(Ending(texts, stage, cut))

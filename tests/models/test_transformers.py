"""The in-process backend on a real (random) model: grammars, seeds, thoughts, limits,
bad input.
"""

import shutil
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError, GrammarFault, MissingPart
from pddlego_local.core.nouns import Grammar, Message, Sampling
from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.transformers import Engine, TransformersModel
from tests.models.asking import (
    BAD_GRAMMARS,
    CPU,
    FORMS,
    PROMPT,
    TOY,
    TOY_LANGUAGE,
    assert_grammars_are_obeyed,
    finished,
)
from tests.processes import ran


@pytest.mark.parametrize("seed", range(4))
def test_grammars_are_obeyed(model: TransformersModel, seed: int) -> None:
    assert_grammars_are_obeyed(model, seed)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_is_drawn_as_it_is_read(
    model: TransformersModel, form: Form[Fields]
) -> None:
    assert any(finished(model, form, seed) for seed in range(3))


def test_a_grammar_cut_by_the_limit_is_length(model: TransformersModel) -> None:
    completion = model.complete(PROMPT, TOY, Sampling(max_tokens=1))
    assert (completion.finish_reason, completion.text) == ("length", "(")


@pytest.mark.parametrize(
    ("thinking", "wanted", "message"),
    [
        (None, True, "not configured as a reasoning model"),
        (Thinking(switch=None), False, "always thinks"),
        (Thinking(end="</thought>"), True, "not one token"),
    ],
)
def test_impossible_thinking_is_refused(
    random_llama: Path, thinking: Thinking | None, wanted: bool, message: str
) -> None:
    model = TransformersModel(weights=str(random_llama), thinking=thinking, engine=CPU)
    with pytest.raises(ConfigError, match=message):
        model.complete(PROMPT, TOY, Sampling(max_tokens=5, thinking=wanted))


@pytest.mark.parametrize("grammar", BAD_GRAMMARS, ids=lambda grammar: str(grammar.name))
def test_a_bad_grammar_is_named(model: TransformersModel, grammar: Grammar) -> None:
    with pytest.raises(GrammarFault, match=grammar.name):
        model.complete(PROMPT, grammar, Sampling(max_tokens=5))


def test_the_context_bounds_prompt_and_answer(random_llama: Path) -> None:
    model = TransformersModel(weights=str(random_llama), context_tokens=64, engine=CPU)
    completion = model.complete(PROMPT, None, Sampling(max_tokens=4000, seed=1))
    assert completion.finish_reason == "length"
    assert completion.prompt_tokens + completion.completion_tokens == 64
    long = (Message("user", "the kitchen " * 100),)
    with pytest.raises(ConfigError, match=r"raise model\.context_tokens"):
        model.complete(long, TOY, Sampling(max_tokens=10))


def test_no_chat_template_means_plain_concatenation(
    random_llama: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(random_llama, tmp_path / "base")
    (folder / "chat_template.jinja").unlink()
    model = TransformersModel(weights=str(folder), engine=CPU, thinking=None)
    assert TOY_LANGUAGE.fullmatch(
        model.complete(PROMPT, TOY, Sampling(max_tokens=100)).text
    )


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (
            "Qwen/Qwen3-8B-not-here",
            MissingPart,
            "`make fetch MODEL=Qwen/Qwen3-8B-not-here`",
        ),
        ("/nowhere/model", ConfigError, "no folder /nowhere/model"),
        ("a/b/c", ConfigError, "no folder"),
        ("spaces in it", ConfigError, "not a Hugging Face name"),
    ],
)
def test_absent_weights_are_named_with_the_remedy(
    weights: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        TransformersModel(weights=weights, engine=CPU).preflight()


def test_cuda_without_a_gpu_is_a_missing_part(
    random_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")  # no nvidia-smi
    with pytest.raises(MissingPart, match=r"model\.engine\.device=cpu"):
        TransformersModel(
            weights=str(random_llama), engine=Engine(device="cuda")
        ).preflight()


def test_the_same_seed_makes_the_same_files_and_another_does_not(
    random_llama: Path, tmp_path: Path
) -> None:
    def identity(folder: Path) -> dict[str, str]:
        named = TransformersModel(weights=str(folder), engine=CPU).identity()
        return {key: value for key, value in named.items() if key != "weights"}

    again = make_random_llama(tmp_path / "again", seed=7)
    other = make_random_llama(tmp_path / "other", seed=8)
    assert identity(again) == identity(random_llama) != identity(other)


_NO_NETWORK = """
import socket, sys
def refuse(self, address):
    print("reached for", address, flush=True)
    raise OSError("no network")
def refuse_name(*arguments, **settings):
    refuse(None, arguments)
socket.socket.connect, socket.getaddrinfo = refuse, refuse_name
from pddlego_local.core.nouns import *
from pddlego_local.models.transformers import *
model = TransformersModel(weights=sys.argv[1], engine=Engine(device="cpu", threads=1))
prompt = (Message("user", "?"),)
grammar = Grammar("g", "lark", 'start: "yes"')
print(model.complete(prompt, grammar, Sampling(max_tokens=9)).text)
"""


def test_nothing_reaches_for_a_hub(random_llama: Path) -> None:
    done = ran("-c", _NO_NETWORK, random_llama)
    assert done.stdout == "yes\n", done.stderr

"""A server's tokenizer is the model's own, or the server is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.seam import LocalTokenizer
from pddlego_local.models.vllm.tokenizer import PROBE, check_tokenizer, read_as_it_is


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return make_random_llama(tmp_path / "llama", seed=1)


def class_of(folder: Path, name: str) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tokenizer_class": name}))


class Server:
    """Answers as a server whose tokenizer is replaced by `changed` texts and tokens."""

    def __init__(self, own: LocalTokenizer, read: str = PROBE, written: str | None = None) -> None:
        self._own, self._read, self._written = own, read, written

    def encode(self, text: str) -> tuple[int, ...]:
        return self._own.encode(self._read)

    def decode(self, tokens: tuple[int, ...]) -> str:
        return self._own.decode(tokens) if self._written is None else self._written


def own_of(folder: Path) -> LocalTokenizer:
    own = LocalTokenizer.of("maker/model", folder)
    assert own
    return own


def test_the_probe_comes_back_as_it_was(llama: Path) -> None:
    own = own_of(llama)
    assert own.decode(own.encode(PROBE)) == PROBE


def test_a_server_that_loses_blanks_is_refused_in_a_sentence(llama: Path) -> None:
    own = own_of(llama)
    check_tokenizer(Server(own), own)  # type: ignore[arg-type]
    without = PROBE.replace(" ", "")
    for server, verb in (
        (Server(own, read=without), "reads"),
        (Server(own, written=without), "writes"),
    ):
        with pytest.raises(ConfigError, match=f"vLLM {verb} text otherwise than .* of maker/model"):
            check_tokenizer(server, own)  # type: ignore[arg-type]


def test_only_a_class_that_would_be_replaced_is_named_otherwise(llama: Path) -> None:
    assert read_as_it_is(llama) is None
    class_of(llama, "LlamaTokenizerFast")
    folder = read_as_it_is(llama)
    assert folder and folder == read_as_it_is(llama) != llama
    assert json.loads((llama / "tokenizer_config.json").read_text())["tokenizer_class"] == (
        "LlamaTokenizerFast"
    )
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    assert type(tokenizer).__name__ != "LlamaTokenizerFast"
    assert tuple(tokenizer.encode(PROBE, add_special_tokens=False)) == own_of(llama).encode(PROBE)
    messages = [{"role": "user", "content": "?"}]
    assert tokenizer.apply_chat_template(messages, tokenize=False)

"""A server's tokenizer is the model's own, or the server is refused."""

import contextlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.models.vllm.tokenizer import PROBE
from tests.models.hostile_server import hostile_server
from tests.models.test_vllm_settings import LAUNCH, serving_environment


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return make_random_llama(tmp_path / "llama", seed=1)


def class_of(folder: Path, name: str) -> None:
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = name
    path.write_text(json.dumps(settings), encoding="utf-8")


def given_to_vllm(model: str, *words: str) -> str | None:
    """The folder whose tokenizer the launcher names."""
    options = LAUNCH.parse([model, "--device", "cuda", *words])
    command: list[str] = LAUNCH.server_command(options)
    if "--tokenizer" not in command:
        return None
    return command[command.index("--tokenizer") + 1]


def test_only_a_class_that_would_be_replaced_is_named_otherwise(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert given_to_vllm(str(llama)) is None
    class_of(llama, "LlamaTokenizerFast")
    before = (llama / "tokenizer_config.json").read_bytes()
    folder = given_to_vllm(str(llama))
    assert folder and folder != str(llama)
    assert given_to_vllm(str(llama)) == folder
    cached = list((tmp_path / "cache/pddlego_local").iterdir())
    assert cached == [Path(folder)]
    assert (llama / "tokenizer_config.json").read_bytes() == before
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    own = LocalTokenizer.of("maker/model", llama)
    assert type(tokenizer).__name__ != "LlamaTokenizerFast"
    tokens = tokenizer.encode(PROBE, add_special_tokens=False)
    assert own and tuple(tokens) == own.encode(PROBE)
    messages = [{"role": "user", "content": "?"}]
    assert tokenizer.apply_chat_template(messages, tokenize=False)
    users = given_to_vllm(str(llama), "--", "--tokenizer", "/of/the/user")
    assert users == "/of/the/user"


@pytest.mark.parametrize(
    "words", [(), ("--", "--revision", "c0ffee"), ("--", "--revision=other")]
)
def test_a_name_in_the_local_cache_is_looked_up_as_vllm_does(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The container, and whoever runs the launcher by hand, give names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert given_to_vllm("maker/model", *words) is None
    class_of(llama, "LlamaTokenizer")
    cached = tmp_path / "hub/models--maker--model"
    (cached / "refs").mkdir(parents=True)
    (cached / "snapshots").mkdir()
    llama.rename(cached / "snapshots/c0ffee")
    for reference in ("main", "other"):
        (cached / "refs" / reference).write_text("c0ffee", encoding="utf-8")
    folder = given_to_vllm("maker/model", *words)
    assert folder and (Path(folder) / "tokenizer.json").is_file()


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b'{"tokenizer_class": null}']
)
def test_a_config_that_cannot_be_read_is_left_to_vllm(
    llama: Path, content: bytes
) -> None:
    (llama / "tokenizer_config.json").write_bytes(content)
    assert given_to_vllm(str(llama)) is None


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(
    llama: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    class_of(llama, "LlamaTokenizerFast")
    env = serving_environment(tmp_path, "vllm", "0.32.0")
    assert LAUNCH.main([str(llama), "--env", str(env)]) == 2
    assert "set XDG_CACHE_HOME to a writable folder" in capsys.readouterr().err


Reply = Callable[[str, Any], Any]


def spelling(
    read: Callable[[str], Sequence[int]], written: Callable[[list[int]], str]
) -> Reply:
    """What a server of the user's says at /tokenize and /detokenize."""

    def reply(path: str, asked: Any) -> Any:
        if path == "/tokenize":
            tokens = list(read(asked["prompt"]))
            return {"tokens": tokens, "count": len(tokens), "max_model_len": 4096}
        return {"prompt": written(asked["tokens"])}

    return reply


def letters(text: str) -> list[int]:
    return [ord(letter) for letter in text]


def text_of(tokens: Sequence[int]) -> str:
    return "".join(map(chr, tokens))


def without_blanks(text: str) -> str:
    return "".join(text.split())


RIGHT = spelling(letters, text_of)
READS_NO_BLANKS = spelling(lambda text: letters(without_blanks(text)), text_of)
WRITES_NO_BLANKS = spelling(letters, lambda tokens: without_blanks(text_of(tokens)))


def of_another_api(path: str, asked: Any) -> Any:
    return {"object": "another API"}  # SGLang, a gateway's page


@pytest.mark.parametrize("reply", [RIGHT, of_another_api, None])  # None: 404
def test_a_server_of_the_users_that_may_be_right_answers(reply: Reply | None) -> None:
    """Its weights are not on this machine: a text must come back as it was."""
    with hostile_server(spells=reply) as url:
        model = VllmModel(weights="maker/model", thinking=None, server=Server(url=url))
        with contextlib.closing(model):
            answer = model.complete((Message("user", "?"),), None, Sampling())
    assert answer.text == "fine"


@pytest.mark.parametrize("reply", [READS_NO_BLANKS, WRITES_NO_BLANKS])
def test_a_server_of_the_users_that_loses_blanks_is_refused(reply: Reply) -> None:
    told = r"writes text differently .* of maker/model.*launch\.py"
    with hostile_server(spells=reply) as url:
        model = VllmModel(weights="maker/model", thinking=None, server=Server(url=url))
        with contextlib.closing(model), pytest.raises(ConfigError, match=told):
            model.start()


@pytest.mark.parametrize(
    ("reads", "writes", "verb"),
    [
        (0, 0, ""),
        # A text comes back, and is spelled otherwise: another model is served.
        (1, -1, "reads"),
        (1, 0, "reads"),
        (0, 1, "writes"),
    ],
)
def test_a_server_of_the_users_is_held_against_weights_that_are_here(
    llama: Path, reads: int, writes: int, verb: str
) -> None:
    """Its numbers of tokens are others by so many."""
    own = LocalTokenizer.of("maker/model", llama)
    assert own

    def read(text: str) -> list[int]:
        return [token + reads for token in own.encode(text)]

    def written(tokens: list[int]) -> str:
        return own.decode([token + writes for token in tokens])

    refused: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
    if verb:
        told = f"vLLM {verb} text differently from"
        refused = pytest.raises(ConfigError, match=told)
    with hostile_server(spells=spelling(read, written)) as url:
        model = VllmModel(weights=str(llama), thinking=None, server=Server(url=url))
        with contextlib.closing(model), refused:
            model.start()

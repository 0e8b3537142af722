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
    path.write_text(
        json.dumps(
            {**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": name}
        ),
        encoding="utf-8",
    )


def given_to_vllm(*words: str) -> str | None:
    """The folder whose tokenizer the launcher names."""
    command = LAUNCH.server_command(
        LAUNCH.parse([*words[:1], "--device", "cuda", *words[1:]])
    )
    return (
        command[command.index("--tokenizer") + 1] if "--tokenizer" in command else None
    )


def test_only_a_class_that_would_be_replaced_is_named_otherwise(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert given_to_vllm(str(llama)) is None
    class_of(llama, "LlamaTokenizerFast")
    folder = given_to_vllm(str(llama))
    assert folder and folder == given_to_vllm(str(llama)) != str(llama)
    assert [path.name for path in (tmp_path / "cache/pddlego_local").iterdir()] == [
        Path(folder).name
    ]
    assert json.loads((llama / "tokenizer_config.json").read_text(encoding="utf-8"))[
        "tokenizer_class"
    ] == ("LlamaTokenizerFast")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    own = LocalTokenizer.of("maker/model", llama)
    assert type(tokenizer).__name__ != "LlamaTokenizerFast"
    assert own and tuple(
        tokenizer.encode(PROBE, add_special_tokens=False)
    ) == own.encode(PROBE)
    messages = [{"role": "user", "content": "?"}]
    assert tokenizer.apply_chat_template(messages, tokenize=False)
    users = given_to_vllm(str(llama), "--", "--tokenizer", "/of/the/user")
    assert users == "/of/the/user", "the user's stays"


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


def spelling(
    read: Callable[[str], Sequence[int]], written: Callable[[list[int]], str]
) -> Callable[[str, Any], Any]:
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


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (spelling(letters, text_of), ""),
        (
            spelling(lambda text: letters(without_blanks(text)), text_of),
            "writes text differently",
        ),
        (
            spelling(letters, lambda tokens: without_blanks(text_of(tokens))),
            "writes text differently",
        ),
        (lambda path, asked: {"object": "another API"}, ""),  # SGLang, a gateway's page
        (None, ""),  # 404
    ],
)
def test_a_server_of_the_users_is_probed_where_it_can_be(
    reply: Callable[[str, Any], Any] | None, said: str
) -> None:
    """Its weights are not on this machine: a text must come back as it was."""
    with hostile_server(spells=reply) as url:
        model = VllmModel(weights="maker/model", server=Server(url=url))
        if said:
            with pytest.raises(
                ConfigError, match=rf"{said} .* of maker/model.*launch\.py"
            ):
                model.start()
        else:
            assert (
                model.complete((Message("user", "?"),), None, Sampling()).text == "fine"
            )
        model.close()


@pytest.mark.parametrize(
    ("reads", "writes", "said"),
    [
        (0, 0, ""),
        (
            1,
            -1,
            "reads",
        ),  # a text comes back, and is spelled otherwise: another model is served
        (1, 0, "reads"),
        (0, 1, "writes"),
    ],
)
def test_a_server_of_the_users_is_held_against_weights_that_are_here(
    llama: Path, reads: int, writes: int, said: str
) -> None:
    """Its numbers of tokens are others by so many."""
    own = LocalTokenizer.of("maker/model", llama)
    assert own

    def read(text: str) -> list[int]:
        return [token + reads for token in own.encode(text)]

    def written(tokens: list[int]) -> str:
        return own.decode([token + writes for token in tokens])

    with hostile_server(spells=spelling(read, written)) as url:
        model = VllmModel(weights=str(llama), server=Server(url=url))
        with contextlib.closing(model):
            if not said:
                model.start()
            else:
                with pytest.raises(
                    ConfigError, match=f"vLLM {said} text differently from"
                ):
                    model.start()

"""What is a secret, and what only looks like one."""

import pytest

from pddlego_local.core.secrets import (
    hidden,
    hidden_in_text,
    hidden_in_word,
    is_secret_name,
    without_secrets,
)

SECRET_NAMES = (
    *(
        "api_key",
        "apiKey",
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "hf_token",
        "token",
        "password",
        "passwd",
    ),
    *(
        "secret",
        "client_secret",
        "AWS_SECRET_ACCESS_KEY",
        "access_key",
        "Authorization",
        "auth",
    ),
    *(
        "x-api-key",
        "X-Auth-Token",
        "cookie",
        "model.server.api_key",
        "--api-key",
        "GITHUB_PAT",
    ),
    *("private_key", "credentials"),
)
OTHER_NAMES = (
    *(
        "max_tokens",
        "tokens",
        "stage_tokens",
        "key",
        "keys",
        "keyboard",
        "stop_token",
        "eos_token",
    ),
    *(
        "unexpected_token",
        "monkey",
        "author",
        "authors",
        "context_tokens",
        "secretary",
        "passage",
    ),
    *("url", "env", "forced_tokens", "path", "pattern"),
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("model.server.api_key=s3cret", "model.server.api_key=<secret>"),
        (
            "model.server.api_key=s3cret: no sweep",
            "model.server.api_key=<secret> no sweep",
        ),
        (
            "model.server={url: x, api_key: s3cret}",
            "model.server={url: x, api_key: <secret>}",
        ),
        ('{"token": "s3cret", "n": 1}', '{"token": <secret>, "n": 1}'),
        ("HF_TOKEN=s3cret pddlego run", "HF_TOKEN=<secret> pddlego run"),
        ("serve [--api-key,s3cret,--port,1]", "serve [--api-key,<secret>,--port,1]"),
        ("serve --api-key s3cret --port 1", "serve --api-key <secret> --port 1"),
        ("serve --api-key=s3cret --port 1", "serve --api-key=<secret> --port 1"),
        (
            "http://user:p4ss@host:1/v1 is away",
            "http://user:<secret>@host:1/v1 is away",
        ),
        ("http://user:p@4ss@host/v1", "http://user:<secret>@host/v1"),
        ("https://s3cret@host/v1", "https://<secret>@host/v1"),
        ("https://host/v1?api_key=s3cret&n=1", "https://host/v1?api_key=<secret>&n=1"),
        ("https://host/v1?key=s3cret", "https://host/v1?key=<secret>"),
        ("Authorization: Bearer abc.def", "Authorization: <secret> abc.def"),
        ("sent Bearer abcd.efgh", "sent Bearer <secret>"),
        ("Incorrect key: sk-abcdefghijklmnopqrstuv", "Incorrect key: <secret>"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "<secret>"),
    ],
)
def test_texts_with_secrets(text: str, shown: str) -> None:
    assert hidden_in_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "model.server.api_key=none",
        "model.server.api_key=${oc.env:MY_KEY}",
        "set model.server.api_key.",
        "decoding.max_tokens=2000",
        "unexpected token: ')' in line 3",
        "http://127.0.0.1:8000/v1",
        "https://host/a@b",
        "the password is on the note",
        "token: the next word",
        "environment.rooms=5",
    ],
)
def test_texts_without_secrets(text: str) -> None:
    assert hidden_in_text(text) == text


def test_a_word_of_a_command_is_one_value() -> None:
    assert (
        hidden_in_word("+model.server.api_key=a b, 'c'")
        == "+model.server.api_key=<secret>"
    )
    assert hidden_in_word("model.server.api_key='${oc.env:KEY}'").endswith(
        "='${oc.env:KEY}'"
    )


def test_known_secrets_are_whole_words() -> None:
    assert hidden_in_text("key abcd, abcde", ["abcd"]) == "key <secret>, abcde"


def test_trees() -> None:
    server = {
        "api_key": "s3cret",
        "url": "http://u:p4ss@h/v1",
        "max_tokens": 5,
        "name": None,
    }
    tree = {
        "server": server,
        "more": ["--hf-token", "s3cret"],
        "headers": {"Cookie": ["a", "b"]},
    }
    shown = {**server, "api_key": "<secret>", "url": "http://u:<secret>@h/v1"}
    assert hidden(tree) == {
        "server": shown,
        "more": ["--hf-token", "<secret>"],
        "headers": {"Cookie": ["<secret>", "<secret>"]},
    }
    assert hidden({"api_key": "none", "token": None, "password": True}) == {
        "api_key": "none",
        "token": None,
        "password": True,
    }
    assert without_secrets(server) == {
        "url": "http://h/v1",
        "max_tokens": 5,
        "name": None,
    }

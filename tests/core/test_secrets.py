"""What is a secret, and what only looks like one."""

import pytest

from pddlego_local.core.secrets import (
    hidden,
    hidden_in_text,
    hidden_in_word,
    is_secret_name,
    without_secrets,
)
from tests.tables import table

CASES = table(__file__)

SECRET_NAMES = CASES["secret_names"]
OTHER_NAMES = CASES["other_names"]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    CASES["texts_with_secrets"],
)
def test_texts_with_secrets(text: str, shown: str) -> None:
    assert hidden_in_text(text) == shown


@pytest.mark.parametrize(
    "text",
    CASES["texts_without_secrets"],
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
